"""Keep a ledger in a SQLite file."""

import os
import sqlite3
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, create_engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from ..store_errors import LedgerDamagedError, UnknownKnowledgeBaseError, display_path
from .tables import METADATA

_IN_MEMORY = Path(":memory:")
_PAGE_BYTES = 1024
_TIMEOUT = 30  # seconds that one process waits for the others
PRIMARY_CODE = 0xFF  # selects the part of SQLite's error codes that is the same whatever the details are
_NO_ROOM = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN}
_WITHOUT_LOG = "ro&immutable=1"
"""The mode in which SQLite reads a file that has no write-ahead log, and does not create one."""

# `Database.transaction` begins and ends transactions, so the driver must not (isolation_level=None).
_open_file = partial(sqlite3.connect, check_same_thread=False, isolation_level=None, timeout=_TIMEOUT)


class SqliteLedger:
    """One connection to a file. SQLite's locking separates processes; with WAL, readers continue during a write."""

    begin = "BEGIN IMMEDIATE"
    identity = ""
    """The ledger's id; "" because its folder identifies it."""

    def __init__(self, path: Path, create: bool) -> None:
        """Open a file.

        Raises:
            UnknownKnowledgeBaseError: the file is missing and `create` is False.
            LedgerDamagedError: the file is not a SQLite database.
        """
        self._path = path
        self._is_without_log = False
        self._file = _connect(path, create)
        try:
            self._prepare_within_disk(create)
            engine = create_engine("sqlite://", creator=lambda: self._file, poolclass=StaticPool,
                                   isolation_level="AUTOCOMMIT")
            self.connection: Connection = engine.connect()
        except BaseException:
            self._file.close()
            raise
        self._identity = _identity(path)

    def _prepare_within_disk(self, create: bool) -> None:
        """Prepare the connection; if the disk is too full for SQLite's write-ahead log, open the file read-only."""
        try:
            self._prepare()
        except sqlite3.OperationalError as error:
            if create or self._has_log() or error.sqlite_errorcode & PRIMARY_CODE not in _NO_ROOM:
                raise  # in this mode, the rows in a log would be missing
            self._file.close()
            self._is_without_log = True
            self._file = _open_file(f"{self._path.absolute().as_uri()}?mode={_WITHOUT_LOG}", uri=True)

    def _has_log(self) -> bool:
        log = self._path.with_name(f"{self._path.name}-wal")
        return log.exists() and log.stat().st_size > 0  # an attempt on a full disk leaves an empty one

    def _prepare(self) -> None:
        """Set SQLite's options for this connection, and read once to see that the file is a database."""
        try:
            if is_on_read_only_disk(self._path):
                self._file.execute("PRAGMA user_version").fetchone()
                return
            # Applies to new files. Commits are small and SQLite writes whole pages, so small pages save writing.
            self._file.execute(f"PRAGMA page_size={_PAGE_BYTES}")
            write_ahead(self._file)
            self._file.execute("PRAGMA foreign_keys=ON")
            # Overwrite deleted data, which would otherwise stay in the file and its backups.
            self._file.execute("PRAGMA secure_delete=ON")
            # With WAL, NORMAL prevents corruption; FULL also preserves the last commit in a power failure.
            self._file.execute("PRAGMA synchronous=FULL")
            # Sort in memory instead of in a file, because results are read into memory anyway.
            self._file.execute("PRAGMA temp_store=MEMORY")
            self._file.execute("PRAGMA user_version").fetchone()
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            raise LedgerDamagedError(f"{self.name} is not a readable ledger ({error})") from error

    def close(self) -> None:
        """Close the file."""
        self.connection.close()
        self._file.close()

    @property
    def name(self) -> str:
        """The file's name for messages."""
        return display_path(self._path)

    @property
    def gone(self) -> bool:
        """True if the file was deleted or replaced, or if this connection would not see new changes.

        The latter happens if it was opened without a log, on a full disk, and another process now writes to one.
        """
        return _identity(self._path) != self._identity or (self._is_without_log and self._has_log())

    @property
    def in_transaction(self) -> bool:
        """True if a transaction is open."""
        return self._file.in_transaction

    def explain_error(self, error: SQLAlchemyError) -> BaseException:
        """Return the error to raise instead of a database error."""
        cause = (error.orig if isinstance(error, DBAPIError) else None) or error
        if self._is_without_log and getattr(cause, "sqlite_errorcode", 0) == sqlite3.SQLITE_READONLY:
            # The file is open read-only because the disk had no room for a log (see `_prepare_within_disk`).
            return sqlite3.OperationalError(f"the disk of {self.name} is full")
        # A malformed file raises the base class; text that is not UTF-8 was damaged after it was written.
        if type(cause) is sqlite3.DatabaseError or "decode to UTF-8" in str(cause):
            return LedgerDamagedError(f"the ledger {self.name} is damaged ({str(cause).partition(' with text')[0]})")
        return cause

    def create(self) -> None:
        """Create the tables."""
        METADATA.create_all(self.connection, checkfirst=False)

    def format(self) -> int:
        """Return the number of the ledger's format, or 0 if it has no tables yet."""
        return self._number("PRAGMA user_version")

    def set_format(self, number: int) -> None:
        """Store the number of the ledger's format."""
        self.connection.exec_driver_sql(f"PRAGMA user_version={number}")

    def columns(self) -> set[tuple[str, str]]:
        """Return the names of all tables and columns."""
        return {(table, column) for table, column in self.connection.exec_driver_sql(
            "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'")}

    def freeze(self) -> None:
        """Read only the current state from now on; the write-ahead log grows until this is closed."""
        self.connection.exec_driver_sql("BEGIN")
        # SQLite fixes the state at the first read.
        self._number("SELECT count(*) FROM meta")

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
        lines = [str(row[0]) for row in run("PRAGMA integrity_check")]
        broken_references = [f"table {row[0]}, row {row[1]}: refers to a missing {row[2]}"
                             for row in run("PRAGMA foreign_key_check")]
        is_cut = self._path.stat().st_size % self._number("PRAGMA page_size") != 0
        return [*(["its file was cut inside its last page"] if is_cut else []),
                *(line for line in lines if line != "ok"), *broken_references]

    def _number(self, sql: str) -> int:
        return int(self.connection.exec_driver_sql(sql).scalar_one())


