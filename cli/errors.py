"""Which errors are for the user: shown as a sentence, with the exit code 1 (130 after Ctrl-C)."""

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import ValidationError
from rich.console import Console

from ..schemas.errors import BanyanError
from .console import escape

_INTERRUPTED = 130


@contextmanager
def explained(console: Console) -> Iterator[None]:
    """Show errors that the user can fix in a sentence; anything else is a defect and keeps its traceback."""
    try:
        yield
    except BanyanError as error:
        _show(console, str(error))
    except ValidationError as error:
        first = error.errors()[0]
        _show(console, f"setting {'.'.join(str(part) for part in first['loc'])}: {first['msg']}")
    except (OSError, sqlite3.OperationalError) as error:
        _show(console, f"{error}; what was stored before stands. Mend the cause (disk space, permissions) and run "
                       "the command again: it goes on from where it stopped")
    except (KeyboardInterrupt, SystemExit) as ended:
        # Typer turns Ctrl-C in a command into a bare exit with this code.
        if isinstance(ended, SystemExit) and ended.code != _INTERRUPTED:
            raise
        console.print("interrupted; what was done stands. Run the command again to go on from here", soft_wrap=True)
        sys.exit(_INTERRUPTED)


def _show(console: Console, message: str) -> None:
    console.print(f"[red]error:[/red] {escape(message)}", soft_wrap=True)
    sys.exit(1)
