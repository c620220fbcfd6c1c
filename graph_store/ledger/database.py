"""The ledger's database: statements and transactions, whichever database it is in."""

import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import Timeout
from sqlalchemy import CursorResult, Row, Table, select, text
from sqlalchemy.exc import DBAPIError, PendingRollbackError, ResourceClosedError

from ..postgresql_bases import WRITER, LedgerSchema
from ..store_errors import DatabaseError, FormatError
from .sqlite import PRIMARY_CODE, SqliteLedger
from .tables import additions, insertion, missing_columns, replacement

if TYPE_CHECKING:
    from .postgresql_ledger import PostgresqlLedger

Record = Row[*tuple[Any, ...]]
"""A row of a result: its values in order, and as attributes by the columns' names."""
FORMAT = 3
"""The number of the tables' format. A change of a table needs the next one; a column that is added has a default."""
_KEYS_OF_EARLIER_FORMATS = {
    "settings": ("embedding", "schema_policy", "resolve", "instructions", "extraction_instructions",
                 "vectors_identity"),
    "state": ("position", "resolution", "epoch", "runs", "tree", "resolved", "reliability", "overview"),
    "build": ("unread_files", "open_batches", "shared_calls", "build_total")}
"""The keys of `meta` in earlier formats, by the key under which their values are now stored together."""
_AT_ONCE = 1000
"""Rows that are copied at once; documents are among them."""
_PAUSES = (0.1, 0.4, 0)
"""Seconds to wait after each try: the server notices late that a writer was killed."""


