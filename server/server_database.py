"""The server's own data outside of knowledge bases (conversations, builds, uploads), shared by all its processes.

By default this is the file `server.sqlite` in the home folder. With BANYAN_DATABASE_URL it is the schema `banyan` in
that PostgreSQL database, which servers on several machines share. Statements are SQL that both support.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy
from pydantic import SecretStr
from sqlalchemy import BigInteger, Column, Connection, Index, Integer, LargeBinary, MetaData, Table, event, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from ..config import Settings
from ..graph_store.ledger.postgresql import engine, explain_error
from ..graph_store.ledger.sqlite import make_private, write_ahead
from ..graph_store.ledger.tables import TEXT

FILE = "server.sqlite"  # in the home folder; no knowledge base can have this name
SCHEMA = "banyan"  # in PostgreSQL; the schemas of ledgers have longer names
_TIMEOUT = 30.0  # seconds that a transaction waits for others
_CONNECTIONS, _MORE_CONNECTIONS = 5, 20  # connections to PostgreSQL that stay open, and further ones during bursts
_CREATION_LOCK = 0x62616E79616E  # the advisory lock to hold while creating the tables: "banyan" in ASCII
_READ_ONLY = "banyan_reading"  # our own option of a connection, which `_sqlite_engine` reads
METADATA = MetaData()


def _text(name: str, *, key: bool = False) -> Column[str]:
    return Column(name, TEXT, primary_key=key, nullable=False)


def _number_key(name: str) -> Column[int]:
    return Column(name, Integer, primary_key=True, nullable=False, autoincrement=False)


CONVERSATIONS = Table(
    "banyan_conversations", METADATA, _text("id", key=True), _text("client"), _text("kb"), _text("name"),
    _text("title"), Column("link", TEXT, unique=True), _text("started_at"), _text("used_at"))
TURNS = Table(
    "banyan_turns", METADATA, _text("conversation", key=True), _number_key("number"), _text("asked_at"),
    _text("question"), _text("answer"), Column("rating", Integer, nullable=False, server_default=text("0")))
JOBS = Table(
    "banyan_builds", METADATA, _text("id", key=True), _text("kb"), _text("state"), _text("process"),
    Column("seen", BigInteger, nullable=False), _text("record"), Index("banyan_builds_by_state", "state"))
"""The builds; `process` runs it and was last seen at the time `seen`, in seconds by the database's clock."""
UPLOADS = Table(
    "banyan_uploads", METADATA, _text("build", key=True), _number_key("file"), _number_key("part"),
    _text("name"), Column("content", LargeBinary, nullable=False))
# The keys of servers that share PostgreSQL: a record, or null for a revoked key.
KEYS = Table("banyan_keys", METADATA, _text("name", key=True), Column("record", TEXT))


class ServerDatabase:
    """A pool of connections to the server's database, for the threads of this process."""

    def __init__(self, place: Path | SecretStr) -> None:
        """Connect to an SQLite file or a PostgreSQL address, and create missing tables; errors as of `_connect`."""
        self._place = place
        self.is_shared = not isinstance(place, Path)  # PostgreSQL, which servers on several machines may share
        if isinstance(place, Path):
            self._engine = _sqlite_engine(place)
        else:
            # `pool_pre_ping` replaces connections that a restart of PostgreSQL has ended, so no query fails for them.
            session = f"-c search_path={SCHEMA} -c lock_timeout={int(_TIMEOUT)}s"
            self._engine = engine(place, session, pool_pre_ping=True, pool_size=_CONNECTIONS,
                                  max_overflow=_MORE_CONNECTIONS)
        with self.transaction() as connection:
            if self.is_shared:  # several servers may start at once, and only one may create tables at a time
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_CREATION_LOCK})")
                connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            METADATA.create_all(connection)

    @classmethod
    def of(cls, settings: Settings) -> "ServerDatabase":
        """Open the database that the settings name."""
        return cls(settings.database or settings.home / FILE)

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Open a connection for changes, committed together at the end of the block.

        In PostgreSQL they run side by side, and each statement sees what others have committed before it.
        """
        with self._connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a connection for reading; in SQLite it never waits for a transaction that writes."""
        with self._connect() as connection:
            yield connection.execution_options(**{_READ_ONLY: True})

    def empty_log(self) -> None:
        """Remove deleted data from SQLite's write-ahead log, as far as no connection still reads it there."""
        if not self.is_shared:
            with closing(self._engine.raw_connection()) as connection:
                connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _connect(self) -> Iterator[Connection]:
        """Open a connection; errors are a DatabaseError for PostgreSQL, and sqlite3's own for SQLite."""
        connection: Connection | None = None
        try:
            with self._engine.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            if isinstance(self._place, Path):
                raise getattr(error, "orig", None) or error from None
            if connection is None:  # it failed while connecting
                raise explain_error(error, self._place, reached=False) from None
            is_lost = isinstance(error, DBAPIError) and error.connection_invalidated
            raise explain_error(error, self._place, lost=is_lost) from None

    def close(self) -> None:
        """Close the idle connections."""
        self._engine.dispose()


def _sqlite_engine(file: Path) -> sqlalchemy.Engine:
    """Open a file that only its owner can read; a transaction that may write waits for others before it begins."""
    file.parent.mkdir(parents=True, exist_ok=True)
    make_private(file)
    created = sqlalchemy.create_engine(f"sqlite:///{file}", connect_args={"timeout": _TIMEOUT})

    @event.listens_for(created, "connect")
    def prepare(connection: sqlite3.Connection, _record: Any) -> None:
        connection.isolation_level = None  # Python is not to begin transactions: `begin` does
        # What is deleted is overwritten in the file. Some systems' SQLite is built so, and others need to be told.
        connection.execute("PRAGMA secure_delete=ON")
        write_ahead(connection)

    @event.listens_for(created, "begin")
    def begin(connection: Connection) -> None:
        only_reads = connection.get_execution_options().get(_READ_ONLY, False)
        connection.exec_driver_sql("BEGIN" if only_reads else "BEGIN IMMEDIATE")

    return created


def message_for_log(error: BaseException) -> str:
    """Return an error's message for the log, with the details that clients may not see, if it has them."""
    return str(getattr(error, "local_message", error))
