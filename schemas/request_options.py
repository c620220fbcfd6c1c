"""What users may add to the requests to a model: fields of the body, and how much a thinking model thinks."""

import json
from typing import Annotated, Any

from pydantic import BeforeValidator

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_OWN = ("model", "messages", "stream", "stream_options", "response_format", "tools", "tool_choice", "n")
"""Fields that Banyan sets: with another value, it could not read the reply."""


def _read_body(given: Any) -> dict[str, Any]:
    """Return the fields of a JSON object, given as text or as a dict.

    Raises:
        ValueError: it is no JSON object, or sets a field that is Banyan's own.
    """
    if isinstance(given, str):
        try:
            given = json.loads(given) if given.strip() else {}
        except ValueError as error:
            raise ValueError(f'it is not JSON ({error}): write an object such as {{"top_k": 20}}') from None
    if not isinstance(given, dict):
        raise ValueError('it is no JSON object: write one such as {"top_k": 20}')  # noqa: TRY004  (for pydantic)
    if own := [name for name in _OWN if name in given]:
        raise ValueError(f"Banyan sets {', '.join(own)} itself: leave that out" + (
            ", and name the model in BANYAN_LLM_MODEL" if "model" in own else ""))
    return given


def effort_of(efforts: str, step: str) -> str:
    """Return the effort of a step: its own if `efforts` names the step, else the one for all; "" if there is none."""
    by_step = dict(_read_efforts(efforts))
    return by_step.get(step, by_step.get("", ""))


def check_efforts(efforts: str, steps: tuple[str, ...]) -> None:
    """Check that efforts are known and name only steps that there are.

    Raises:
        ValueError: they do not.
    """
    for step, effort in _read_efforts(efforts):
        if step and step not in steps:
            raise ValueError(f"there is no step {step!r}: the steps are {', '.join(steps)}")
        if effort not in EFFORTS:
            raise ValueError(f"{effort!r} is no effort: use {', '.join(EFFORTS)}, for all steps or by step, as in "
                             "extract=low,answer=medium; other values can be set in BANYAN_LLM_EXTRA_BODY")


def _read_efforts(efforts: str) -> list[tuple[str, str]]:
    """Return (step, effort) for each part; the step is "" where the effort is for all steps."""
    parts = (part.strip() for part in efforts.lower().split(","))
    return [(step.strip(), effort.strip()) for step, _, effort in
            (part.partition("=") if "=" in part else ("", "", part) for part in parts if part)]


ExtraBody = Annotated[dict[str, Any], BeforeValidator(_read_body)]
