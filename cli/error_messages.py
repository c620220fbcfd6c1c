"""Errors for the user: shown as one sentence, with exit code 1 (130 after Ctrl-C)."""

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import ValidationError

from ..graph_store.store_errors import DatabaseError, UnknownKnowledgeBaseError
from ..schemas.errors import BanyanError
from .console import err, escape

_INTERRUPTED = 130
_NO_MEMORY = ("can't start new thread", "failed to map segment", "cannot allocate memory")


class CommandError(BanyanError):
    """The command cannot be carried out; the message is for the user."""


@contextmanager
def explain_errors() -> Iterator[None]:
    """Show errors that the user can fix in one sentence; other errors are defects and keep their traceback."""
    try:
        yield
    except BanyanError as error:
        _show(error.here if isinstance(error, UnknownKnowledgeBaseError | DatabaseError) else str(error))
    except ValidationError as error:
        first = error.errors()[0]
        _show(f"setting {'.'.join(str(part) for part in first['loc'])}: {first['msg']}")
    except (OSError, sqlite3.OperationalError) as error:
        _show(f"{error}; stored data is intact. Fix the cause (disk space, permissions) and run the command again to "
              "resume")
    except (MemoryError, RuntimeError, ImportError) as error:
        if not _is_out_of_memory(error):
            raise
        _show(f"the system gives this process no more memory or threads ({error or 'out of memory'}); stored data is "
              "intact. Raise its limits (`ulimit -v`, `ulimit -u`, a container's) and run the command again to resume")
    except (KeyboardInterrupt, SystemExit) as ended:
        # Typer turns Ctrl-C in a command into a plain exit with this code.
        if isinstance(ended, SystemExit) and ended.code != _INTERRUPTED:
            raise
        err.print("interrupted; progress is saved. Run the command again to resume", soft_wrap=True)
        sys.exit(_INTERRUPTED)


def _is_out_of_memory(error: MemoryError | RuntimeError | ImportError) -> bool:
    """Return True if an error comes from a limit of the system; Python has no class of its own for some."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in _NO_MEMORY)


def _show(message: str) -> None:
    err.print(f"[red]error:[/red] {escape(message)}", soft_wrap=True)
    sys.exit(1)
