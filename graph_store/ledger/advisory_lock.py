"""The writer's lock of a ledger in PostgreSQL. The server releases it when the connection ends."""

import time
from contextlib import suppress

from filelock import Timeout

from ..postgresql_bases import WRITER, LedgerSchema
from ..store_errors import DatabaseError
from .database import Database

_PAUSES = (0.1, 0.4, 0)
"""Seconds to wait after each try: the server notices late that a writer was killed."""


class AdvisoryLock:
    """The lock that a connection holds, used like a `FileLock`: may be nested."""

    def __init__(self, database: Database, schema: LedgerSchema) -> None:
        """Hold nothing yet."""
        self._db = database
        self._key = schema.key(WRITER)
        self.lock_counter = 0

    def acquire(self) -> None:
        """Hold it once more.

        Raises:
            Timeout: another connection holds it.
        """
        if not self.lock_counter and not any(self._try(pause) for pause in _PAUSES):
            raise Timeout(self._key)
        self.lock_counter += 1

    def _try(self, pause: float) -> bool:
        """Return True if the lock was free, or wait."""
        if self._db.scalar(f"SELECT pg_try_advisory_lock({self._key})"):
            return True
        time.sleep(pause)
        return False

    def release(self, force: bool = False) -> None:
        """Hold it once less; with `force` not at all."""
        if self.lock_counter:
            self.lock_counter = 0 if force else self.lock_counter - 1
            if not self.lock_counter:
                with suppress(DatabaseError):  # a lost connection has released it
                    self._db.scalar(f"SELECT pg_advisory_unlock({self._key})")