def _connect(path: Path, create: bool) -> sqlite3.Connection:
    """Open a file, and create it if `create` is True."""
    if create:
        if path != _IN_MEMORY:
            make_private(path)
        return _open_file(path)
    try:
        return _open_file(address_of(path), uri=True)
    except sqlite3.OperationalError:
        if path.exists():
            raise
        raise UnknownKnowledgeBaseError(path.parent.name, path.parent.parent) from None


def address_of(path: Path) -> str:
    """Return the URI with which SQLite opens an existing file, even on a read-only disk.

    On such a disk SQLite cannot create its write-ahead log; it needs none unless one is already there.
    """
    mode = "rw"
    if is_on_read_only_disk(path):
        mode = "ro" if path.with_name(f"{path.name}-wal").exists() else _WITHOUT_LOG
    return f"{path.absolute().as_uri()}?mode={mode}"


def is_on_read_only_disk(path: Path) -> bool:
    """Return True if a file exists on a file system that is mounted read-only."""
    return hasattr(os, "statvfs") and path.exists() and bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def make_private(path: Path) -> None:
    """Create a missing file so only its owner can read it; SQLite gives its logs the same permissions."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))


def _identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode, which identify a file, or None if it is missing."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def write_ahead(connection: sqlite3.Connection) -> None:
    """Switch a database to write-ahead logging.

    For this statement SQLite does not wait while another process switches the same new file, so it is retried.

    Raises:
        sqlite3.OperationalError: the database stays locked for too long.
    """
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
