"""Safe output of the command line: text from documents and models is data, and cannot affect the terminal.

Three kinds of text could. Markup: `escape` or `on_a_line` escapes every text before it is put between our own tags.
Escape sequences and invisible characters, which move the cursor, make links, or reverse the direction of text:
`SafeConsole` prints each of them as its code point. Letters that look like others: Cyrillic and Greek letters in a
word that also has Latin letters are followed by their code point.
"""

import json
import re
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment

from ..config import Settings
from ..schemas.naming import UNSEEN

__all__ = [
    "SafeConsole",
    "err",
    "escape",
    "format_count",
    "json_line",
    "money",
    "on_a_line",
    "out",
    "print_json",
    "tell_reasoner",
    "visible",
]

_SEPARATORS = "\x0b-\x1f\x85\u2028\u2029"
_SURROGATES = "\ud800-\udfff"
# Joiners have a meaning only between letters of other scripts.
_JOINERS = "(?<![^\x00-\u024f])[\u200c\u200d]"
_ACTING = re.compile(f"{UNSEEN.pattern}|[{_SEPARATORS}{_SURROGATES}]|{_JOINERS}")
_WHOLE_LINES = 10_000
_LONGEST = len("‹U+000000›")
_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile("[A-Za-z]")
_TWINS = re.compile("[\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf"
                    "\u0405\u0406\u0408\u0410\u0412\u0415\u041a\u041c-\u041e\u0420-\u0422\u0425\u0430\u0435\u043e"
                    "\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u0501\u051b\u051d]")
"""Greek and Cyrillic letters that most fonts draw like a Latin one."""


def visible(text: str) -> str:
    """Return the text in a form that is safe to print on a terminal.

    Returns:
        The text, with each control or invisible character except tab and line feed as ‹U+001B›, and each Greek or
        Cyrillic letter that looks like a Latin one followed by its code point if its word has Latin letters.
    """
    if text.isascii() and text.isprintable():
        return text
    return _WORD.sub(_mark_lookalikes, _ACTING.sub(lambda found: _number(found[0]), text))


def _mark_lookalikes(word: re.Match[str]) -> str:
    if word[0].isascii() or not _LATIN.search(word[0]):
        return word[0]
    after = word.string[word.end():word.end() + _LONGEST]
    marked = _TWINS.sub(lambda letter: letter[0] + _number(letter[0]), word[0])
    # A text may be processed twice, as part of another, so a code point is not added again.
    return marked[:-len(_number(word[0][-1]))] if _TWINS.match(word[0][-1]) and after.startswith(
        _number(word[0][-1])) else marked


def _number(character: str) -> str:
    return f"‹U+{ord(character):04X}›"


def on_a_line(text: str) -> str:
    """Escape text for a place within a line of markup, and print its line breaks as their code point.

    Otherwise, a document's id or title with a line break could begin a line that looks like our own output.
    """
    return escape(visible(text).replace("\n", _number("\n")))


class SafeConsole(Console):
    """A console on which only its own styles act."""

    def __init__(self, *, stderr: bool = False) -> None:
        """Open standard output or standard error; output to a file or another program is not wrapped."""
        stream = sys.stderr if stderr else sys.stdout
        # Without a terminal, Rich assumes 80 columns, which would break paths and cut names off.
        width = None if stream.isatty() else _WHOLE_LINES
        # No emoji codes, because ":warning:" is text, and no highlighting, because an answer's numbers are not special.
        super().__init__(stderr=stderr, emoji=False, highlight=False, width=width)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render everything that is printed, including live displays."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)


def json_line(data: Any) -> str:
    """Return a value as one line of JSON, in which characters that affect a terminal are escaped for JSON readers."""
    return _ACTING.sub(lambda found: json.dumps(found[0])[1:-1], json.dumps(data, ensure_ascii=False))


def print_json(data: object) -> None:
    """Print one JSON value on one line."""
    sys.stdout.write(json_line(data) + "\n")


def format_count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun; `many` is the plural if it is not `one` with an s."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def money(cost: float | None) -> str:
    """Format a cost, or return "unknown"."""
    return "unknown" if cost is None else f"{cost:.6g}"


out = SafeConsole()
err = SafeConsole(stderr=True)


def tell_reasoner(settings: Settings) -> None:
    """Print a note if no model is configured."""
    if not settings.uses_llm:
        err.print("[dim]No LLM is configured (BANYAN_LLM_BASE_URL): the rules reasoner is used.[/dim]")
