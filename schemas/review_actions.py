"""Schema candidates in LangChain's human-in-the-loop form: an action for each, and the decisions on them.

The forms are those of `langchain.agents.middleware.human_in_the_loop`, which front ends for LangGraph agents show and
answer. Importing it takes a second, so it is only named here.
"""

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .delta import Candidate, Decision
from .review import Review, ReviewError

if TYPE_CHECKING:
    from langchain.agents.middleware.human_in_the_loop import ActionRequest, ReviewConfig

ACTION = "add_to_schema"
_BOUNDS = {"relation": ("domain", "range"), "attribute": ("domain",), "entity_type": ()}
_LIST = re.compile(r"[|,;]")

HOW = ('{"decisions": [...]} has one decision for each action, in their order: {"type": "approve"}, '
       '{"type": "reject"}, or {"type": "edit", "edited_action": {"name": "add_to_schema", "args": {...}}} with '
       "another name, other types, or the element to `merge_into`")


def review_config() -> "ReviewConfig":
    """Return what a person may decide on each action."""
    return {"action_name": ACTION, "allowed_decisions": ["approve", "edit", "reject"]}


def action_request(candidate: Candidate, description: str) -> "ActionRequest":
    """Return the action that adds a candidate to the schema; its arguments can be edited."""
    return {"name": ACTION, "args": _arguments(candidate), "description": description}


def is_decisions(data: dict[str, Any]) -> bool:
    """Return True if an answer has LangChain's form."""
    decisions = data.get("decisions")
    return isinstance(decisions, list) and any(isinstance(one, dict) and "type" in one for one in decisions)


def read_decisions(data: dict[str, Any], candidates: Sequence[Candidate], who: str) -> Review:
    """Read decisions on the actions of some candidates, one for each in their order.

    Raises:
        ReviewError: one cannot be read, or their number is another one; names the problem and how to answer.
    """
    decisions = data["decisions"]
    if len(decisions) != len(candidates):
        raise ReviewError(f"there are {len(decisions)} decisions on {len(candidates)} actions: {HOW}")
    return Review(decisions=tuple(map(_decision, decisions, candidates)), who=who)


def _decision(given: object, candidate: Candidate) -> Decision:
    kind = given.get("type") if isinstance(given, dict) else None
    named = {"kind": candidate.kind, "name": candidate.name}
    if not isinstance(given, dict) or kind not in {"approve", "edit", "reject"}:
        raise ReviewError(f"{str(given)[:60]!r} is no decision: {HOW}")
    if kind == "reject":
        return Decision.model_validate({**named, "verdict": "reject", "why": str(given.get("message") or "")})
    return Decision.model_validate({**named, **(_edited(given, candidate) if kind == "edit" else
                                                {"verdict": "accept"})})


def _edited(given: dict[str, Any], candidate: Candidate) -> dict[str, Any]:
    """Return what an edit changes of a candidate.

    Raises:
        ReviewError: it edits another action or argument than it may.
    """
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
    return {**({"verdict": "accept"} if name == candidate.name else {"verdict": "rename", "new_name": name}), **bounds}


def _arguments(candidate: Candidate) -> dict[str, Any]:
    observed = {"domain": list(candidate.subject_types), "range": list(candidate.object_types)}
    return {"kind": candidate.kind, "name": candidate.name,
            **{side: observed[side] for side in _BOUNDS[candidate.kind]}, "merge_into": ""}


def _names(value: object) -> list[str]:
    """Return a list of types; front ends with a text field for each argument send it as text."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = [one.strip() for one in _LIST.split(str(value))]
    return [str(one) for one in value if str(one)] if isinstance(value, list) else [str(value)]
