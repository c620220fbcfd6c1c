"""The ledger's SQLite database: connection, tables, transactions."""

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..errors import FormatError, LedgerDamagedError, named
from .tables import MIGRATIONS, TABLES

FORMAT = 1 + len(MIGRATIONS)
_PAGE_BYTES = 1024
_TIMEOUT = 30  # seconds that one process waits for the others


class Database:
    """One connection to a ledger, shared by the threads of this process.

    SQLite's own locking separates processes: WAL lets readers read while the writer writes. A re-entrant
    lock keeps this process's threads from mixing their statements in one transaction.
    """

    def __init__(self, path: Path, migrations: Sequence[str] = MIGRATIONS) -> None:
        """Open a ledger, creating its tables in a new file, and bringing those of an older format up.

        Raises:
            FormatError: it has a later format.
            LedgerDamagedError: it is not a ledger.
        """
        self._path = path
        self._lock = threading.RLock()
        self._depth = 0
        # Transactions are ours (isolation_level=None): `transaction` says where they begin and end.
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=_TIMEOUT)
        self._connection.row_factory = sqlite3.Row
        try:
            self._prepare(path, migrations)
        except BaseException:
            self._connection.close()
            raise
        self._file = _identity(path)

    @property
    def gone(self) -> bool:
        """Whether its path has no file any more, or another one: the knowledge base was dropped or renamed."""
        return _identity(self._path) != self._file

    def _prepare(self, path: Path, migrations: Sequence[str]) -> None:
        try:
            # Of a new file: commits are small and SQLite writes whole pages, so small ones are less to write.
            self._connection.execute(f"PRAGMA page_size={_PAGE_BYTES}")
            write_ahead(self._connection)
            self._connection.execute("PRAGMA foreign_keys=ON")
            # WAL with NORMAL never corrupts; FULL would also keep the last commit through a power cut.
            self._connection.execute("PRAGMA synchronous=FULL")
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            raise LedgerDamagedError(f"{named(path)} is not a readable ledger ({error})") from error
        formats = 1 + len(migrations)
        if version > formats:
            raise FormatError(f"{named(path)} has format {version}; this version of Banyan reads formats up to "
                              f"{formats}: use the version that wrote it, or a later one")
        if version < formats:
            self._migrate((TABLES, *migrations))

    def _migrate(self, steps: Sequence[str]) -> None:
        """Bring a new or older ledger to the present format, in one transaction; step n makes format n."""
        with self.transaction():
            # Read again inside: another process may have been quicker.
            for step in steps[self.count("PRAGMA user_version"):]:
                self._run(step)
            self._connection.execute(f"PRAGMA user_version={len(steps)}")

    def _run(self, statements: str) -> None:
        for statement in statements.split(";"):
            self._connection.execute(statement)

    def close(self) -> None:
        """Close the connection; further use is an error."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing: commits at the end, rolls back on any exception. May be nested."""
        with self._lock:
            if self._depth == 0:
                self._connection.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield
                if self._depth == 1:
                    self._connection.execute("COMMIT")
            except BaseException:
                # A full disk fails the COMMIT itself and leaves the transaction open.
                if self._depth == 1 and self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            finally:
                self._depth -= 1

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            # A malformed file is of no subclass; text that is no UTF-8 was damaged after it was written.
            if type(error) is sqlite3.DatabaseError or "decode to UTF-8" in str(error):
                cause = str(error).partition(" with text")[0]
                raise LedgerDamagedError(f"the ledger {named(self._path)} is damaged ({cause})") from error
            raise

    def freeze(self) -> None:
        """From here on this connection reads the ledger as it is now, whatever others commit; it cannot write.

        Until it is closed, the ledger's write-ahead log grows by what others write.
        """
        with self._lock:
            self._connection.execute("BEGIN")
            # SQLite fixes the moment at the first read.
            self._connection.execute("SELECT count(*) FROM meta").fetchone()

    def rows(self, sql: str, *values: object) -> list[sqlite3.Row]:
        """The rows of a query."""
        with self._lock, self._explained():
            return self._connection.execute(sql, values).fetchall()

    def scalar(self, sql: str, *values: object) -> object:
        """The first column of the first row of a query, or None."""
        with self._lock, self._explained():
            row = self._connection.execute(sql, values).fetchone()
        return row[0] if row else None

    def count(self, sql: str, *values: object) -> int:
        """A query's single number."""
        return int(str(self.scalar(sql, *values) or 0))

    def execute(self, sql: str, *values: object) -> int:
        """Run one statement; returns the number of rows it changed."""
        with self._lock, self._explained():
            return self._connection.execute(sql, values).rowcount

    def execute_many(self, sql: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Run one statement for many rows of values."""
        with self._lock, self._explained():
            self._connection.executemany(sql, rows)

    def changes(self) -> int:
        """A number that grows with each row that this connection changes."""
        with self._lock:
            return self._connection.total_changes

    def state(self) -> int | None:
        """A number that changes when another connection commits; None inside a transaction of ours."""
        with self._lock:
            return None if self._depth else self.count("PRAGMA data_version")

    def get_meta(self, key: str) -> str | None:
        """A stored setting of the knowledge base, or None."""
        value = self.scalar("SELECT value FROM meta WHERE key = ?", key)
        return None if value is None else str(value)

    def set_meta(self, key: str, value: str) -> None:
        """Store a setting of the knowledge base."""
        self.execute("INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value "
                     "WHERE value <> excluded.value",
                     key, value)

    def integrity_problems(self) -> list[str]:
        """What SQLite's own checks find wrong with the file; empty when sound."""
        lines = [str(row[0]) for row in self.rows("PRAGMA integrity_check")]
        broken = [f"table {row[0]}, row {row[1]}: refers to a missing {row[2]}"
                  for row in self.rows("PRAGMA foreign_key_check")]
        return [line for line in lines if line != "ok"] + broken


def _identity(path: Path) -> tuple[int, int] | None:
    """What tells a file from any other; None: there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def write_ahead(connection: sqlite3.Connection) -> None:
    """Set the write-ahead log of a database.

    SQLite does not wait here, as it does elsewhere, for others that set it on the same new file.

    Raises:
        sqlite3.OperationalError: others hold it for too long.
    """
    until = time.monotonic() + _TIMEOUT
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return
