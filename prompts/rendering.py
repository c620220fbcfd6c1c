"""Filling in prompts, so that text of documents stays data.

A prompt file has the system message, a line `=== user ===`, and the user message. What changes from call to call is at
the end of the user message, so that endpoints can reuse the common prefix. Every value that may come from a document is
put between `<data>` and `</data>`: it can neither close that fence nor end its message with a chat template's signs,
which servers turn into control tokens wherever they are.
"""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib import resources
from string import Template
from typing import Any, Literal, NamedTuple, get_args

from ..schemas.naming import UNSEEN
from ..text.scripts import estimate_tokens, language_of

Language = Literal["en", "zh"]

_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LETTER = re.compile(r"[^\W\d_]")
_CHINESE_SHARE = 0.3
"""One Han letter carries about as much meaning as three Latin ones, so at 0.3 most of a text's content is Chinese."""
_CAPITALISED = re.compile(r"\b[A-Z][^\W\d_]*")
_CHINESE_WORDS = re.compile("[谁什么哪几多少何吗呢的是在了为与和怎]")
_ENGLISH_WORDS = re.compile(
    r"\b(?:who|whom|whose|what|which|where|when|why|how|is|are|was|were|do|does|did|the|of|in|on|and|to|has|have)\b",
    re.IGNORECASE)
_LEAST_ENGLISH = 2


def text_language(text: str) -> Language:
    """Return the language of the prompts for a text: Chinese if enough of its letters are, else English."""
    is_mostly_han = len(_HAN.findall(text)) > _CHINESE_SHARE * len(_LETTER.findall(text))
    # Japanese has Han letters, too, and there are no prompts in it.
    return "zh" if is_mostly_han and language_of(text) != "ja" else "en"


def question_language(question: str) -> Language:
    """Return the language of the prompts for a question."""
    # Function words decide, so that names in another script do not count; else what it has beside capitalised words.
    english_count, chinese_count = len(_ENGLISH_WORDS.findall(question)), len(_CHINESE_WORDS.findall(question))
    if english_count and not chinese_count:
        return "en"
    # One English word may be a part of a name, such as "Shakespeare and Company".
    if chinese_count and english_count < _LEAST_ENGLISH and language_of(question) != "ja":
        return "zh"
    return text_language(_CAPITALISED.sub("", question))


Step = Literal["extract", "resolve", "summarise", "agent", "condense", "infer", "group", "repair"]
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
    """The two messages of a call and their language; `system` is empty where the file has no divider (repair)."""

    system: str
    user: str
    language: Language = "en"

    @property
    def messages(self) -> list[tuple[str, str]]:
        """Both messages, as (role, text)."""
        return [("system", self.system), ("user", self.user)]

    @property
    def tokens(self) -> int:
        """The estimated tokens of both messages."""
        return estimate_tokens(self.system) + estimate_tokens(self.user)


def instructions_line(instructions: str, language: Language) -> str:
    """Return the line of a prompt that says how an answer is to be worded; empty without instructions."""
    if not instructions.strip():
        return ""
    return f"{load_parts(language)['instructions']}{' '.join(instructions.split())}\n"


def extraction_instructions_block(instructions: str, language: Language) -> str:
    """Return the lines of a prompt with a person's instructions for extraction; empty without instructions."""
    lines = [f"  {' '.join(line.split())}" for line in instructions.splitlines() if line.strip()]
    if not lines:
        return ""
    return "\n".join([load_parts(language)["extraction_instructions"], *lines, ""])


class Fenced(str):
    """A text that is safe to put into a prompt as it is: every value in it went through `fence`."""


def fence(text: str) -> Fenced:
    """Return a text between `<data>` and `</data>`, which nothing in it can close."""
    return Fenced(f"<data>\n{_as_data(text)}\n</data>")


def close_item(text: str) -> str:
    """Return a text for a numbered list, changed so that none of its lines looks like another item ("[2] ...")."""
    return _NUMBER.sub("\\1⟦", text)


def _as_data(text: str) -> str:
    """Return a text in which fences and chat templates' signs begin with another bracket, and lose their meaning."""
    without_fences = _FENCE.sub("‹", text)
    return _TURN.sub(lambda sign: "‹" if sign[0] == "<" else "⟦", without_fences)


def render(step: Step, language: Language, **values: str) -> Prompt:
    """Return the messages of a step in a language: the names of its file and of that file's folder.

    `values` are the texts of the `$placeholders`; `$` and braces in them stay as they are. Unless a value is `Fenced`,
    a fence or a sign of a chat template in it gets another opening bracket.
    """
    fenced = {name: value if isinstance(value, Fenced) else _as_data(value) for name, value in values.items()}
    system, user = _load_templates(step, language)
    return Prompt(system.substitute(fenced).strip(), user.substitute(fenced).strip(), language)


def example(step: Step, language: Language) -> str:
    """Return a worked example of a step, shown below the form of its answer."""
    return (resources.files(__package__) / language / f"{step}_example.txt").read_text("utf-8").strip()


def number_items(items: Iterable[str]) -> str:
    """Return texts as a numbered list, "[1] ..." and so on, whose items no text can imitate; "-" if there are none."""
    closed = map(close_item, items)
    return "\n\n".join(f"[{number}] {item}" for number, item in enumerate(closed, 1)) or "-"


@cache
def _load_templates(step: Step, language: Language) -> tuple[Template, Template]:
    """Return the templates of a step's system and user message; without a divider, the file is the user message."""
    text = (resources.files(__package__) / language / f"{step}.txt").read_text("utf-8")
    system, divider, user = text.partition(_DIVIDER)
    return (Template(system), Template(user)) if divider else (Template(""), Template(system))


@cache
def load_parts(language: Language) -> dict[str, Any]:
    """Return the texts of which prompts are put together, by their names in `parts.toml`."""
    return tomllib.loads((resources.files(__package__) / language / "parts.toml").read_text("utf-8"))
