"""The server's own data outside of knowledge bases (conversations, builds, uploads), shared by all its processes.

By default this is the file `server.sqlite` in the home folder. With BANYAN_DATABASE_URL it is the schema `banyan` in
that PostgreSQL database, which servers on several machines share.

Tables are created when a server or command opens the database. Their statements, in the modules that use them, are SQL
that both databases support.
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
from ..graph_store.ledger.postgresql import engine, explain_error, unreachable
from ..graph_store.ledger.sqlite import make_private, write_ahead
from ..graph_store.ledger.tables import TEXT
from ..graph_store.store_errors import DatabaseError

FILE = "server.sqlite"
"""A file in the home folder; no knowledge base can have this name."""
SCHEMA = "banyan"
"""The schema in PostgreSQL; the schemas of ledgers have longer names."""
SESSION = f"-c search_path={SCHEMA}"
_TIMEOUT = 30.0
"""Seconds that a transaction waits for others."""
_CONNECTIONS, _MORE_CONNECTIONS = 5, 20
"""Connections to PostgreSQL that stay open, and as many more during bursts of requests."""
_CREATION_LOCK = 0x62616E79616E
"""The advisory lock to hold while creating the tables."""
_READ_ONLY = "banyan_reading"
METADATA = MetaData()


def _text(name: str, *, key: bool = False) -> Column[str]:
    return Column(name, TEXT, primary_key=key, nullable=False)


def _number(name: str, *, key: bool = False) -> Column[int]:
    return Column(name, Integer, primary_key=key, nullable=False, autoincrement=False)


CONVERSATIONS = Table(
    "banyan_conversations", METADATA, _text("id", key=True), _text("client"), _text("kb"), _text("name"),
    _text("title"), Column("link", TEXT, unique=True), _text("started_at"), _text("used_at"))
TURNS = Table(
    "banyan_turns", METADATA, _text("conversation", key=True), _number("number", key=True), _text("asked_at"),
    _text("question"), _text("answer"), Column("rating", Integer, nullable=False, server_default=text("0")))

JOBS = Table(
    "banyan_builds", METADATA, _text("id", key=True), _text("kb"), _text("state"), _text("process"),
    Column("seen", BigInteger, nullable=False), _text("record"), Index("banyan_builds_by_state", "state"))
"""The builds; `process` runs it and was last seen at the time `seen`, in seconds by the database's clock."""
UPLOADS = Table(
    "banyan_uploads", METADATA, _text("build", key=True), _number("file", key=True), _number("part", key=True),
    _text("name"), Column("content", LargeBinary, nullable=False))

KEYS = Table("banyan_keys", METADATA, _text("name", key=True), Column("record", TEXT))
"""The keys of servers that share PostgreSQL: a record, or null for a revoked key."""


class ServerDatabase:
    """A pool of connections to the server's database, for the threads of this process."""

    def __init__(self, place: Path | SecretStr) -> None:
        """Connect to the database, and create its missing tables.

        Args:
            place: an SQLite file, or the address of a PostgreSQL database.

        Raises:
            DatabaseError: PostgreSQL cannot be reached.
            sqlite3.DatabaseError: the file is not a database.
        """
        self.place = place
        if isinstance(place, Path):
            place.parent.mkdir(parents=True, exist_ok=True)
            make_private(place)
            self._engine = sqlalchemy.create_engine(f"sqlite:///{place}", connect_args={"timeout": _TIMEOUT})

            @event.listens_for(self._engine, "connect")
            def prepare(connection: sqlite3.Connection, _record: Any) -> None:
                connection.isolation_level = None  # Python is not to begin transactions: `begin` does
                connection.execute("PRAGMA secure_delete=ON")  # a system's SQLite may be built without it
                write_ahead(connection)

            @event.listens_for(self._engine, "begin")
            def begin(connection: Connection) -> None:
                only_reads = connection.get_execution_options().get(_READ_ONLY, False)
                connection.exec_driver_sql("BEGIN" if only_reads else "BEGIN IMMEDIATE")
        else:
            # `pool_pre_ping` replaces connections that a restart of PostgreSQL has ended, so no query fails for them.
            self._engine = engine(place, f"{SESSION} -c lock_timeout={int(_TIMEOUT)}s", pool_pre_ping=True,
                                  pool_size=_CONNECTIONS, max_overflow=_MORE_CONNECTIONS)
        with self.transaction() as connection:
            if self.is_shared:  # several servers may start at once, and only one may create tables at a time
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_CREATION_LOCK})")
                connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            METADATA.create_all(connection)

    @classmethod
    def of(cls, settings: Settings) -> "ServerDatabase":
        """Open the database that the settings name."""
        return cls(settings.database or settings.home / FILE)

    @property
    def is_shared(self) -> bool:
        """Whether servers on several machines may share the database: True for PostgreSQL, False for a file."""
        return not isinstance(self.place, Path)

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Open a connection for changes, which are committed together at the end of the block.

        In SQLite, transactions that write wait for each other. In PostgreSQL they run side by side, and each statement
        sees what other transactions have committed before it.
        """
        with self._translate_errors(), self._connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a connection for reading; in SQLite it never waits for a transaction that writes."""
        with self._translate_errors(), self._connect() as connection:
            yield connection.execution_options(**{_READ_ONLY: True})

    def empty_log(self) -> None:
        """Remove deleted data from SQLite's write-ahead log too, as far as no other connection still reads it there.

        PostgreSQL needs no such step.
        """
        if not self.is_shared:
            with self._translate_errors(), closing(self._engine.raw_connection()) as connection:
                connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _connect(self) -> Iterator[Connection]:
        try:
            connection = self._engine.connect()
        except SQLAlchemyError as error:
            if isinstance(self.place, Path):  # an error of SQLite, which `_translate_errors` handles
                raise
            raise unreachable(error, self.place) from None
        with connection:
            yield connection

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Turn SQLAlchemy's errors into a DatabaseError for PostgreSQL, and into sqlite3's own errors for SQLite."""
        try:
            yield
        except DatabaseError:
            raise
        except SQLAlchemyError as error:
            if not isinstance(self.place, Path):
                is_lost = isinstance(error, DBAPIError) and error.connection_invalidated
                raise explain_error(error, self.place, lost=is_lost) from None
            sqlite_error = error.orig if isinstance(error, DBAPIError) else None
            raise sqlite_error or error from None

    def close(self) -> None:
        """Close the idle connections."""
        self._engine.dispose()


def message_for_log(error: BaseException) -> str:
    """Return an error's message for the log, with the details that clients may not see, if it has them."""
    return str(getattr(error, "local_message", error))
