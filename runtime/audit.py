"""The audit log in the home folder: one JSON line per change, with who made it.

It contains names of clients and knowledge bases, ids of documents, and numbers, but no question, text or secret.
"""

import getpass
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from filelock import FileLock
from pydantic import BaseModel, ValidationError

FILE = "audit.jsonl"
MAX_BYTES = 10_000_000  # at which the file is renamed to `audit.1.jsonl`, after that to `audit.2.jsonl`, and so on
KEPT = 9  # number of renamed files to retain: all files together take a little over 100 MB at most
MAX_WHAT = 1_000  # the most characters in an entry's `what`

Action = Literal["build", "decide", "edit", "delete", "schema", "settings", "rename", "drop", "restore", "set model",
                 "instructions", "make key", "revoke key"]

LOCAL = "local"  # the client of a server that has no keys: anybody on this machine; no key may have this name
_client: ContextVar[str] = ContextVar("banyan_client", default="")  # see `acting`


class Entry(BaseModel, frozen=True):
    """A change."""

    time: str  # UTC, to the millisecond
    who: str  # the client's key; `local` where the server has none; `user:NAME` of the system's user otherwise
    action: Action
    knowledge_base: str = ""
    what: str = ""


@contextmanager
def acting(client: str) -> Iterator[None]:
    """Attribute all changes in the block, and in tasks and threads started in it, to a client; "" changes nothing."""
    token = _client.set(client or _client.get())
    try:
        yield
    finally:
        _client.reset(token)


def client() -> str:
    """Return the client that makes the current changes, or ""; see `acting`."""
    return _client.get()


def attributed(who: str) -> str:
    """Return who made a decision, as the client says, and behind it the client's key: a client can write any name."""
    return who if client() in {"", LOCAL, who} else f"{who} ({client()})"


def record(home: Path, action: Action, knowledge_base: str = "", what: str = "") -> None:
    """Append a change to the log, in turn with other processes; `what` is cut to `MAX_WHAT`. May raise OSError."""
    entry = Entry(time=datetime.now(UTC).isoformat(timespec="milliseconds"), who=_client.get() or _system_user(),
                  action=action, knowledge_base=knowledge_base, what=what[:MAX_WHAT])
    line = json.dumps(entry.model_dump(exclude_defaults=True)) + "\n"
    home.mkdir(parents=True, exist_ok=True)
    path = home / FILE
    with FileLock(home / f"{FILE}.lock"):
        if path.exists() and path.stat().st_size + len(line) > MAX_BYTES:
            for number in range(KEPT, 0, -1):  # the file with the highest number is overwritten
                newer = _log_file(home, number - 1)
                if newer.exists():
                    newer.replace(_log_file(home, number))
        with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "a+b") as file:  # noqa: PTH123
            if file.tell():  # it was opened at its end, so it is not empty
                file.seek(-1, os.SEEK_END)
                if file.read() != b"\n":  # a kill or a full disk has left the last line incomplete
                    line = f"\n{line}"
            file.write(line.encode())


def entries(home: Path) -> Iterator[Entry]:
    """Read the changes, oldest first; skip a line that a kill or a full disk left incomplete. May raise OSError."""
    with ExitStack() as lock:
        # Without the lock, a rename could make us read a file twice or not at all. On a read-only disk none is renamed.
        with suppress(OSError):
            lock.enter_context(FileLock(home / f"{FILE}.lock"))
        paths = [_log_file(home, number) for number in range(KEPT, -1, -1)]
        texts = [path.read_text("utf-8") for path in paths if path.exists()]
    for line in "\n".join(texts).splitlines():  # a file may lack the line break at its end
        with suppress(ValidationError):
            yield Entry.model_validate_json(line)


def _log_file(home: Path, number: int) -> Path:
    """Return the current file for number 0, else a renamed one: the higher the number, the older it is."""
    return home / (f"audit.{number}.jsonl" if number else FILE)


def _system_user() -> str:
    try:
        return f"user:{getpass.getuser()}"
    except (KeyError, OSError):  # a user without a name, as in a container
        return f"user:{os.getuid()}"