class Database:
    """One connection to a ledger, shared by the threads of this process.

    A re-entrant lock keeps this process's threads from mixing their statements in one transaction.
    """

    def __init__(self, place: Path | LedgerSchema, *, create: bool = True) -> None:
        """Open a ledger, and create its tables if it is new.

        Args:
            place: an SQLite file, or a schema in PostgreSQL.
            create: create the ledger if it is missing. False for reading, so that a ledger that was just dropped is not
                created again.

        Raises:
            UnknownKnowledgeBaseError: the ledger is missing, and `create` is False.
            FormatError: it has a later format, or an earlier one that cannot be brought up to this one.
            LedgerDamagedError: it is not a ledger.
            DatabaseError: PostgreSQL cannot be reached.
        """
        self._lock = threading.RLock()
        self._depth = 0
        self._changes = 0
        self.is_frozen = False
        self._ledger = _open(place, create)
        try:
            self._prepare()
        except BaseException:
            self._ledger.close()
            raise

    @property
    def gone(self) -> bool:
        """True if the ledger has to be opened again: it was dropped or replaced, or the server was lost."""
        with self._lock:
            return self._ledger.gone

    @property
    def identity(self) -> str:
        """An id that tells the ledger from earlier ones in the same place; empty for SQLite, where the folder does."""
        return self._ledger.identity

    def _prepare(self) -> None:
        """Check the ledger's format; create a new ledger's tables, or upgrade an earlier format."""
        version = self._ledger.format()
        if version > FORMAT:
            raise FormatError(f"{self._ledger.name} has format {version}; this version of Banyan reads formats up to "
                              f"{FORMAT}: use the version that wrote it, or a later one")
        if version < FORMAT:
            with self._explain_upgrade(version), self.transaction(), self._explain_errors():
                self._create_or_upgrade()

    def _create_or_upgrade(self) -> None:
        """Create the tables of a new ledger, or add the missing columns to those of an earlier format."""
        version = self._ledger.format()  # read again: another process may have done this in the meantime
        if version == FORMAT:
            return
        if version:
            self._upgrade(version)
        else:
            self._ledger.create()
        self._ledger.set_format(FORMAT)

    def _upgrade(self, version: int) -> None:
        """Add the columns that an earlier format lacks, and store the values of `meta` under today's keys."""
        missing = missing_columns(self._ledger.columns())
        for column in missing:
            if column.server_default is None:
                raise FormatError(f"{self._ledger.name} has format {version} of a version before the first release, "
                                  f"without the column {column}: drop the knowledge base and build it again")
        for statement in additions(missing, self._ledger.connection.dialect):
            self._ledger.connection.exec_driver_sql(statement)
        for key, names in _KEYS_OF_EARLIER_FORMATS.items():
            stored = {name: value for name in names if (value := self.get_meta(name))}
            if stored:
                # Settings and the state `resolved` were stored as plain text, the others as JSON.
                self.note(key, **{name: value if key == "settings" or name == "resolved" else json.loads(value)
                                  for name, value in stored.items()})
            self.execute_many("DELETE FROM meta WHERE key = :name", [{"name": name} for name in (*names, "edition")])

    @contextmanager
    def _explain_upgrade(self, version: int) -> Iterator[None]:
        """Within the block, raise a clear error if an earlier format cannot be upgraded, as the ledger is read-only."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if not version or error.sqlite_errorcode & PRIMARY_CODE != sqlite3.SQLITE_READONLY:
                raise
            raise FormatError(f"{self._ledger.name} has format {version} and cannot be written; this version of Banyan "
                              f"has to bring it to format {FORMAT} first: open it once where it can be written, such "
                              "as in a copy of its folder") from error

    def close(self) -> None:
        """Close the connection; further use is an error."""
        with self._lock:
            self._ledger.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit at the end, or roll back on any exception. May be nested."""
        with self._lock:
            self._depth += 1
            try:
                if self._depth == 1:
                    self._command(self._ledger.begin)
                yield
                if self._depth == 1:
                    self._command("COMMIT")
            except BaseException:
                # A full disk fails the COMMIT itself and leaves the transaction open.
                if self._depth == 1 and self._ledger.in_transaction:
                    self._command("ROLLBACK")
                raise
            finally:
                self._depth -= 1

    def freeze(self) -> None:
        """Let this connection read the ledger as it is now, even if others commit; from now on it cannot write."""
        with self._lock, self._explain_errors():
            if not self.is_frozen:
                self._ledger.freeze()
                self.is_frozen = True

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Within the block this connection reads the ledger as it is at its beginning; it cannot write."""
        with self._lock:
            if self.is_frozen:
                yield
                return
            self.freeze()
            try:
                yield
            finally:
                self.is_frozen = False
                if self._ledger.in_transaction:
                    self._command("ROLLBACK")

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        """Within the block, replace SQLAlchemy's errors by those that the ledger's class explains."""
        try:
            yield
        except (DBAPIError, PendingRollbackError, ResourceClosedError) as error:
            raise self._ledger.explain_error(error) from None

    def _command(self, sql: str) -> None:
        with self._explain_errors():
            self._ledger.connection.exec_driver_sql(sql)

    def _run(self, sql: str, values: Mapping[str, object] | Sequence[Mapping[str, object]]) -> CursorResult[Any]:
        return self._ledger.connection.execute(text(sql), values)

    def rows(self, sql: str, **values: object) -> Sequence[Record]:
        """Return the rows of a query; `values` are the values of its parameters, written `:name`."""
        with self._lock, self._explain_errors():
            return self._run(sql, values).fetchall()

    def iterate(self, sql: str, **values: object) -> Iterator[Record]:
        """Yield the rows of a query; with SQLite, only some of them are in memory at a time."""
        with self._lock, self._explain_errors():
            for rows in self._run(sql, values).partitions(_AT_ONCE):
                yield from rows

    def batches(self, table: Table) -> Iterator[Sequence[Record]]:
        """Yield all rows of a table in batches; call this inside a transaction or on a frozen ledger."""
        with self._lock, self._explain_errors():
            result = self._ledger.connection.execute(select(table), execution_options={"stream_results": True})
            yield from result.partitions(_AT_ONCE)

    def scalar(self, sql: str, **values: object) -> object:
        """Return the first column of the first row of a query, or None."""
        with self._lock, self._explain_errors():
            row = self._run(sql, values).first()
        return row[0] if row else None

    def count(self, sql: str, **values: object) -> int:
        """Return a query's single number."""
        return int(str(self.scalar(sql, **values) or 0))

    def execute(self, sql: str, **values: object) -> int:
        """Run one statement, and return the number of rows it changed; -1 if such statements change no rows."""
        return self._change(sql, values)

    def execute_many(self, sql: str, rows: Iterable[Mapping[str, object]]) -> None:
        """Run one statement for many rows of values."""
        parameters = list(rows)
        if parameters:
            self._change(sql, parameters)

    def insert(self, table: Table, rows: Iterable[Sequence[object]]) -> None:
        """Insert rows, given as tuples of all columns' values."""
        self._write(table, insertion(table), rows)

    def replace(self, table: Table, rows: Iterable[Sequence[object]]) -> None:
        """Insert rows, given as tuples of all columns' values, or replace existing rows with the same key."""
        self._write(table, replacement(table), rows)

    def _write(self, table: Table, sql: str, rows: Iterable[Sequence[object]]) -> None:
        names = table.columns.keys()
        self.execute_many(sql, (dict(zip(names, row, strict=True)) for row in rows))

    def _change(self, sql: str, values: Mapping[str, object] | Sequence[Mapping[str, object]]) -> int:
        """Run a statement for one or several rows of values; return and count the rows that it changed."""
        with self._lock, self._explain_errors():
            result = self._run(sql, values)
            result.close()
            self._changes += max(0, result.rowcount)
        return result.rowcount

    def changes(self) -> int:
        """Return a number that grows with each row that this connection changes."""
        return self._changes

    def notes(self, key: str) -> dict[str, Any]:
        """Return the named values that `note` stored under a key of `meta`; empty if there are none."""
        return dict(json.loads(self.get_meta(key) or "{}"))

    def note(self, key: str, **values: object) -> None:
        """Store named values under a key of `meta`; values with other names stay."""
        with self.transaction():
            self.set_meta(key, json.dumps(self.notes(key) | values, sort_keys=True, ensure_ascii=False))

    def get_meta(self, key: str) -> str | None:
        """Return a stored setting of the knowledge base, or None."""
        value = self.scalar("SELECT value FROM meta WHERE key = :key", key=key)
        return None if value is None else str(value)

    def set_meta(self, key: str, value: str) -> None:
        """Store a setting of the knowledge base."""
        self.execute("INSERT INTO meta VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value "
                     "WHERE meta.value <> excluded.value", key=key, value=value)

    def checkpoint(self) -> None:
        """Move changes from the write-ahead log to the ledger's file, so that deleted text is in neither.

        While a reader still needs the log, nothing happens.
        """
        with self._lock, self._explain_errors():
            self._ledger.checkpoint()

    def problems(self) -> list[str]:
        """Return the problems that the database's own checks find; empty if there are none."""
        with self._lock, self._explain_errors():
            return self._ledger.problems()


