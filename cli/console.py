"""Safe output of the command line: text from documents and models is data, and cannot affect the terminal.

Three kinds of text could. Markup: `escape` or `on_a_line` escapes every text before it is put between our own tags.
Escape sequences and invisible characters, which move the cursor, make links, or reverse the direction of text:
`SafeConsole` prints each of them as its code point. Letters that look like others: Cyrillic and Greek letters in a
word that also has Latin letters are followed by their code point.
"""

import json
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.table import Table

from ..config import Settings
from ..text.visible_text import ACTING, code_point, visible

__all__ = [
    "SafeConsole",
    "err",
    "escape",
    "format_count",
    "json_line",
    "left_out",
    "money",
    "on_a_line",
    "out",
    "print_json",
    "table_of",
    "tell_reasoner",
    "visible",
]

_WHOLE_LINES = 10_000


def on_a_line(text: str) -> str:
    """Escape text for a place within a line of markup, and print its line breaks as their code point.

    Otherwise, a document's id or title with a line break could begin a line that looks like our own output.
    """
    return escape(visible(text).replace("\n", code_point("\n")))


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
    return ACTING.sub(lambda found: json.dumps(found[0])[1:-1], json.dumps(data, ensure_ascii=False))


def print_json(data: object) -> None:
    """Print one JSON value on one line."""
    sys.stdout.write(json_line(data) + "\n")


def format_count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun; `many` is the plural if it is not `one` with an s."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def left_out(number: int) -> str:
    """Return the line that says how many items `--limit` left out; empty if none."""
    return f"[dim]and {number} more (--limit)[/dim]" if number > 0 else ""


def table_of(columns: Iterable[str], rows: Iterable[Iterable[object]], **options: Any) -> Table:
    """Return a table of texts and numbers from documents, none of which is markup; `options` are Rich's."""
    table = Table(*map(on_a_line, columns), **options)
    for row in rows:
        table.add_row(*(on_a_line(str(cell)) for cell in row))
    return table


def money(cost: float | None) -> str:
    """Format a cost, or return "unknown"."""
    return "unknown" if cost is None else f"{cost:.6g}"


out = SafeConsole()
err = SafeConsole(stderr=True)


def tell_reasoner(settings: Settings) -> None:
    """Print a note if no model is configured."""
    if not settings.uses_llm:
        err.print("[dim]No LLM is configured (BANYAN_LLM_BASE_URL): the rules reasoner is used.[/dim]")
