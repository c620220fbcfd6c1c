"""Proposed changes of the schema (Youtu-GraphRAG eq. 3), the decisions on them, and a person's review of candidates.

A review comes from a file, as data, or in LangChain's human-in-the-loop form. That form, of
`langchain.agents.middleware.human_in_the_loop`, is only named here: importing it takes a second.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from pydantic import ConfigDict, Field, JsonValue, ValidationError

from .documents import Frozen
from .errors import BanyanError
from .formats.small_files import parse_lines, read_text
from .naming import label_key

if TYPE_CHECKING:
    from langchain.agents.middleware.human_in_the_loop import ActionRequest

ElementKind = Literal["entity_type", "relation", "attribute"]
ELEMENT_KINDS: tuple[ElementKind, ...] = get_args(ElementKind)
Verdict = Literal["accept", "reject", "rename", "merge", "edit", "define"]
MAX_REVIEW_BYTES = 10 * 1024 * 1024  # of a review file; `schema review --save` writes about 1 KB for a candidate
ACTION = "add_to_schema"
_BOUNDS = {"relation": ("domain", "range"), "attribute": ("domain",), "entity_type": ()}
_TYPE_SEPARATOR = re.compile(r"[|,;]")
HOW = ('{"decisions": [...]} has one decision for each action, in their order: {"type": "approve"}, '
       '{"type": "reject"}, or {"type": "edit", "edited_action": {"name": "add_to_schema", "args": {...}}} with '
       "another name, other types, or the element to `merge_into`")


class Example(Frozen):
    """One occurrence of a candidate: the extracted item, and the words of the document that support it."""

    document: str
    item: str
    words: str


class Candidate(Frozen):
    """An element that occurs in the documents but not in the schema, with its evidence."""

    model_config = ConfigDict(extra="ignore")  # ledgers of earlier versions have further evidence

    kind: ElementKind
    name: str = Field(description="its commonest label, as `label_key` writes it")
    labels: tuple[str, ...] = Field(default=(), description="all labels taken for the same, `name` among them")
    inverse_labels: tuple[str, ...] = Field(default=(), description="labels that say a relation from tail to head")
    widens: str = Field(default="", description="the element that takes its labels and types; empty: it is a new one")
    documents: int = Field(description="how many documents support it")
    occurrences: int
    rows: int = Field(default=0, description="how many rows of tables have it as their column")
    confidence: float = Field(description="mean confidence of its occurrences, 0 to 1")
    subject_types: tuple[str, ...] = Field(default=(), description="observed domain, or attribute owners")
    object_types: tuple[str, ...] = Field(default=(), description="observed range, or the kind of the values")
    examples: tuple[Example, ...] = ()

    def names(self) -> tuple[str, ...]:
        """Return all its names, each once, without the name of the element that it widens."""
        names = dict.fromkeys((self.name, *self.labels, *self.inverse_labels))
        return tuple(name for name in names if label_key(name) != label_key(self.widens))


class SameLabel(NamedTuple):
    """A numbered label that means the same as a name, or says it from tail to head (`backward`)."""

    number: int
    name: str
    backward: bool


class Decision(Frozen):
    """A decision on a candidate, or on an element of the schema.

    accept: add a candidate. reject: never propose a candidate again, or remove an element. rename: give it the name
    `new_name`. merge: move labels and facts to the element `into`. edit: replace the observed types by `domain` (of an
    attribute: its owners) and `range`, which accept and rename take too. define: add the element `element`, or replace
    the one of that name.
    """

    kind: ElementKind
    name: str = Field(description="any of its names")
    verdict: Verdict
    new_name: str = ""
    into: str = ""
    domain: tuple[str, ...] | None = None
    range: tuple[str, ...] | None = None
    element: dict[str, JsonValue] | None = Field(default=None, description="the fields of an element, as schema files "
                                                                          "have them")
    why: str = ""


class Decided(Frozen):
    """A decision with its evidence; a decision on an element of the schema needs none."""

    decision: Decision
    evidence: Candidate | None = None


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
        decided = {(decision.kind, decision.name) for decision in self.decisions}
        undecided = [candidate for candidate in candidates if (candidate.kind, candidate.name) not in decided]
        return [*self.decisions, *(Decision(kind=candidate.kind, name=candidate.name, verdict=self.all)
                                   for candidate in undecided)]


def read_review(data: object) -> Review:
    """Read a review from JSON data, or raise ReviewError, which names the field."""
    try:
        return Review.model_validate(data)
    except ValidationError as error:
        first_error = error.errors()[0]
        field = ".".join(str(part) for part in first_error["loc"]) or "the whole"
        raise ReviewError(f"the review cannot be read: {field}: {first_error['msg']}; it is an object with 'decisions' "
                          "(a list), 'all' (accept or reject) and 'who'") from error


def load_review(path: Path) -> Review:
    """Read a review from a JSON file, or raise ReviewError."""
    data = parse_lines(read_text(path, ReviewError, MAX_REVIEW_BYTES), path, ReviewError)
    if isinstance(data, dict):
        data.pop("candidates", None)  # `schema review --save` writes them beside the decisions, for people
    return read_review(data)


def action_request(candidate: Candidate, description: str) -> "ActionRequest":
    """Return the action that adds a candidate to the schema; its arguments can be edited."""
    return {"name": ACTION, "args": _action_arguments(candidate), "description": description}


def _action_arguments(candidate: Candidate) -> dict[str, Any]:
    """Return what a person can edit of a candidate: its name, its observed types, and the element to merge it into."""
    observed = {"domain": list(candidate.subject_types), "range": list(candidate.object_types)}
    return {"kind": candidate.kind, "name": candidate.name,
            **{side: observed[side] for side in _BOUNDS[candidate.kind]}, "merge_into": ""}


def read_answer(answer: object, candidates: Sequence[Candidate], who: str = "reviewer") -> Review:
    """Read the answer to an interrupt as a review: LangChain's `HITLResponse`, in the candidates' order, or `Review`.

    Raises ReviewError if it cannot be read, or has too few or too many decisions. `who` is used if it names nobody.
    """
    decisions = answer.get("decisions") if isinstance(answer, dict) else None
    # Only LangChain's decisions have a `type`; ours have a `kind` and a `verdict`.
    is_in_langchain_form = isinstance(decisions, list) and any(
        isinstance(decision, dict) and "type" in decision for decision in decisions)
    if not isinstance(decisions, list) or not is_in_langchain_form:
        review = read_review(answer)
        return review if "who" in review.model_fields_set else review.model_copy(update={"who": who})
    if len(decisions) != len(candidates):
        raise ReviewError(f"there are {len(decisions)} decisions on {len(candidates)} actions: {HOW}")
    return Review(decisions=tuple(map(_read_decision, decisions, candidates)), who=who)


def _read_decision(given: object, candidate: Candidate) -> Decision:
    """Read LangChain's decision on a candidate: approve, edit or reject."""
    match given:
        case {"type": "approve"}:
            fields: dict[str, Any] = {"verdict": "accept"}
        case {"type": "reject", **rest}:
            fields = {"verdict": "reject", "why": str(rest.get("message") or "")}
        case {"type": "edit", **rest}:
            fields = _read_edit(rest, candidate)
        case _:
            raise ReviewError(f"{str(given)[:60]!r} is no decision: {HOW}")
    return Decision.model_validate({"kind": candidate.kind, "name": candidate.name, **fields})


