"""Keep a ledger in a schema of a PostgreSQL database."""

import uuid
from contextlib import suppress
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from ..postgresql_bases import LedgerSchema, connect, explain_error
from ..store_errors import UnknownKnowledgeBaseError
from .tables import METADATA, create_tables

_WAIT = "30s"
"""The time that a process waits for the transactions of others, as with SQLite."""
_TRANSACTION = 2
# SQLite's JSON functions that the ledger's statements use; PostgreSQL's have other names and arguments.
_FUNCTIONS = (
    ("json_each(text) RETURNS TABLE (key bigint, value text)",
     "SELECT n - 1, item FROM json_array_elements_text($1::json) WITH ORDINALITY AS items (item, n)"),
    ("json_array_length(text) RETURNS integer", "SELECT pg_catalog.json_array_length($1::json)"),
)


class PostgresqlLedger:
    """One connection to a schema. It is not replaced when lost, so an interrupted transaction is never continued."""

    begin_frozen = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

    def __init__(self, place: LedgerSchema, create: bool) -> None:
        """Connect to the database; the schema need not exist."""
        self.place = place
        self._may_create = create
        self.name = f"the ledger of {place.kb!r}"
        # As with SQLite, one transaction writes at a time, so none fails because of a concurrent one.
        self.begin = f"BEGIN; SELECT pg_advisory_xact_lock({place.key(_TRANSACTION)})"
        self.connection = connect(place.url)
        try:
            self.connection.exec_driver_sql(f"SET search_path TO \"{place.name}\"; SET lock_timeout TO '{_WAIT}'")
            found = place.about(self.connection)  # the ledger's format and id, or None if there is none yet
        except SQLAlchemyError as error:
            self.connection.close()
            raise self.explain_error(error) from None
        except BaseException:
            self.connection.close()
            raise
        self.identity = found[1] if found else ""
        self._table = self._table_id()

    def _table_id(self) -> object:
        """Return the current object id of the table `meta`, even on a frozen connection."""
        return self.connection.exec_driver_sql("SELECT to_regclass(%s)::oid FROM pg_namespace LIMIT 1",
                                               (f'"{self.place.name}".meta',)).scalar_one()

    @property
    def _session(self) -> Any:
        """The driver's connection, or None if it was lost."""
        if self.connection.closed or self.connection.invalidated:
            return None
        session = self.connection.connection.driver_connection
        return None if session is None or session.closed else session

    def close(self) -> None:
        """Close the connection, if it is not lost."""
        with suppress(SQLAlchemyError):
            self.connection.close()

    @property
    def gone(self) -> bool:
        """True if the ledger was dropped or replaced, or the connection was lost."""
        try:
            return self._session is None or self._table_id() != self._table
        except SQLAlchemyError:
            return True

    @property
    def in_transaction(self) -> bool:
        """True if a transaction is open."""
        return self._session is not None and bool(self._session.info.transaction_status)  # 0 is idle

    def explain_error(self, error: SQLAlchemyError) -> BaseException:
        """Return the error to raise instead of a database error."""
        return explain_error(error, self.place.url, lost=self._session is None)

    def format(self) -> int:
        """Return the number of the ledger's format, or 0 if there is no ledger."""
        found = self.place.about(self.connection)
        return found[0] if found else 0

    def create(self, number: int) -> None:
        """Create the schema with the tables of a format, if the connection was opened with the right to."""
        if not self._may_create:
            raise UnknownKnowledgeBaseError(self.place.kb, "the PostgreSQL database")
        self.identity = uuid.uuid4().hex
        self.connection.exec_driver_sql(f'CREATE SCHEMA "{self.place.name}"')
        self.connection.exec_driver_sql(f'COMMENT ON SCHEMA "{self.place.name}" IS '
                                        f"'Banyan ledger, format {number}, id {self.identity}'")
        create_tables(self.connection)
        for head, body in _FUNCTIONS:
            self.connection.exec_driver_sql(
                f"CREATE FUNCTION {head} LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $${body}$$")
        self._table = self._table_id()

    def checkpoint(self) -> None:
        """Do nothing, because the server cleans up itself (VACUUM)."""

    def problems(self) -> list[str]:
        """Return how the tables' columns differ from the format; the contents are left to the server's own checks."""
        expected = {(table.name, column.name) for table in METADATA.sorted_tables for column in table.columns}
        actual = {(table, column) for table, column in self.connection.exec_driver_sql(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()")}
        return [*(f"the column {table}.{column} is missing" for table, column in sorted(expected - actual)),
                *(f"the column {table}.{column} is not of this format" for table, column in sorted(actual - expected))]
