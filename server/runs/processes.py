"""The processes of a server, on one machine or several: each notes in the server's database that it runs."""

import time
import uuid

from sqlalchemy import Connection, text

from ..server_database import ServerDatabase

GONE = 10.0
"""Seconds after its last note in which a process still counts as running."""
_EVERY = 2.0
"""Seconds between two notes of a process."""


class Processes:
    """The processes that share a server's database, and the one that this object belongs to."""

    def __init__(self, database: ServerDatabase) -> None:
        """Create this process's id; nothing is noted yet."""
        self.id = uuid.uuid4().hex
        # The database's clock, because those of several machines may differ.
        self._now = ("CAST(extract(epoch FROM clock_timestamp()) AS BIGINT)" if database.is_shared
                     else "CAST(strftime('%s', 'now') AS INTEGER)")
        self._noted = self._judges_from = float("-inf")

    def note(self, connection: Connection) -> None:
        """Note that this process runs, as part of a transaction; to be called every second or so."""
        now = time.monotonic()
        if now < self._noted + _EVERY:
            return
        if now > self._noted + GONE / 2:  # what kept this process from its notes may have kept all others, too
            self._judges_from = now + GONE
        self._noted = now
        connection.execute(text(
            f"INSERT INTO banyan_processes (id, seen) VALUES (:id, {self._now}) "  # noqa: S608
            "ON CONFLICT (id) DO UPDATE SET seen = excluded.seen"), {"id": self.id})

    def running(self, connection: Connection) -> set[str]:
        """Return the ids of the processes that run, including this one, and forget those that have ended."""
        if time.monotonic() > self._judges_from:
            connection.execute(text(f"DELETE FROM banyan_processes WHERE seen < {self._now} - {GONE:.0f} "  # noqa: S608
                                    "AND id <> :id"), {"id": self.id})
        return {self.id, *connection.execute(text("SELECT id FROM banyan_processes")).scalars()}

    def leave(self, connection: Connection) -> None:
        """Note that this process ends."""
        connection.execute(text("DELETE FROM banyan_processes WHERE id = :id"), {"id": self.id})