def _read_edit(given: Mapping[Any, Any], candidate: Candidate) -> dict[str, Any]:
    """Return the fields of the decision that an edit of a candidate's arguments means: a merge, accept or rename."""
    action, proposed = given.get("edited_action"), _action_arguments(candidate)
    edited = action.get("args") if isinstance(action, dict) and action.get("name") == ACTION else None
    if not isinstance(edited, dict) or edited.keys() - proposed.keys():
        raise ReviewError(f"the edit of {candidate.name!r} cannot be read: {HOW}")
    arguments: dict[str, Any] = {**proposed, **edited}
    if arguments["kind"] != candidate.kind:
        raise ReviewError(f"{candidate.name!r} is {candidate.kind}, which an edit cannot change: reject it instead")
    if into := str(arguments["merge_into"]).strip():
        return {"verdict": "merge", "into": into}
    name = str(arguments["name"]).strip()
    # Types that were not changed are the observed ones in any case.
    changed_sides = [side for side in _BOUNDS[candidate.kind] if arguments[side] != proposed[side]]
    bounds = {side: _read_types(arguments[side]) for side in changed_sides}
    if name == candidate.name:
        return {"verdict": "accept", **bounds}
    return {"verdict": "rename", "new_name": name, **bounds}


def _read_types(value: object) -> list[str]:
    """Return types that are given as a list, or as a text with separators, which may be the list as JSON."""
    names = value if isinstance(value, list) else _TYPE_SEPARATOR.split(str(value))
    return [name for given in names if (name := str(given).strip(' "[]'))]
