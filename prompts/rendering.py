"""Filling in a prompt so that document text stays data.

A prompt file holds the system message, a line `=== user ===`, and the user message. What is fixed
stands in the system message and the text that changes from call to call at the end of the user
message, so that endpoints can reuse the common prefix. Every value that may come from a document
stands between `<data>` and `</data>`, and no value can close that fence, nor end its turn by what a
model's own template writes between turns: servers turn such signs into control tokens wherever they stand.
"""

import re
from collections.abc import Iterable
from functools import cache
from importlib import resources
from string import Template
from typing import Literal, NamedTuple, get_args

from ..schemas.naming import UNSEEN
from .language import Language

Step = Literal["extract", "resolve", "summarise", "decompose", "reflect", "answer_reject", "answer_open", "condense",
               "judge", "retell", "infer", "group", "repair"]
STEPS: tuple[Step, ...] = get_args(Step)

_DIVIDER = "=== user ===\n"
# Wide and small forms, look-alike letters and invisible characters too: a model may read them as the same sign.
_GAP = rf"(?:\s|{UNSEEN.pattern}|[\u200c\u200d])*"
_FENCE = re.compile(rf"[<＜﹤](?={_GAP}(?:[/／\u2044\u2215]{_GAP})?[dｄ]{_GAP}[aａ\u0430]{_GAP}[tｔ\u0442]{_GAP}"
                    rf"[aａ\u0430](?![^\W_]))", re.IGNORECASE)
# What the usual models' templates write: ChatML, Llama, DeepSeek, Gemma, Mistral, and blocks of thought and tools.
_TURN = re.compile(r"<(?=[|｜]|<SYS>>|/?(?:s|bos|eos|pad|unk|start_of_turn|end_of_turn|think|thinking|tool_\w+|"
                   r"function\w*|tools?|image)(?:\s[^<>]{0,80})?[>=|])|"
                   r"\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|IMG)\])",
                   re.IGNORECASE)
# A text in a numbered list cannot begin another item of it.
_NUMBER = re.compile(r"^([^\S\n]*+)\[(?=\s*+\d++\s*+\])", re.MULTILINE)


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
            `<data>`, `</data>` or a sign of a turn in it gets another opening bracket.
    """
    fenced = {name: _TURN.sub(_opened, _FENCE.sub("‹", value)) for name, value in values.items()}
    system, user = _templates(step, language)
    return Prompt(system.substitute(fenced).strip(), user.substitute(fenced).strip())


def example(step: Step, language: Language) -> str:
    """A worked example of a step, shown below the form of its answer."""
    return (resources.files(__package__) / language / f"{step}_example.txt").read_text("utf-8").strip()


def numbered(items: Iterable[str]) -> str:
    """Texts as a list that can be referred to by number: "[1] ...", from 1; "-" where there is none.

    A line of a text that begins as an item does gets another opening bracket.
    """
    closed = (_NUMBER.sub("\\1⟦", item) for item in items)
    return "\n\n".join(f"[{number}] {item}" for number, item in enumerate(closed, 1)) or "-"


def _opened(sign: re.Match[str]) -> str:
    return "‹" if sign[0] == "<" else "⟦"


@cache
def _templates(step: Step, language: Language) -> tuple[Template, Template]:
    text = (resources.files(__package__) / language / f"{step}.txt").read_text("utf-8")
    system, divider, user = text.partition(_DIVIDER)
    return (Template(system), Template(user)) if divider else (Template(""), Template(system))
