"""A ledger in a schema of a PostgreSQL database."""

import time
import uuid
from contextlib import suppress

from filelock import Timeout
from psycopg import Connection as Session
from psycopg.pq import TransactionStatus
from sqlalchemy.exc import SQLAlchemyError

from ..errors import UnknownKnowledgeBaseError
from ..postgresql import LedgerSchema, connect, explained
from .tables import METADATA

_WAIT = "30s"
"""How long one process waits for the transactions of others, as with SQLite."""
_TRANSACTION = 2
# What the ledger's statements use of SQLite's functions on JSON, whose name and arguments PostgreSQL's have not.
_FUNCTIONS = (
    ("json_each(text) RETURNS TABLE (key bigint, value text)",
     "SELECT n - 1, item FROM json_array_elements_text($1::json) WITH ORDINALITY AS items (item, n)"),
    ("json_each(text, text) RETURNS TABLE (key bigint, value text)",
     "SELECT n - 1, item FROM json_array_elements_text($1::json -> substr($2, 3)) WITH ORDINALITY AS items (item, n)"),
    ("json_extract(text, text) RETURNS text", "SELECT $1::json ->> substr($2, 3)"),
    ("json_array_length(text) RETURNS integer", "SELECT pg_catalog.json_array_length($1::json)"),
)


class PostgresqlLedger:
    """One connection to a schema. What a lost connection was to write is not written by another one."""

    def __init__(self, place: LedgerSchema, create: bool) -> None:
        """Connect; the schema need not be there.

        Args:
            place: the schema.
            create: whether it may be made.

        Raises:
            DatabaseError: the server does not answer, or the schema is no ledger.
        """
        self.place = place
        self._may_create = create
        self.name = f"the ledger of {place.kb!r}"
        # As with SQLite one transaction writes at a time: none fails because another one was quicker.
        self.begin = f"BEGIN; SELECT pg_advisory_xact_lock({place.key(_TRANSACTION)})"
        self.connection = connect(place.url)
        try:
            self.connection.exec_driver_sql(f"SET search_path TO \"{place.name}\"; SET lock_timeout TO '{_WAIT}'")
            found = place.about(self.connection)
        except SQLAlchemyError as error:
            self.connection.close()
            raise self.explained(error) from None
        except BaseException:
            self.connection.close()
            raise
        self.identity = found[1] if found else ""
        self._table = self._known_table()

    def _known_table(self) -> object:
        """The number of one of its tables. A frozen connection sees which is there now, and nothing else of now."""
        return self.connection.exec_driver_sql("SELECT to_regclass(%s)::oid FROM pg_namespace LIMIT 1",
                                               (f'"{self.place.name}".meta',)).scalar_one()

    @property
    def _session(self) -> Session | None:
        """The driver's connection; None: it was lost."""
        if self.connection.closed or self.connection.invalidated:
            return None
        session = self.connection.connection.driver_connection
        return session if isinstance(session, Session) and not session.closed else None

    def close(self) -> None:
        """Close the connection; one that was lost is closed already."""
        with suppress(SQLAlchemyError):
            self.connection.close()

    @property
    def gone(self) -> bool:
        """Whether there is no ledger or another one, or the connection was lost."""
        try:
            return self._session is None or self._known_table() != self._table
        except SQLAlchemyError:
            return True

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._session is not None and self._session.info.transaction_status != TransactionStatus.IDLE

    def explained(self, error: SQLAlchemyError) -> BaseException:
        """What went wrong, as the rest of Banyan is to hear it."""
        return explained(error, self.place.url, lost=self._session is None)

    def format(self) -> int:
        """The number of its format; 0: there is none."""
        found = self.place.about(self.connection)
        return found[0] if found else 0

    def create(self) -> None:
        """Make the schema with its tables.

        Raises:
            UnknownKnowledgeBaseError: it may not be made.
        """
        if not self._may_create:
            raise UnknownKnowledgeBaseError(self.place.kb, "the PostgreSQL database")
        self.connection.exec_driver_sql(f'CREATE SCHEMA "{self.place.name}"')
        METADATA.create_all(self.connection, checkfirst=False)
        for head, body in _FUNCTIONS:
            self.connection.exec_driver_sql(
                f"CREATE FUNCTION {head} LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $${body}$$")

    def set_format(self, number: int) -> None:
        """Note the number of its format."""
        self.identity = self.identity or uuid.uuid4().hex
        self.place.describe(self.connection, number, self.identity)
        self._table = self._known_table()

    def go_on_counting(self) -> None:
        """Let numbers go on behind those that were inserted."""
        for table, column in (("entity_decisions", "seq"), ("edits", "number")):
            self.connection.exec_driver_sql(
                f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), "  # noqa: S608
                f"coalesce(max({column}), 0) + 1, false) FROM {table}")

    def has_column(self, table: str, column: str) -> bool:
        """Return True if a table has a column of that name."""
        return (table, column) in self._columns()

    def _columns(self) -> set[tuple[str, str]]:
        """Return the columns of the schema's tables, each with its table."""
        return {(table, column) for table, column in self.connection.exec_driver_sql(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()")}

    def freeze(self) -> None:
        """Begin to read it as it is now; until this is closed, the server keeps what others change and delete."""
        self.connection.exec_driver_sql("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        self.connection.exec_driver_sql("SELECT count(*) FROM meta")

    def checkpoint(self) -> None:
        """The server sees to it (VACUUM)."""

    def problems(self) -> list[str]:
        """How its tables differ from those of the format; what they hold is the server's to check."""
        expected = {(table.name, column.name) for table in METADATA.sorted_tables for column in table.columns}
        actual = self._columns()
        return [*(f"the column {table}.{column} is missing" for table, column in sorted(expected - actual)),
                *(f"the column {table}.{column} is not of this format" for table, column in sorted(actual - expected))]

    # The writer's lock: the server releases it with the connection, without which nothing can be written either.

    def lock(self) -> None:
        """Become the one writer. The server takes a moment to see that one was killed.

        Raises:
            Timeout: another connection is.
        """
        for pause in (0.1, 0.4, 0):
            if self.place.try_lock(self.connection):
                return
            time.sleep(pause)
        raise Timeout(self.name)

    def unlock(self) -> None:
        """Take back one `lock`; a connection that was lost holds none."""
        if self._session is not None:
            with suppress(SQLAlchemyError):
                self.place.unlock(self.connection)
