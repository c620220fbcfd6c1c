"""A ledger in a SQLite file."""

import os
import sqlite3
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, create_engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from ..errors import LedgerDamagedError, UnknownKnowledgeBaseError, display_path
from .tables import METADATA

_IN_MEMORY = Path(":memory:")
_PAGE_BYTES = 1024
_TIMEOUT = 30  # seconds that one process waits for the others


class SqliteLedger:
    """One connection to a file. SQLite's own locking separates processes: WAL lets readers read while one writes."""

    begin = "BEGIN IMMEDIATE"
    identity = ""
    """What tells the ledger from others; empty: its folder does."""

    def __init__(self, path: Path, create: bool) -> None:
        """Open a file.

        Args:
            path: the file.
            create: make it, if there is none.

        Raises:
            UnknownKnowledgeBaseError: there is none, and it is not to be made.
            LedgerDamagedError: it is no database.
        """
        self._path = path
        self._file = _connected(path, create)
        try:
            self._prepare()
            engine = create_engine("sqlite://", creator=lambda: self._file, poolclass=StaticPool,
                                   isolation_level="AUTOCOMMIT")
            self.connection: Connection = engine.connect()
        except BaseException:
            self._file.close()
            raise
        self._identity = _identity(path)

    def _prepare(self) -> None:
        try:
            # Of a new file: commits are small and SQLite writes whole pages, so small ones are less to write.
            self._file.execute(f"PRAGMA page_size={_PAGE_BYTES}")
            write_ahead(self._file)
            self._file.execute("PRAGMA foreign_keys=ON")
            # What is deleted is overwritten: else it stays in the file, and in its backups, until the room is needed.
            self._file.execute("PRAGMA secure_delete=ON")
            # WAL with NORMAL never corrupts; FULL would also keep the last commit through a power cut.
            self._file.execute("PRAGMA synchronous=FULL")
            # What is read in an order would else be sorted in a file; it comes into memory anyway.
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
        """The file as messages name it."""
        return display_path(self._path)

    @property
    def gone(self) -> bool:
        """Whether its path has no file any more, or another one."""
        return _identity(self._path) != self._identity

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._file.in_transaction

    def explained(self, error: SQLAlchemyError) -> BaseException:
        """What went wrong, as the rest of Banyan is to hear it."""
        cause = (error.orig if isinstance(error, DBAPIError) else None) or error
        # A malformed file is of no subclass; text that is no UTF-8 was damaged after it was written.
        if type(cause) is sqlite3.DatabaseError or "decode to UTF-8" in str(cause):
            return LedgerDamagedError(f"the ledger {self.name} is damaged ({str(cause).partition(' with text')[0]})")
        return cause

    def create(self) -> None:
        """Make the tables."""
        METADATA.create_all(self.connection, checkfirst=False)

    def go_on_counting(self) -> None:
        """SQLite does so by itself."""

    def format(self) -> int:
        """The number of its format; 0: it has no tables yet."""
        return self._number("PRAGMA user_version")

    def set_format(self, number: int) -> None:
        """Note the number of its format."""
        self.connection.exec_driver_sql(f"PRAGMA user_version={number}")

    def has_column(self, table: str, column: str) -> bool:
        """Return True if a table has a column of that name."""
        return bool(self._number(f"SELECT count(*) FROM pragma_table_info('{table}') WHERE name = '{column}'"))  # noqa: S608

    def freeze(self) -> None:
        """Begin to read it as it is now; the write-ahead log grows by what others write, until it is closed."""
        self.connection.exec_driver_sql("BEGIN")
        # SQLite fixes the moment at the first read.
        self._number("SELECT count(*) FROM meta")

    def checkpoint(self) -> None:
        """Empty the write-ahead log into the file, as far as readers allow it; nobody is waited for."""
        self.connection.exec_driver_sql("PRAGMA busy_timeout=0")
        try:
            self.connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self.connection.exec_driver_sql(f"PRAGMA busy_timeout={_TIMEOUT * 1000}")

    def problems(self) -> list[str]:
        """What SQLite's own checks find wrong with the file; it fills up a cut last page without a word."""
        run = self.connection.exec_driver_sql
        lines = [str(row[0]) for row in run("PRAGMA integrity_check")]
        broken = [f"table {row[0]}, row {row[1]}: refers to a missing {row[2]}"
                  for row in run("PRAGMA foreign_key_check")]
        cut = self._path.stat().st_size % self._number("PRAGMA page_size")
        return [*(["its file was cut inside its last page"] if cut else []), *(line for line in lines if line != "ok"),
                *broken]

    def _number(self, sql: str) -> int:
        return int(self.connection.exec_driver_sql(sql).scalar_one())


def _connected(path: Path, create: bool) -> sqlite3.Connection:
    # Transactions are ours (isolation_level=None): `Database.transaction` says where they begin and end.
    connect = partial(sqlite3.connect, check_same_thread=False, isolation_level=None, timeout=_TIMEOUT)
    if create:
        if path != _IN_MEMORY:
            make_private(path)
        return connect(path)
    try:
        return connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)
    except sqlite3.OperationalError:
        if path.exists():
            raise
        raise UnknownKnowledgeBaseError(path.parent.name, path.parent.parent) from None


def make_private(path: Path) -> None:
    """Make an empty file that its owner alone can read, if there is none; SQLite gives its logs the same rights."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))


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
