"""Safe output of the command line, its errors in one sentence, and its log on standard error.

Text from documents and models is data, and cannot affect the terminal. `escape` or `on_a_line` escapes markup in each
text that is put between our own tags. `SafeConsole` prints escape sequences and invisible characters as their code
points, and puts these behind Cyrillic and Greek letters in a word that also has Latin letters.
"""

import json
import logging
import sqlite3
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.table import Table

from ..config import Settings
from ..graph_store.store_errors import DatabaseError, UnknownKnowledgeBaseError
from ..schemas.errors import BanyanError
from ..text.cleaning import ACTING, code_point, visible

_INTERRUPTED_CODE = 130  # the exit code of a command that Ctrl-C ends, by the shells' convention


class CommandError(BanyanError):
    """The command cannot be carried out; the message is for the user."""


def on_a_line(text: object) -> str:
    """Return a text that can be put into a line of markup: markup is escaped, a line break shown as its code point.

    Otherwise, the title of a document could begin a new line that looks like our own output.
    """
    return escape(visible(str(text)).replace("\n", code_point("\n")))


class SafeConsole(Console):
    """A console on which only its own styles act."""

    def __init__(self, *, stderr: bool = False) -> None:
        """Open standard output or standard error; output to a file or another program is not wrapped."""
        stream = sys.stderr if stderr else sys.stdout
        # Without a terminal, Rich assumes 80 columns, which would break paths and cut names off. No line has so many.
        width = None if stream.isatty() else 10_000
        # No emoji codes, because ":warning:" is text, and no highlighting, because an answer's numbers are not special.
        super().__init__(stderr=stderr, emoji=False, highlight=False, width=width)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render what is printed, including live displays, with invisible and control characters made visible."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)

    def say(self, markup: str, *texts: object) -> None:
        """Print a line of markup in which each `{}` is replaced by a text; a terminal does not break words of it."""
        self.print(markup.format(*map(on_a_line, texts)), soft_wrap=True)


out = SafeConsole()
err = SafeConsole(stderr=True)


def json_line(data: object) -> str:
    """Return a value as one line of JSON; characters that affect a terminal are written as JSON escapes."""
    return ACTING.sub(lambda match: json.dumps(match[0])[1:-1], json.dumps(data, ensure_ascii=False))


def print_json(data: object) -> None:
    """Print one JSON value on one line."""
    sys.stdout.write(json_line(data) + "\n")


def print_left_out(number: int) -> None:
    """Print how many items `--limit` left out, if any."""
    if number > 0:
        out.print(f"[dim]and {number} more (--limit)[/dim]")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]], title: str = "",
                numbers: Sequence[bool] = ()) -> None:
    """Print a table, in which columns of numbers are aligned to the right, and markup in cells has no effect.

    `numbers` says of each column whether it has numbers; by default, those in which every cell is one.
    """
    table = Table(box=box.SIMPLE, title=on_a_line(title) or None)
    if not numbers:
        cells_by_column = zip(*rows, strict=True) if rows else [[""]] * len(columns)  # a table without rows has none
        numbers = [all(isinstance(cell, int | float) for cell in cells) for cells in cells_by_column]
    for column, is_number in zip(columns, numbers, strict=True):
        table.add_column(on_a_line(column), justify="right" if is_number else "left")
    for row in rows:
        table.add_row(*(f"{cell:,}" if isinstance(cell, int | float) else on_a_line(cell) for cell in row))
    out.print(table)


