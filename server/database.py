"""What a server keeps that is of no knowledge base: conversations, builds, uploads; for all its processes.

By default that is the file `server.sqlite` of the home folder. With BANYAN_DATABASE_URL it is the schema `banyan` of
that PostgreSQL database, which servers on several machines share. LangGraph's checkpoints are there, too
(`checkpoints.py`).

A table is added in `tables.py`; it is made when a server or command opens the database next. A module of its own holds
the statements on it: SQL that both databases understand, or SQLAlchemy's Core, inside `transaction` or `reading`:

    with database.transaction() as connection:
        connection.execute(text("INSERT INTO banyan_x VALUES (:id, 0) ON CONFLICT (id) DO NOTHING"), {"id": id})
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from sqlalchemy import Connection, create_engine, event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from ..config import Settings
from ..graph_store.errors import DatabaseError
from ..graph_store.ledger.sqlite import make_private, write_ahead
from ..graph_store.postgresql import engine, explained, unreachable
from .tables import METADATA

FILE = "server.sqlite"
"""Within the home folder; no knowledge base can be called so."""
SCHEMA = "banyan"
"""In PostgreSQL; the schemas of ledgers have longer names."""
SESSION = f"-c search_path={SCHEMA}"
_TIMEOUT = 30.0
"""Seconds that a transaction waits for those of others."""
_CONNECTIONS, _MORE_CONNECTIONS = 5, 20
"""To PostgreSQL: that many are kept, and so many more made while many requests come at once."""
_MAKING = 0x62616E79616E
"""The advisory lock of whoever makes the tables."""
_READING = "banyan_reading"


class ServerDatabase:
    """Connections to that database, for the threads of this process."""

    def __init__(self, place: Path | SecretStr) -> None:
        """Make the tables that are not there.

        Args:
            place: a file of SQLite's, or the address of a PostgreSQL database.

        Raises:
            DatabaseError: PostgreSQL cannot be reached.
            sqlite3.DatabaseError: the file is no database.
        """
        self.place = place
        if isinstance(place, Path):
            place.parent.mkdir(parents=True, exist_ok=True)
            make_private(place)
            self._engine = create_engine(f"sqlite:///{place}", connect_args={"timeout": _TIMEOUT})
            event.listen(self._engine, "connect", _prepare_file)
            event.listen(self._engine, "begin", _begin_in_file)
        else:
            # Connections that a restart of the server has ended are made again, unseen.
            self._engine = engine(place, f"{SESSION} -c lock_timeout={int(_TIMEOUT)}s", pool_pre_ping=True,
                                  pool_size=_CONNECTIONS, max_overflow=_MORE_CONNECTIONS)
        with self.transaction() as connection:
            if self.shared:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MAKING})")
                connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            METADATA.create_all(connection)

    @classmethod
    def of(cls, settings: Settings) -> "ServerDatabase":
        """The database that the settings lead to."""
        return cls(settings.database or settings.home / FILE)

    @property
    def shared(self) -> bool:
        """Whether servers on several machines may share it."""
        return not isinstance(self.place, Path)

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A connection for changes: all or nothing, committed at the end of the block.

        In SQLite one transaction writes at a time; in PostgreSQL each sees what others have committed meanwhile.

        Raises:
            DatabaseError: PostgreSQL is not there, or refuses.
            sqlite3.Error: SQLite does.
        """
        with self._explained(), self._connected() as connection, connection.begin():
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection for reading, which in SQLite waits for nobody.

        Raises:
            as `transaction`.
        """
        with self._explained(), self._connected() as connection:
            yield connection.execution_options(**{_READING: True})

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        try:
            connection = self._engine.connect()
        except SQLAlchemyError as error:
            if isinstance(self.place, Path):
                raise
            raise unreachable(error, self.place) from None
        with connection:
            yield connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except DatabaseError:
            raise
        except SQLAlchemyError as error:
            if not isinstance(self.place, Path):
                lost = isinstance(error, DBAPIError) and error.connection_invalidated
                raise explained(error, self.place, lost=lost) from None
            raise (error.orig if isinstance(error, DBAPIError) else None) or error from None

    def close(self) -> None:
        """Close the connections that are not in use."""
        self._engine.dispose()


def _prepare_file(connection: sqlite3.Connection, _record: Any) -> None:
    connection.isolation_level = None  # `_begin_in_file` begins transactions
    write_ahead(connection)


def _begin_in_file(connection: Connection) -> None:
    # One that wrote after it has read would fail instead of waiting, had another one written meanwhile.
    reading = connection.get_execution_options().get(_READING, False)
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")
