"""A person's answer about schema candidates: in words, in LangChain's form, or a review as data or JSON text."""

import json
import re
from collections.abc import Sequence
from typing import Any, get_args

from .delta import Candidate, Verdict
from .naming import label_key
from .review import Review, ReviewError, read_review
from .review_actions import is_decisions, read_decisions

_ALL = {"accept": "accept", "accept all": "accept", "接受": "accept", "全部接受": "accept", "reject": "reject",
        "reject all": "reject", "拒绝": "reject", "全部拒绝": "reject", "wait": None, "稍后": None}
"""The verdict of one word for all candidates; None leaves them pending."""
_VERDICTS: dict[str, str] = {**{verdict: verdict for verdict in get_args(Verdict)}, "接受": "accept", "拒绝": "reject",
             "改名": "rename", "合并": "merge"}
_PARTS = re.compile("[,;\n，；、]")
_VERDICT = re.compile(rf"({'|'.join(_VERDICTS)})\s*+:?\s*+(?=.)", re.IGNORECASE)
_NEW_NAME = re.compile(r"(?<!\s)\s++(?:to|as|into|->|→)\s++", re.IGNORECASE)

HOW = ("answer 'accept' or 'reject' for all, or one by one by number or name, such as 'accept 1, reject 2, rename 3 to "
       "won_against'; what is left out keeps waiting")


def read_answer(reply: object, candidates: Sequence[Candidate], who: str = "reviewer") -> Review:
    """Read an answer as a review.

    Args:
        reply: LangChain's `HITLResponse`; `Review` data; either also as JSON text; `accept` or `reject` for all; or
            `accept 1, reject born_in, rename 3 to won_against`.
        candidates: the candidates shown, numbered from 1.
        who: the person, where the answer does not say.

    Raises:
        ReviewError: the answer is unclear; the message names the problem and how to answer.
    """
    data = _unpack(reply) if isinstance(reply, str) else reply
    if isinstance(data, dict) and is_decisions(data):
        return read_decisions(data, candidates, who)
    review = _words(data, candidates) if isinstance(data, str) else read_review(data)
    return review if isinstance(data, dict) and "who" in data else review.model_copy(update={"who": who})


def _unpack(reply: str) -> Any:
    """Return the value of a JSON text, or the text itself."""
    try:
        return json.loads(reply)
    except ValueError:
        return reply
    except RecursionError as error:
        raise ReviewError(f"the answer is nested too deeply: {HOW}") from error


def _words(reply: str, candidates: Sequence[Candidate]) -> Review:
    plain = reply.strip(" .!。！").casefold()
    if plain in _ALL:
        return Review.model_validate({"all": _ALL[plain]})
    decisions = [_decision(part.strip(), candidates) for part in _PARTS.split(reply) if part.strip()]
    if not decisions:
        raise ReviewError(f"the answer is empty: {HOW}")
    return read_review({"decisions": decisions})


def _decision(reply: str, candidates: Sequence[Candidate]) -> dict[str, Any]:
    match = _VERDICT.match(reply)
    if not match:
        raise ReviewError(f"{_short(reply)} cannot be read: {HOW}")
    verdict = _VERDICTS[match[1].casefold()]
    name, *new = _NEW_NAME.split(reply[match.end():], maxsplit=1)
    candidate = _candidate(name, candidates)
    return {"kind": candidate.kind, "name": candidate.name, "verdict": verdict,
            "into" if verdict == "merge" else "new_name": "".join(new)}


def _candidate(reply: str, candidates: Sequence[Candidate]) -> Candidate:
    reply = reply.strip().strip("'\"`#")
    if reply.isdecimal() and 1 <= int(reply) <= len(candidates):
        return candidates[int(reply) - 1]
    matches = [candidate for candidate in candidates
               if label_key(reply) in {label_key(label) for label in (candidate.name, *candidate.labels)}]
    if len(matches) != 1:
        shown = ", ".join(f"{number} ({candidate.name})" for number, candidate in enumerate(candidates, 1))
        several = "means several candidates" if matches else "is no candidate"
        raise ReviewError(f"{_short(reply)} {several}: use a number; there are {shown}")
    return matches[0]


def _short(reply: str) -> str:
    shown = repr(reply)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."  # noqa: PLR2004
