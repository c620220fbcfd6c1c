"""Filling in a prompt so that document text stays data.

A prompt file holds the system message, a line `=== user ===`, and the user message. What is fixed
stands in the system message and the text that changes from call to call at the end of the user
message, so that endpoints can reuse the common prefix. Every value that may come from a document
stands between `<data>` and `</data>`, and no value can close that fence.
"""

import re
from collections.abc import Iterable
from functools import cache
from importlib import resources
from string import Template
from typing import Literal, NamedTuple, get_args

from .language import Language

Step = Literal["extract", "summarise", "decompose", "reflect", "answer_reject", "answer_open", "condense",
               "repair"]
STEPS: tuple[Step, ...] = get_args(Step)

_DIVIDER = "=== user ===\n"
# Wide and small forms too: a model may read them as the same sign.
_FENCE = re.compile(r"[<＜﹤](?=\s*[/／]?\s*data\b)", re.IGNORECASE)


class Prompt(NamedTuple):
    """The two messages of a call; `system` is empty where the file has no divider (repair)."""

    system: str
    user: str


def render(step: Step, language: Language, **values: str) -> Prompt:
    """The messages of a step.

    Args:
        step: the step, the name of its file.
        language: the folder.
        **values: the text of each `$placeholder`; `$` and braces in it are left as they are, and a
            `<data>` or `</data>` in it gets another opening bracket, so that it closes no fence.

    Returns:
        The system and the user message.

    Raises:
        KeyError: a placeholder of the file has no value.
    """
    fenced = {name: _FENCE.sub("‹", value) for name, value in values.items()}
    system, user = _templates(step, language)
    return Prompt(system.substitute(fenced).strip(), user.substitute(fenced).strip())


def numbered(items: Iterable[str]) -> str:
    """Texts as a list that can be referred to by number: "[1] ...", from 1; "-" where there is none."""
    return "\n\n".join(f"[{number}] {item}" for number, item in enumerate(items, 1)) or "-"


@cache
def _templates(step: Step, language: Language) -> tuple[Template, Template]:
    text = (resources.files(__package__) / language / f"{step}.txt").read_text("utf-8")
    system, divider, user = text.partition(_DIVIDER)
    return (Template(system), Template(user)) if divider else (Template(""), Template(system))
