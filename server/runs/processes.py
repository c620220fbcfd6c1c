"""The processes of a server: on one machine each locks a file, on several each notes in PostgreSQL that it runs."""

import time
import uuid
from pathlib import Path

from filelock import FileLock, Timeout
from sqlalchemy import Connection, text

from ..server_database import ServerDatabase

GONE = 20.0
"""Seconds after its last note in PostgreSQL in which a process still counts as running."""
_EVERY = 2.0
"""Seconds between two notes of a process."""
_FOLDER = ".uploads"
"""The folder of the locks in the home folder; no knowledge base can have this name."""
_NOW = "CAST(extract(epoch FROM clock_timestamp()) AS BIGINT)"  # the clocks of several machines may differ


class Processes:
    """The processes that share a server's database, and the one that this object belongs to."""

    def __init__(self, database: ServerDatabase) -> None:
        """Create this process's id; nobody sees yet that it runs."""
        self.id = uuid.uuid4().hex
        self._folder = database.place.parent / _FOLDER if isinstance(database.place, Path) else None
        self._lock = FileLock(self._folder / f"{self.id}.lock", thread_local=False) if self._folder else None
        self._noted = self._trusts_notes_from = float("-inf")

    def note(self, connection: Connection) -> None:
        """Show that this process runs, as part of a transaction; to be called every second or so.

        Processes on one machine show it by a locked file, which the system releases when they end. Those that share
        PostgreSQL show it by the time in a row.
        """
        if self._folder and self._lock:
            if not self._lock.is_locked:
                self._folder.mkdir(mode=0o700, exist_ok=True)
                self._lock.acquire()
            return
        now = time.monotonic()
        if now < self._noted + _EVERY:
            return
        if now > self._noted + GONE / 2:
            # What kept this process from its notes may have kept all others, too. Until they had time to note again, it
            # declares none of them ended.
            self._trusts_notes_from = now + GONE
        self._noted = now
        connection.execute(text(f"INSERT INTO banyan_processes (id, seen) VALUES (:id, {_NOW}) "  # noqa: S608
                                "ON CONFLICT (id) DO UPDATE SET seen = excluded.seen"), {"id": self.id})

    def running(self, connection: Connection) -> set[str]:
        """Return the ids of the processes that run, including this one, and forget those that have ended."""
        if self._folder:
            return {self.id, *(file.stem for file in self._folder.glob("*.lock") if _is_held(file))}
        if time.monotonic() > self._trusts_notes_from:
            connection.execute(text(f"DELETE FROM banyan_processes WHERE seen < {_NOW} - {GONE:.0f} "  # noqa: S608
                                    "AND id <> :id"), {"id": self.id})
        return {self.id, *connection.execute(text("SELECT id FROM banyan_processes")).scalars()}

    def leave(self, connection: Connection) -> None:
        """Show that this process ends."""
        if self._lock:
            Path(self._lock.lock_file).unlink(missing_ok=True)
            self._lock.release()
        else:
            connection.execute(text("DELETE FROM banyan_processes WHERE id = :id"), {"id": self.id})


def _is_held(file: Path) -> bool:
    """Return True if a process holds a lock; the file of one that no process holds is deleted."""
    try:
        with FileLock(file, blocking=False):
            file.unlink(missing_ok=True)
            return False
    except Timeout:
        return True
