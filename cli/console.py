"""What the command line prints: text of documents and models is data, and cannot act on the terminal.

Three things could. Markup: every text goes through `escape` or `on_a_line` before it is put between tags of ours.
Escape sequences and invisible characters, which move the cursor, make links, or turn the direction of what follows:
`SafeConsole` shows each of them as its number, in whatever is printed. Letters that look like others: Cyrillic and
Greek ones in a word that also has Latin letters are followed by their number.
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

__all__ = ["SafeConsole", "counted", "err", "escape", "json_line", "money", "on_a_line", "out", "print_json",
           "tell_reasoner", "visible"]

_SEPARATORS = "\x0b-\x1f\x85\u2028\u2029"
_SURROGATES = "\ud800-\udfff"
# A joiner means something between letters of other scripts only.
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
    """The text as it may be sent to a terminal.

    Returns:
        The text, each control or invisible character but tab and line feed as ‹U+001B›, and each Greek or
        Cyrillic letter that looks like a Latin one followed by its number where its word has Latin letters.
    """
    if text.isascii() and text.isprintable():
        return text
    return _WORD.sub(_unmixed, _ACTING.sub(lambda found: _number(found[0]), text))


def _unmixed(word: re.Match[str]) -> str:
    if word[0].isascii() or not _LATIN.search(word[0]):
        return word[0]
    after = word.string[word.end():word.end() + _LONGEST]
    marked = _TWINS.sub(lambda letter: letter[0] + _number(letter[0]), word[0])
    # A text may come here twice, as part of another: what has its number gets no second one.
    return marked[:-len(_number(word[0][-1]))] if _TWINS.match(word[0][-1]) and after.startswith(
        _number(word[0][-1])) else marked


def _number(character: str) -> str:
    return f"‹U+{ord(character):04X}›"


def on_a_line(text: str) -> str:
    """Text for a place within a line of markup: escaped, and its line breaks shown as their number.

    A document's id or title with a line break in it could otherwise begin a line that looks like ours.
    """
    return escape(visible(text).replace("\n", _number("\n")))


class SafeConsole(Console):
    """A console on which only its own styles act."""

    def __init__(self, *, stderr: bool = False) -> None:
        """Standard output, or standard error; what goes to a file or another program is not cut into lines."""
        stream = sys.stderr if stderr else sys.stdout
        # Rich takes 80 columns where there is no terminal: paths would be broken in two, and names cut off.
        width = None if stream.isatty() else _WHOLE_LINES
        # ":warning:" in a text is text, and the numbers in an answer are of no other kind than its words.
        super().__init__(stderr=stderr, emoji=False, highlight=False, width=width)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render; all that is printed, live displays included, comes through here."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)


def json_line(data: Any) -> str:
    """A value as JSON on one line; what acts on a terminal is escaped, which a JSON reader reads back the same."""
    return _ACTING.sub(lambda found: json.dumps(found[0])[1:-1], json.dumps(data, ensure_ascii=False))


def print_json(data: object) -> None:
    """Print one JSON value on a line."""
    sys.stdout.write(json_line(data) + "\n")


def counted(number: int, one: str, many: str = "") -> str:
    """A number of things in words: `many` is the plural where it is not `one` and an s."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def money(cost: float | None) -> str:
    """A cost, or that it is not known."""
    return "unknown" if cost is None else f"{cost:.6g}"


out = SafeConsole()
err = SafeConsole(stderr=True)


def tell_reasoner(settings: Settings) -> None:
    """Say so where no model is set."""
    if not settings.uses_llm:
        err.print("[dim]No LLM is configured (BANYAN_LLM_BASE_URL): the rules reasoner is used.[/dim]")
