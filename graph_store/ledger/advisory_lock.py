"""The writer's lock of a ledger that is in no file."""

from .database import Database


class AdvisoryLock:
    """The lock that a connection to a database server holds, used like a `FileLock`: may be nested."""

    def __init__(self, database: Database) -> None:
        """Hold nothing yet."""
        self._db = database
        self.lock_counter = 0

    def acquire(self) -> None:
        """Hold it once more.

        Raises:
            Timeout: another connection holds it.
        """
        if not self.lock_counter:
            self._db.lock()
        self.lock_counter += 1

    def release(self, force: bool = False) -> None:
        """Hold it once less; with `force` not at all."""
        if self.lock_counter:
            self.lock_counter = 0 if force else self.lock_counter - 1
            if not self.lock_counter:
                self._db.unlock()
