"""A person's review of schema candidates: from a file, as data, in words, or in LangChain's human-in-the-loop form.

The last are the forms of `langchain.agents.middleware.human_in_the_loop`, which front ends for LangGraph agents show
and answer. Importing it takes a second, so it is only named here.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import yaml
from pydantic import ConfigDict, Field, ValidationError

from .delta import Candidate, Decision, Verdict
from .documents import Frozen
from .errors import BanyanError
from .formats.small_files import load_yaml, read_text
from .naming import label_key

if TYPE_CHECKING:
    from langchain.agents.middleware.human_in_the_loop import ActionRequest, ReviewConfig

MAX_REVIEW_BYTES = 10 * 1024 * 1024
"""The largest review file; `schema review --save` writes about 1 KB for a candidate."""
ACTION = "add_to_schema"
_BOUNDS = {"relation": ("domain", "range"), "attribute": ("domain",), "entity_type": ()}
_TYPE_SEPARATOR = re.compile(r"[|,;]")
HOW = ('{"decisions": [...]} has one decision for each action, in their order: {"type": "approve"}, '
       '{"type": "reject"}, or {"type": "edit", "edited_action": {"name": "add_to_schema", "args": {...}}} with '
       "another name, other types, or the element to `merge_into`")
_VERDICT_ON_ALL = {"accept": "accept", "accept all": "accept", "接受": "accept", "全部接受": "accept",
                   "reject": "reject", "reject all": "reject", "拒绝": "reject", "全部拒绝": "reject",
                   "wait": None, "稍后": None}
"""The verdict of one word for all candidates; None leaves them pending."""
_VERDICTS: dict[str, str] = {**{verdict: verdict for verdict in get_args(Verdict)}, "接受": "accept", "拒绝": "reject",
             "改名": "rename", "合并": "merge"}
_DECISION_SEPARATOR = re.compile("[,;\n，；、]")
_VERDICT = re.compile(rf"({'|'.join(_VERDICTS)})\s*+:?\s*+(?=.)", re.IGNORECASE)
_BEFORE_NEW_NAME = re.compile(r"(?<!\s)\s++(?:to|as|into|->|→)\s++", re.IGNORECASE)
HOW_IN_WORDS = ("answer 'accept' or 'reject' for all, or one by one by number or name, such as 'accept 1, reject 2, "
                "rename 3 to won_against'; what is left out keeps waiting")


class ReviewError(BanyanError):
    """A review that cannot be read; the message names the field."""


class Review(Frozen):
    """Decisions on candidates; candidates without a decision remain pending, unless `all` is set."""

    model_config = ConfigDict(extra="forbid")

    decisions: tuple[Decision, ...] = ()
    all: Literal["accept", "reject"] | None = Field(default=None, description="for every candidate not decided on")
    who: str = Field(default="reviewer", min_length=1, max_length=100)

    def on(self, candidates: Sequence[Candidate]) -> list[Decision]:
        """Return all decisions: those of the review, and if `all` is set, one for each other candidate."""
        if not self.all:
            return [*self.decisions]
        decided = {(d.kind, d.name) for d in self.decisions}
        others = [Decision(kind=c.kind, name=c.name, verdict=self.all) for c in candidates
                  if (c.kind, c.name) not in decided]
        return [*self.decisions, *others]


def read_review(data: object) -> Review:
    """Read a review from JSON data.

    Raises:
        ReviewError: the data has another form; the message names the field and the problem.
    """
    try:
        return Review.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise ReviewError(f"the review cannot be read: {field}: {first['msg']}; it is an object with 'decisions' (a "
                          "list), 'all' (accept or reject) and 'who'") from error


def load_review(path: Path) -> Review:
    """Read a review from a JSON or YAML file; its field `candidates`, which `schema review --save` wrote, is ignored.

    Raises:
        ReviewError: the file cannot be read, or has another form.
    """
    try:
        data = load_yaml(read_text(path, ReviewError, MAX_REVIEW_BYTES))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise ReviewError(f"the review {path} cannot be read: {error}") from error
    if isinstance(data, dict):
        data.pop("candidates", None)
    return read_review(data)


def review_config() -> "ReviewConfig":
    """Return the decisions that a person may make on each action, in LangChain's form."""
    return {"action_name": ACTION, "allowed_decisions": ["approve", "edit", "reject"]}


def action_request(candidate: Candidate, description: str) -> "ActionRequest":
    """Return the action that adds a candidate to the schema; its arguments can be edited."""
    return {"name": ACTION, "args": _arguments(candidate), "description": description}


def is_decisions(data: dict[str, Any]) -> bool:
    """Return True if an answer has LangChain's form."""
    decisions = data.get("decisions")
    return isinstance(decisions, list) and any(
        isinstance(decision, dict) and "type" in decision for decision in decisions)


def read_decisions(data: dict[str, Any], candidates: Sequence[Candidate], who: str) -> Review:
    """Read decisions in LangChain's form: one for each candidate, in the candidates' order.

    Raises:
        ReviewError: a decision cannot be read, or there are too few or too many; the message says how to answer.
    """
    decisions = data["decisions"]
    if len(decisions) != len(candidates):
        raise ReviewError(f"there are {len(decisions)} decisions on {len(candidates)} actions: {HOW}")
    return Review(decisions=tuple(map(_decision, decisions, candidates)), who=who)