class AdvisoryLock:
    """The writer's lock of a ledger in PostgreSQL, used like a `FileLock`: may be nested.

    The server releases it when the connection ends.
    """

    def __init__(self, database: Database, schema: LedgerSchema) -> None:
        """Prepare the lock of a knowledge base, without acquiring it."""
        self._db = database
        self._key = schema.key(WRITER)
        self.lock_counter = 0

    def acquire(self) -> None:
        """Acquire the lock, or increase its counter if this connection holds it already.

        Raises:
            Timeout: another connection holds it.
        """
        if not self.lock_counter and not any(self._try(pause) for pause in _PAUSES):
            raise Timeout(self._key)
        self.lock_counter += 1

    def _try(self, pause: float) -> bool:
        """Acquire the lock and return True if it is free; otherwise wait for `pause` seconds and return False."""
        if self._db.scalar(f"SELECT pg_try_advisory_lock({self._key})"):
            return True
        time.sleep(pause)
        return False

    def release(self, force: bool = False) -> None:
        """Decrease the counter, and release the lock when it reaches 0; with `force`, release it at once."""
        if self.lock_counter:
            self.lock_counter = 0 if force else self.lock_counter - 1
            if not self.lock_counter:
                with suppress(DatabaseError):  # a lost connection has released it
                    self._db.scalar(f"SELECT pg_advisory_unlock({self._key})")


def _open(place: Path | LedgerSchema, create: bool) -> "SqliteLedger | PostgresqlLedger":
    """Connect to a ledger in an SQLite file or in a PostgreSQL schema."""
    if isinstance(place, Path):
        return SqliteLedger(place, create)
    from .postgresql_ledger import PostgresqlLedger  # noqa: PLC0415  (psycopg is an extra)

    return PostgresqlLedger(place, create)


def now() -> str:
    """Return the current time in UTC, as text in the ledger's format."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