def print_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Print names, each with its text beside it, which may have several lines."""
    table = Table.grid(padding=(0, 2))
    for name, text in pairs:
        table.add_row(f"  [dim]{name}[/dim]", "\n".join(map(on_a_line, text.split("\n"))))
    out.print(table)


def money(cost: float | None) -> str:
    """Format a cost; None, of a model without a known price, becomes "unknown"."""
    return "unknown" if cost is None else f"{cost:.6g}"


def note_missing_model(settings: Settings) -> None:
    """Print a note if no model is configured."""
    if not settings.uses_llm:
        err.print("[dim]No LLM is configured (BANYAN_LLM_BASE_URL): the rules reasoner is used.[/dim]")


@contextmanager
def explain_errors() -> Iterator[None]:
    """Print errors of the block that the user can fix in one sentence, and exit; others are defects, and are raised."""
    message = ""
    try:
        yield
    except BanyanError as error:
        # These two have a message for users of this machine alone, which names folders and servers.
        message = error.local_message if isinstance(error, UnknownKnowledgeBaseError | DatabaseError) else str(error)
    except ValidationError as error:
        first_error = error.errors()[0]
        message = f"setting {'.'.join(str(part) for part in first_error['loc'])}: {first_error['msg']}"
    except (OSError, sqlite3.OperationalError) as error:
        message = (f"{error}; stored data is intact. Fix the cause (disk space, permissions) and run the command "
                   "again to resume")
    except (KeyboardInterrupt, SystemExit) as ended:
        # Typer turns Ctrl-C in a command into a SystemExit with this code; exits with another code are intended.
        if isinstance(ended, SystemExit) and ended.code != _INTERRUPTED_CODE:
            raise
        err.say("interrupted; progress is saved. Run the command again to resume")
        sys.exit(_INTERRUPTED_CODE)
    if message:
        err.print(f"[red]error:[/red] {escape(message)}", soft_wrap=True)
        sys.exit(1)


class _OnStandardError(logging.StreamHandler[Any]):
    """A handler that writes to the current standard error, which Rich replaces while it draws progress bars."""

    stream = property(lambda _: sys.stderr, lambda *_: None)  # what the base class sets has no effect


class _LogLine(logging.Formatter):
    """A line of text, or one JSON object per line: time, level, logger, message, and the record's own fields."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self._is_json = form == "json"  # else "text"

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as a line of the log's form; a text's line is followed by the exception's traceback."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        exception = self.formatException(record.exc_info) if record.exc_info else ""
        if self._is_json:
            line = {"time": time, "level": record.levelname, "logger": record.name, "message": record.getMessage(),
                    **getattr(record, "fields", {})}
            if exception:
                line["exception"] = exception
            return json.dumps(line)  # ASCII only, so it cannot affect a terminal
        message = visible(record.getMessage()).replace("\n", " ")
        return f"{time} {record.levelname} {record.name}: {message}\n{exception}".rstrip()


def set_up_logs(settings: Settings) -> None:
    """Set up Banyan's own logger; those of other libraries stay off, because they would log prompts."""
    logger = logging.getLogger("banyan")
    logger.setLevel(settings.log_level)
    # Several commands may run in one process, as in tests; each line is to be logged once.
    for earlier in [handler for handler in logger.handlers if isinstance(handler, _OnStandardError)]:
        logger.removeHandler(earlier)
    handler = _OnStandardError()
    handler.setFormatter(_LogLine(settings.log_format))
    logger.addHandler(handler)


def write_file(path: Path, pieces: Iterable[str | bytes]) -> int:
    """Write pieces of text or bytes to a file, and return its size in bytes; after an error it is as it was before."""
    check_writable(path)
    with tempfile.TemporaryDirectory(prefix=".banyan-", dir=path.resolve().parent) as folder:
        partial_file = Path(folder, "part")
        with partial_file.open("wb") as stream:
            size = sum(stream.write(piece.encode() if isinstance(piece, str) else piece) for piece in pieces)
        partial_file.replace(path.resolve())
    return size


def check_writable(path: Path) -> None:
    """Raise CommandError for a path that `write_file` cannot write: a folder or device, or in no existing folder."""
    if (path.exists() and not path.is_file()) or not path.resolve().parent.is_dir():
        raise CommandError(f"{path} cannot be written: name a file in a folder that exists")