def _decision(given: object, candidate: Candidate) -> Decision:
    """Return a decision in LangChain's form as the decision on a candidate."""
    kind = given.get("type") if isinstance(given, dict) else None
    if not isinstance(given, dict) or kind not in {"approve", "edit", "reject"}:
        raise ReviewError(f"{str(given)[:60]!r} is no decision: {HOW}")
    fields: dict[str, Any] = {"verdict": "accept"}
    if kind == "reject":
        fields = {"verdict": "reject", "why": str(given.get("message") or "")}
    elif kind == "edit":
        fields = _read_edit(given, candidate)
    return Decision.model_validate({"kind": candidate.kind, "name": candidate.name, **fields})


def _read_edit(given: dict[str, Any], candidate: Candidate) -> dict[str, Any]:
    """Return the fields of the decision that an edited action means: merge, rename or accept, perhaps with types."""
    action, known = given.get("edited_action"), _arguments(candidate)
    edited = action.get("args") if isinstance(action, dict) else None
    if not isinstance(edited, dict) or action is None or action.get("name") != ACTION or edited.keys() - known.keys():
        raise ReviewError(f"the edit of {candidate.name!r} cannot be read: {HOW}")
    arguments: dict[str, Any] = {**known, **edited}
    if arguments["kind"] != candidate.kind:
        raise ReviewError(f"{candidate.name!r} is {candidate.kind}, which an edit cannot change: reject it instead")
    if into := str(arguments["merge_into"]).strip():
        return {"verdict": "merge", "into": into}
    name = str(arguments["name"]).strip()
    bounds = {side: _names(arguments[side]) for side in _BOUNDS[candidate.kind] if arguments[side] != known[side]}
    if name == candidate.name:
        return {"verdict": "accept", **bounds}
    return {"verdict": "rename", "new_name": name, **bounds}


def _arguments(candidate: Candidate) -> dict[str, Any]:
    """Return the arguments of the action that adds a candidate, which a person may edit."""
    observed = {"domain": list(candidate.subject_types), "range": list(candidate.object_types)}
    return {"kind": candidate.kind, "name": candidate.name,
            **{side: observed[side] for side in _BOUNDS[candidate.kind]}, "merge_into": ""}


def _names(value: object) -> list[str]:
    """Return a list of types, which may be given as text: as JSON, or separated by commas, bars or semicolons."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = [name.strip() for name in _TYPE_SEPARATOR.split(str(value))]
    if not isinstance(value, list):
        return [str(value)]
    return [str(name) for name in value if str(name)]


def read_answer(reply: object, candidates: Sequence[Candidate], who: str = "reviewer") -> Review:
    """Read an answer as a review.

    Args:
        reply: LangChain's `HITLResponse`, or `Review` data, or either as JSON text; or in words: `accept` or `reject`
            for all candidates, or `accept 1, reject born_in, rename 3 to won_against`.
        candidates: the candidates shown, numbered from 1.
        who: the person, if the answer does not name one.

    Raises:
        ReviewError: the answer is unclear; the message names the problem and how to answer.
    """
    data = _unpack(reply) if isinstance(reply, str) else reply
    if isinstance(data, dict) and is_decisions(data):
        return read_decisions(data, candidates, who)
    review = _words(data, candidates) if isinstance(data, str) else read_review(data)
    names_person = isinstance(data, dict) and "who" in data
    return review if names_person else review.model_copy(update={"who": who})


def _unpack(reply: str) -> Any:
    """Return the value of a JSON text, or the text itself."""
    try:
        return json.loads(reply)
    except ValueError:
        return reply
    except RecursionError as error:
        raise ReviewError(f"the answer is nested too deeply: {HOW_IN_WORDS}") from error


def _words(reply: str, candidates: Sequence[Candidate]) -> Review:
    """Read an answer in words: one word for all candidates, or decisions separated by commas."""
    plain = reply.strip(" .!。！").casefold()
    if plain in _VERDICT_ON_ALL:
        return Review.model_validate({"all": _VERDICT_ON_ALL[plain]})
    parts = [part.strip() for part in _DECISION_SEPARATOR.split(reply)]
    decisions = [_decision_in_words(part, candidates) for part in parts if part]
    if not decisions:
        raise ReviewError(f"the answer is empty: {HOW_IN_WORDS}")
    return read_review({"decisions": decisions})


def _decision_in_words(reply: str, candidates: Sequence[Candidate]) -> dict[str, Any]:
    """Return the fields of one decision in words, such as "rename 3 to won_against"; see `read_answer`."""
    match = _VERDICT.match(reply)
    if not match:
        raise ReviewError(f"{_short(reply)} cannot be read: {HOW_IN_WORDS}")
    verdict = _VERDICTS[match[1].casefold()]
    name, *new = _BEFORE_NEW_NAME.split(reply[match.end():], maxsplit=1)
    candidate = _candidate(name, candidates)
    return {"kind": candidate.kind, "name": candidate.name, "verdict": verdict,
            "into" if verdict == "merge" else "new_name": "".join(new)}


def _candidate(reply: str, candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate that a person means by its number, name or one of its labels."""
    reply = reply.strip().strip("'\"`#")
    number = int(reply[:20]) if reply.isdecimal() else 0  # cut, because `int` refuses thousands of digits
    if 1 <= number <= len(candidates):
        return candidates[number - 1]
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
