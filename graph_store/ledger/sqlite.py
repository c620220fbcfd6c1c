"""Keep a ledger in a SQLite file."""

import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path

from sqlalchemy import Connection, create_engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from ..store_errors import LedgerDamagedError, UnknownKnowledgeBaseError, display_path
from .tables import create_tables

_IN_MEMORY = Path(":memory:")
_TIMEOUT = 30  # seconds that one process waits for the others
PRIMARY_CODE = 0xFF  # selects the part of SQLite's error codes that is the same whatever the details are
_NOT_WRITABLE = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}
_OPTIONS = (
    "foreign_keys=ON",
    "secure_delete=ON",  # overwrite deleted data, which would otherwise stay in the file and its backups
    # With WAL, NORMAL prevents corruption; FULL also preserves the last commit in a power failure.
    "synchronous=FULL",
    "temp_store=MEMORY",  # sort in memory instead of in a file, because results are read into memory anyway
)


class SqliteLedger:
    """One connection to a file. SQLite's locking separates processes; with WAL, readers continue during a write."""

    begin = "BEGIN IMMEDIATE"
    begin_frozen = "BEGIN"
    identity = ""  # the ledger's id; "" because its folder identifies it

    def __init__(self, path: Path, create: bool) -> None:
        self._path = path
        self.name = display_path(path)
        self._is_read_only = False
        if create and path != _IN_MEMORY:
            make_private(path)
        elif not create and not path.exists():
            raise UnknownKnowledgeBaseError(path.parent.name, path.parent.parent)
        try:
            self._file = self._connect("rw")
        except sqlite3.OperationalError as error:
            # With `create` the caller means to write, which reading alone would not serve.
            if create or error.sqlite_errorcode & PRIMARY_CODE not in _NOT_WRITABLE:
                raise
            self._is_read_only = True  # its disk is read-only, or too full for SQLite's write-ahead log
            # An immutable file is read without creating a log; but what a log has already would not be seen.
            self._file = self._connect("ro" if self._has_log() else "ro&immutable=1")
        except sqlite3.DatabaseError as error:
            raise LedgerDamagedError(f"the ledger {self.name} is damaged ({error})") from error
        self.connection: Connection = create_engine("sqlite://", creator=lambda: self._file, poolclass=StaticPool,
                                                    isolation_level="AUTOCOMMIT").connect()
        self._identity = _file_identity(path)

    def _has_log(self) -> bool:
        """Return True if the write-ahead log has anything that is not in the file yet."""
        log = self._path.with_name(f"{self._path.name}-wal")
        return log.exists() and log.stat().st_size > 0  # an attempt on a full disk leaves an empty one

    def _connect(self, mode: str) -> sqlite3.Connection:
        """Connect to the file, set SQLite's options, and read once to find out whether it is a database."""
        address = f"{self._path.absolute().as_uri()}?mode={mode}" if self._path != _IN_MEMORY else "file::memory:"
        # `Database.transaction` begins and ends transactions, so the driver must not (isolation_level=None).
        file = sqlite3.connect(address, uri=True, check_same_thread=False, isolation_level=None, timeout=_TIMEOUT)
        try:
            if mode == "rw":
                # Applies to new files. Commits are small and SQLite writes whole pages, so small pages save writing.
                file.execute("PRAGMA page_size=1024")
                write_ahead(file)
                for option in _OPTIONS:
                    file.execute(f"PRAGMA {option}")
            file.execute("PRAGMA user_version").fetchone()
        except BaseException:
            file.close()
            raise
        return file

    def close(self) -> None:
        """Close the file."""
        self.connection.close()
        self._file.close()

    @property
    def gone(self) -> bool:
        """True if the file was deleted or replaced, or is open for reading alone and another process writes to it."""
        return _file_identity(self._path) != self._identity or (self._is_read_only and self._has_log())

    @property
    def in_transaction(self) -> bool:
        """True if a transaction is open."""
        return self._file.in_transaction

    def explain_error(self, error: SQLAlchemyError) -> BaseException:
        """Return the error to raise instead of a database error."""
        cause = (error.orig if isinstance(error, DBAPIError) else None) or error
        if self._is_read_only and getattr(cause, "sqlite_errorcode", 0) == sqlite3.SQLITE_READONLY:
            return sqlite3.OperationalError(f"the disk of {self.name} is full or read-only")
        # A malformed file raises the base class; text that is not UTF-8 was damaged after it was written.
        if type(cause) is sqlite3.DatabaseError or "decode to UTF-8" in str(cause):
            return LedgerDamagedError(f"the ledger {self.name} is damaged ({str(cause).partition(' with text')[0]})")
        return cause

    def format(self) -> int:
        """Return the number of the ledger's format, or 0 if it has no tables yet."""
        return int(self.connection.exec_driver_sql("PRAGMA user_version").scalar_one())

    def create(self, number: int) -> None:
        """Create the tables of a format."""
        create_tables(self.connection)
        self.connection.exec_driver_sql(f"PRAGMA user_version={number}")

    def checkpoint(self) -> None:
        """Move the write-ahead log into the file, as far as possible without waiting for readers."""
        self.connection.exec_driver_sql("PRAGMA busy_timeout=0")
        try:
            self.connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self.connection.exec_driver_sql(f"PRAGMA busy_timeout={_TIMEOUT * 1000}")

    def problems(self) -> list[str]:
        """Return the problems that SQLite's checks find, and whether the last page is cut, which they do not report."""
        run = self.connection.exec_driver_sql
        is_cut = self._path.stat().st_size % run("PRAGMA page_size").scalar_one() != 0
        return [*(["its file was cut inside its last page"] if is_cut else []),
                *(str(row[0]) for row in run("PRAGMA integrity_check") if row[0] != "ok"),
                *(f"table {row[0]}, row {row[1]}: refers to a missing {row[2]}"
                  for row in run("PRAGMA foreign_key_check"))]


def make_private(path: Path) -> None:
    """Create a missing file so only its owner can read it; SQLite gives its logs the same permissions."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))


def _file_identity(path: Path) -> tuple[int, int] | None:
    """Return the device and number of a file, which a new file of the name does not share; None if it is missing."""
    with suppress(FileNotFoundError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return None


def write_ahead(connection: sqlite3.Connection) -> None:
    """Switch a database to write-ahead logging; retry, as SQLite does not wait while another process does the same."""
    until = time.monotonic() + _TIMEOUT
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & PRIMARY_CODE != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return
