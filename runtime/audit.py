"""The audit log: who changed what, a JSON line for each change, in the home folder.

It holds names of clients and knowledge bases, ids of documents, and numbers: no question, no text, no secret.
"""

import getpass
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, ValidationError

FILE = "audit.jsonl"
MAX_BYTES = 10_000_000
"""Of the file; a fuller one is `audit.1.jsonl` then, and the next fuller one pushes it to `audit.2.jsonl`."""
KEPT = 9
"""Fuller ones that are kept: all together take at most a little over 100 MB."""
MAX_WHAT = 1_000
"""Characters of what is said of a change."""

Action = Literal["build", "decide", "edit", "delete", "schema", "settings", "rename", "drop", "restore", "set model",
                 "make key", "revoke key"]

_client: ContextVar[str] = ContextVar("banyan_client", default="")


class Entry(BaseModel):
    """A change."""

    model_config = ConfigDict(frozen=True)

    time: str
    """UTC, to the millisecond."""
    who: str
    """The name of the client's key; `local` where the server has none; `user:NAME` of the system's user otherwise."""
    action: Action
    knowledge_base: str = ""
    what: str = ""


@contextmanager
def acting(client: str) -> Iterator[None]:
    """Within the block, and in tasks and threads that begin in it, changes are a client's; empty: as around it.

    Args:
        client: the name of its key.
    """
    token = _client.set(client or _client.get())
    try:
        yield
    finally:
        _client.reset(token)


def client() -> str:
    """The client whose changes these are; empty: there is none."""
    return _client.get()


def record(home: Path, action: Action, knowledge_base: str = "", what: str = "") -> None:
    """Write down a change that was made; all processes of a home folder write in turn.

    Args:
        home: the folder of the log; it is made if it is not there.
        action: what was done.
        knowledge_base: to which one.
        what: to what of it, cut to `MAX_WHAT` characters.

    Raises:
        OSError: the log cannot be written.
    """
    entry = Entry(time=datetime.now(UTC).isoformat(timespec="milliseconds"), who=_client.get() or _system_user(),
                  action=action, knowledge_base=knowledge_base, what=what[:MAX_WHAT])
    line = json.dumps(entry.model_dump(exclude_defaults=True)) + "\n"
    home.mkdir(parents=True, exist_ok=True)
    path = home / FILE
    with FileLock(home / f"{FILE}.lock"):
        if path.exists() and path.stat().st_size + len(line) > MAX_BYTES:
            _rotate(home)
        with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "a+b") as file:  # noqa: PTH123
            if file.tell():
                file.seek(-1, os.SEEK_END)
                line = line if file.read() == b"\n" else f"\n{line}"  # the last one was cut short
            file.write(line.encode())


def entries(home: Path) -> Iterator[Entry]:
    """The changes, oldest first; of a line that a kill or a full disk cut short, nothing.

    Raises:
        OSError: a file of the log cannot be read.
    """
    with FileLock(home / f"{FILE}.lock"):  # else one is read twice, or not at all, while files are renamed
        files = [path for path in (*(_older(home, number) for number in range(KEPT, 0, -1)), home / FILE)
                 if path.exists()]
        texts = [path.read_text("utf-8") for path in files]
    for line in "".join(texts).splitlines():
        with suppress(ValidationError):
            yield Entry.model_validate_json(line)


def _rotate(home: Path) -> None:
    for number in range(KEPT, 0, -1):
        newer = _older(home, number - 1) if number > 1 else home / FILE
        if newer.exists():
            newer.replace(_older(home, number))


def _older(home: Path, number: int) -> Path:
    return home / f"audit.{number}.jsonl"


def _system_user() -> str:
    try:
        return f"user:{getpass.getuser()}"
    except (KeyError, OSError):  # one without a name, as in a container
        return f"user:{os.getuid()}"
