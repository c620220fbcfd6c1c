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
_PARTS = re.compile("[,;\n，；、]")
_VERDICT_FIRST = re.compile(rf"({_VERDICT})\s*+:?\s*+", re.IGNORECASE)
_NEW_NAME = re.compile(r"(?<!\s)\s++(?:to|as|into|->|→)\s++", re.IGNORECASE)
_NAME_FIRST = re.compile(rf"(?:(?<!\s)\s++[:=]?|[:=])\s*+({_VERDICT})(?:\s++(?:(?:to|as|into)\s++)?|\Z)",
                         re.IGNORECASE)
_REVIEW = {"decisions", "all", "who"}


def read_answer(reply: object, candidates: Sequence[Candidate]) -> Review:
    """The review that an answer means.

    Args:
        reply: `Review` data; a list of decisions; `{name or number: verdict}`; `accept` or `reject` for all; or
            `accept 1, reject born_in, rename 3 to won_against`; each also as JSON text. Decisions may leave the kind
            out, and name a candidate by its number.
        candidates: those that were shown, numbered from 1.

    Raises:
        ReviewError: it means nothing, or more than one thing; says what, and how to say it.
    """
    if isinstance(reply, str):
        reply = _unpacked(reply)
    if isinstance(reply, bool):
        reply = "accept" if reply else "reject"
    if isinstance(reply, str):
        return _words(reply, candidates)
    if isinstance(reply, Mapping) and not _REVIEW & reply.keys():
        reply = {"decisions": reply}
    if isinstance(reply, list):
        reply = {"decisions": reply}
    if not isinstance(reply, Mapping):
        raise ReviewError(f"the answer is {_short(reply)}: {HOW}")
    return read_review({**reply, "decisions": list(_decisions(reply.get("decisions") or [], candidates))})


HOW = ("answer 'accept' or 'reject' for all, or one by one by number or name, such as 'accept 1, reject 2, rename 3 to "
       "won_against'; what is left out keeps waiting")


def _unpacked(reply: str) -> Any:
    """What a JSON text holds, or the text."""
    try:
        return json.loads(reply)
    except ValueError:
        return reply.strip()
    except RecursionError as error:
        raise ReviewError(f"the answer is nested too deeply: {HOW}") from error


def _words(reply: str, candidates: Sequence[Candidate]) -> Review:
    plain = reply.strip(" .!。！").casefold()
    if plain in _ALL:
        return Review.model_validate({"all": _ALL[plain]})
    parts = [part for part in _PARTS.split(reply) if part.strip()]
    return read_review({"decisions": [_decision_in_words(part, candidates) for part in parts] or _nothing()})


def _nothing() -> list[Any]:
    raise ReviewError(f"the answer is empty: {HOW}")


def _decision_in_words(reply: str, candidates: Sequence[Candidate]) -> dict[str, Any]:
    reply = reply.strip()
    if (match := _VERDICT_FIRST.match(reply)) and match.end() < len(reply):
        name, *new = _NEW_NAME.split(reply[match.end():], maxsplit=1)
    elif (match := _NAME_FIRST.search(reply)) and match.start() > 0:
        name, new = reply[: match.start()], [reply[match.end():]]
    else:
        raise ReviewError(f"{_short(reply)} cannot be read: {HOW}")
    return _decision(name, f"{match[1]} {''.join(new)}", candidates)


def _decisions(reply: object, candidates: Sequence[Candidate]) -> Iterable[dict[str, Any]]:
    """The decisions with their kind and name, from a list of them or a mapping by number or name."""
    if isinstance(reply, Mapping):
        yield from (_decision(str(name), verdict, candidates) for name, verdict in reply.items())
        return
    if not isinstance(reply, list | tuple):
        raise ReviewError(f"`decisions` is {_short(reply)}: make it a list")
    for decision in reply:
        if isinstance(decision, str):
            yield _decision_in_words(decision, candidates)
        elif not isinstance(decision, Mapping):
            raise ReviewError(f"{_short(decision)} is no decision: {HOW}")
        elif {"kind", "name"} <= decision.keys():
            yield {**decision, "verdict": _verdict(decision.get("verdict"))}
        else:
            name = decision.get("name", decision.get("number", decision.get("candidate")))
            rest = {key: value for key, value in decision.items() if key not in {"name", "number", "candidate"}}
            yield _decision(str(name), rest, candidates, kind=decision.get("kind"))


def _decision(name: str, reply: object, candidates: Sequence[Candidate], kind: object = None) -> dict[str, Any]:
    """A decision on a candidate: a verdict in words, or the fields of a `Decision`."""
    candidate = _candidate(name, candidates, kind)
    fields = {"kind": candidate.kind, "name": candidate.name}
    if isinstance(reply, Mapping):
        return {**reply, **fields, "verdict": _verdict(reply.get("verdict"))}
    verdict, _, new = str(reply).strip().partition(" ")
    verdict, new = _verdict(verdict), re.sub(r"^(?:to|as|into)\s+", "", new.strip())
    return {**fields, "verdict": verdict, **({"into": new} if verdict == "merge" else {"new_name": new})}


def _verdict(reply: object) -> str:
    verdict = _VERDICTS.get(str(reply).strip().casefold())
    if verdict is None:
        raise ReviewError(f"{_short(reply)} is no verdict: use one of {', '.join(get_args(Verdict))}")
    return verdict


def _candidate(reply: str, candidates: Sequence[Candidate], kind: object = None) -> Candidate:
    reply = reply.strip().strip("'\"`#")
    if reply.isdecimal() and 1 <= int(reply) <= len(candidates):
        return candidates[int(reply) - 1]
    of_kind = [candidate for candidate in candidates if kind in (None, candidate.kind)]
    matches = [candidate for candidate in of_kind
               if label_key(reply) in {label_key(label) for label in (candidate.name, *candidate.labels)}]
    if len(matches) != 1:
        shown = ", ".join(f"{number} ({candidate.name})" for number, candidate in enumerate(candidates, 1))
        several = "stands for several candidates" if matches else "is no candidate"
        raise ReviewError(f"{_short(reply)} {several}: use a number; there are {shown}")
    return matches[0]


def _short(reply: object) -> str:
    shown = repr(reply)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."  # noqa: PLR2004
