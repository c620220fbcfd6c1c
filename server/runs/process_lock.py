"""Detection of a server's running processes, and locks between them; the system releases both when a process ends.

Processes of one home folder lock files. Servers on several machines hold advisory locks of PostgreSQL, which end with
their session.
"""

import asyncio
import threading
import uuid
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio.to_thread
from filelock import FileLock, Timeout
from pydantic import SecretStr
from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from ...graph_store.postgresql_bases import connect, explain_error
from ...graph_store.store_errors import DatabaseError

UPLOADS = ".uploads"
"""The folder of the locks in the home folder; no knowledge base can have this name."""
_POLL = 0.2
"""Seconds between checks whether a lock is free."""
_SEED = 3
"""The seed of these locks' keys; locks of ledgers have another."""


class ProcessLock(ABC):
    """The locks of this process, whose id marks what it writes for others. Safe to use from several threads."""

    def __init__(self) -> None:
        """Create an id; nothing is locked yet."""
        self.id = uuid.uuid4().hex
        self.past: set[str] = set()
        """Earlier ids of this process, whose builds it no longer runs."""

    @abstractmethod
    def acquire(self) -> None:
        """Mark this process as running; with a new id if others may have seen it end."""

    @abstractmethod
    def release(self) -> None:
        """Mark this process as ended."""

    @abstractmethod
    def holds(self) -> bool:
        """Return True if this process still counts as running and holds its locks."""

    @abstractmethod
    def runs(self, process: str) -> bool:
        """Return True if the process with this id, this one or another, is running."""

    @abstractmethod
    def try_lock(self, name: str) -> bool:
        """Take a lock unless any process holds it, including this one; return True on success."""

    @abstractmethod
    def unlock(self, name: str) -> None:
        """Release a lock."""


class FileProcessLock(ProcessLock):
    """The locks of the processes that serve one home folder."""

    def __init__(self, home: Path) -> None:
        """Set the folder; nothing is locked yet."""
        super().__init__()
        self._folder = home / UPLOADS
        self._lock = FileLock(self._of(self.id), thread_local=False)
        self._held: dict[str, FileLock] = {}

    def acquire(self) -> None:
        """Mark this process as running; see `ProcessLock`."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock.acquire()

    def release(self) -> None:
        """Mark this process as ended; see `ProcessLock`."""
        self._of(self.id).unlink(missing_ok=True)
        self._lock.release()

    def holds(self) -> bool:
        """See `ProcessLock`."""
        return True

    def runs(self, process: str) -> bool:
        """See `ProcessLock`."""
        if process == self.id:
            return True
        if not process or not self._of(process).exists():
            return False
        try:
            with FileLock(self._of(process), blocking=False):
                return False
        except Timeout:
            return True

    def try_lock(self, name: str) -> bool:
        """See `ProcessLock`."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._of(name).parent.mkdir(exist_ok=True)
        lock = FileLock(self._of(name), thread_local=False)
        with suppress(Timeout):
            lock.acquire(blocking=False)
            self._held[name] = lock
            return True
        return False

    def unlock(self, name: str) -> None:
        """See `ProcessLock`."""
        self._held.pop(name).release()

    def _of(self, name: str) -> Path:
        return self._folder / f"{name}.lock"


class SessionProcessLock(ProcessLock):
    """The locks of servers that share a PostgreSQL database; a lost session loses all locks, so the id changes."""

    def __init__(self, url: SecretStr) -> None:
        """Set the address; nothing is locked yet."""
        super().__init__()
        self._url = url
        self._session: Connection | None = None
        self._held: set[str] = set()
        self._lock = threading.Lock()

    def acquire(self) -> None:
        """See `ProcessLock`.

        Raises:
            DatabaseError: the server does not answer.
        """
        with self._lock:
            self._close()
            session, process = connect(self._url), uuid.uuid4().hex
            self.past.add(self.id)
            self._session, self.id = session, process
            self._ask("SELECT pg_advisory_lock({})", process)

    def release(self) -> None:
        """See `ProcessLock`."""
        with self._lock:
            with suppress(DatabaseError):  # a lost session holds none
                # Closing a session alone would release them only once the server has noticed.
                self._ask("SELECT pg_advisory_unlock_all()", "")
            self._close()

    def holds(self) -> bool:
        """See `ProcessLock`."""
        with self._lock, suppress(DatabaseError):
            return self._ask("SELECT true", "")
        return False

    def runs(self, process: str) -> bool:
        """See `ProcessLock`.

        Raises:
            DatabaseError: the server does not answer.
        """
        if process == self.id:
            return True
        with self._lock:
            # A shared lock, so several processes can check at once. It ends with the statement.
            return not self._ask("SELECT pg_try_advisory_xact_lock_shared({})", process)

    def try_lock(self, name: str) -> bool:
        """See `ProcessLock`.

        Raises:
            DatabaseError: the server does not answer.
        """
        with self._lock:
            # PostgreSQL would grant the same session a lock again.
            if name in self._held or not self._ask("SELECT pg_try_advisory_lock({})", name):
                return False
            self._held.add(name)
            return True

    def unlock(self, name: str) -> None:
        """See `ProcessLock`."""
        with self._lock, suppress(DatabaseError):  # a lost session no longer holds it
            if name in self._held:
                self._held.remove(name)
                self._ask("SELECT pg_advisory_unlock({})", name)

    def _ask(self, question: str, name: str) -> bool:
        if self._session is None:
            raise DatabaseError("the session with the PostgreSQL server of BANYAN_DATABASE_URL was lost: it is opened "
                                "again as soon as the server answers")
        try:
            statement = text(question.format(f"hashtextextended(:name, {_SEED})"))
            values = {"name": name} if "{}" in question else {}
            return self._session.execute(statement, values).scalar_one() is not False
        except SQLAlchemyError as error:
            self._close()
            raise explain_error(error, self._url, lost=True) from None

    def _close(self) -> None:
        self._held.clear()
        if self._session is not None:
            self._session.close()
            self._session = None


def kb_lock(kb: str) -> str:
    """Return the name of the lock to hold while building a knowledge base."""
    return f"read/{kb}"


@asynccontextmanager
async def holding_one(process: ProcessLock, names: Sequence[str]) -> AsyncIterator[None]:
    """Hold one of several locks, shared by all processes, as soon as one is free.

    Raises:
        DatabaseError: the server that holds them does not answer.
    """
    while (held := await anyio.to_thread.run_sync(_take_one, process, names)) is None:
        await asyncio.sleep(_POLL)
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(process.unlock, held)


def _take_one(process: ProcessLock, names: Sequence[str]) -> str | None:
    return next((name for name in names if process.try_lock(name)), None)
