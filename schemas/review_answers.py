"""What a person answers who is asked about schema candidates, in whatever form: words, JSON, decisions in short."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from .delta import Candidate, Verdict
from .naming import label_key
from .review import Review, ReviewError, read_review

_ALL = {"accept": "accept", "accept all": "accept", "all": "accept", "yes": "accept", "true": "accept",
        "接受": "accept", "全部接受": "accept",
        "reject": "reject", "reject all": "reject", "no": "reject", "false": "reject", "拒绝": "reject",
        "全部拒绝": "reject", "wait": None, "later": None, "skip": None, "稍后": None}
"""One word for all candidates; None leaves them waiting."""
_VERDICTS: dict[str, str] = {**{verdict: verdict for verdict in get_args(Verdict)}, "接受": "accept", "拒绝": "reject",
             "改名": "rename", "合并": "merge"}
_VERDICT = "|".join(_VERDICTS)
_PARTS = re.compile(r"\s*[,;\n，；、]\s*")
_VERDICT_FIRST = re.compile(rf"({_VERDICT})\s*[: ]?\s*(.+?)(?:\s+(?:to|as|into|->|→)\s+(.+))?", re.IGNORECASE)
_NAME_FIRST = re.compile(rf"(.+?)\s*[:= ]\s*({_VERDICT})(?:\s+(?:to\s+|as\s+|into\s+)?(.+))?", re.IGNORECASE)
_REVIEW = {"decisions", "all", "who"}


def read_answer(said: object, candidates: Sequence[Candidate]) -> Review:
    """The review that an answer means.

    Args:
        said: `Review` data; a list of decisions; `{name or number: verdict}`; `accept` or `reject` for all; or
            `accept 1, reject born_in, rename 3 to won_against`; each also as JSON text. Decisions may leave the kind
            out, and name a candidate by its number.
        candidates: those that were shown, numbered from 1.

    Raises:
        ReviewError: it means nothing, or more than one thing; says what, and how to say it.
    """
    if isinstance(said, str):
        said = _unpacked(said)
    if isinstance(said, bool):
        said = "accept" if said else "reject"
    if isinstance(said, str):
        return _words(said, candidates)
    if isinstance(said, Mapping) and not _REVIEW & said.keys():
        said = {"decisions": said}
    if isinstance(said, list):
        said = {"decisions": said}
    if not isinstance(said, Mapping):
        raise ReviewError(f"the answer is {_short(said)}: {HOW}")
    return read_review({**said, "decisions": list(_decisions(said.get("decisions") or [], candidates))})


HOW = ("answer 'accept' or 'reject' for all, or one by one by number or name, such as 'accept 1, reject 2, rename 3 to "
       "won_against'; what is left out keeps waiting")


def _unpacked(said: str) -> Any:
    """What a JSON text holds, or the text."""
    try:
        return json.loads(said)
    except ValueError:
        return said.strip()
    except RecursionError as error:
        raise ReviewError(f"the answer is nested too deeply: {HOW}") from error


def _words(said: str, candidates: Sequence[Candidate]) -> Review:
    plain = said.strip(" .!。！").casefold()
    if plain in _ALL:
        return Review.model_validate({"all": _ALL[plain]})
    return read_review({"decisions": [_decision_in_words(part, candidates) for part in _PARTS.split(said) if part]
                        or _nothing()})


def _nothing() -> list[Any]:
    raise ReviewError(f"the answer is empty: {HOW}")


def _decision_in_words(said: str, candidates: Sequence[Candidate]) -> dict[str, Any]:
    if found := _VERDICT_FIRST.fullmatch(said):
        verdict, name, new = found.groups()
    elif found := _NAME_FIRST.fullmatch(said):
        name, verdict, new = found.groups()
    else:
        raise ReviewError(f"{_short(said)} cannot be read: {HOW}")
    return _decision(name, f"{verdict} {new or ''}", candidates)


def _decisions(said: object, candidates: Sequence[Candidate]) -> Iterable[dict[str, Any]]:
    """The decisions with their kind and name, from a list of them or a mapping by number or name."""
    if isinstance(said, Mapping):
        yield from (_decision(str(name), verdict, candidates) for name, verdict in said.items())
        return
    if not isinstance(said, list | tuple):
        raise ReviewError(f"`decisions` is {_short(said)}: make it a list")
    for one in said:
        if isinstance(one, str):
            yield _decision_in_words(one, candidates)
        elif not isinstance(one, Mapping):
            raise ReviewError(f"{_short(one)} is no decision: {HOW}")
        elif {"kind", "name"} <= one.keys():
            yield {**one, "verdict": _verdict(one.get("verdict"))}
        else:
            name = one.get("name", one.get("number", one.get("candidate")))
            rest = {key: value for key, value in one.items() if key not in {"name", "number", "candidate"}}
            yield _decision(str(name), rest, candidates, kind=one.get("kind"))


def _decision(name: str, said: object, candidates: Sequence[Candidate], kind: object = None) -> dict[str, Any]:
    """A decision on a candidate: a verdict in words, or the fields of a `Decision`."""
    candidate = _candidate(name, candidates, kind)
    fields = {"kind": candidate.kind, "name": candidate.name}
    if isinstance(said, Mapping):
        return {**said, **fields, "verdict": _verdict(said.get("verdict"))}
    verdict, _, new = str(said).strip().partition(" ")
    verdict, new = _verdict(verdict), re.sub(r"^(?:to|as|into)\s+", "", new.strip())
    return {**fields, "verdict": verdict, **({"into": new} if verdict == "merge" else {"new_name": new})}


def _verdict(said: object) -> str:
    found = _VERDICTS.get(str(said).strip().casefold())
    if found is None:
        raise ReviewError(f"{_short(said)} is no verdict: use one of {', '.join(get_args(Verdict))}")
    return found


def _candidate(said: str, candidates: Sequence[Candidate], kind: object = None) -> Candidate:
    said = said.strip().strip("'\"`#")
    if said.isdecimal() and 1 <= int(said) <= len(candidates):
        return candidates[int(said) - 1]
    of_kind = [one for one in candidates if kind in (None, one.kind)]
    found = [one for one in of_kind if label_key(said) in {label_key(label) for label in (one.name, *one.labels)}]
    if len(found) != 1:
        shown = ", ".join(f"{number} ({one.name})" for number, one in enumerate(candidates, 1))
        several = "stands for several candidates" if found else "is no candidate"
        raise ReviewError(f"{_short(said)} {several}: use a number; there are {shown}")
    return found[0]


def _short(said: object) -> str:
    shown = repr(said)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."  # noqa: PLR2004
