"""The ledger's database: statements and transactions, whichever database it is in."""

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Row, Table, select, text
from sqlalchemy.exc import DBAPIError, PendingRollbackError, ResourceClosedError

from ..store_errors import FormatError
from .postgresql import LedgerSchema, PostgresqlLedger
from .sqlite import SqliteLedger
from .tables import META, METADATA, insertion, replacement

Record = Row[*tuple[Any, ...]]  # a row of a result: its values in order, and as attributes by the columns' names
FORMAT = 5  # a ledger of another format is refused; any change of a table needs the next number
_AT_ONCE = 1000  # rows that are copied at once; documents are among them


class Database:
    """One connection to a ledger; a re-entrant lock keeps the transactions of this process's threads apart."""

    def __init__(self, place: Path | LedgerSchema, *, create: bool = True) -> None:
        """Open a ledger in an SQLite file or PostgreSQL schema, and create it if it is missing and `create` is True.

        Raises UnknownKnowledgeBaseError if it is missing otherwise; FormatError, LedgerDamagedError or DatabaseError if
        it is of another format, no ledger, or cannot be reached.
        """
        self._lock = threading.RLock()
        self._depth = 0  # of nested transactions: the outermost one alone begins, commits and rolls back
        self.changes = 0  # grows with each row that this connection changes
        self.is_frozen = False
        self._ledger = SqliteLedger(place, create) if isinstance(place, Path) else PostgresqlLedger(place, create)
        with ExitStack() as undo:
            undo.callback(self._ledger.close)
            if not self._ledger.format():  # 0: there is no ledger yet
                with self.transaction(), self._explain_errors():
                    if not self._ledger.format():  # no other process has created it in the meantime
                        self._ledger.create(FORMAT)
            if (version := self._ledger.format()) != FORMAT:
                raise FormatError(f"{self._ledger.name} has format {version}, and this version of Banyan reads format "
                                  f"{FORMAT} alone: drop the knowledge base and build it again, or export it with the "
                                  "version that wrote it")
            undo.pop_all()  # keep it open

    @property
    def gone(self) -> bool:
        """True if the ledger has to be opened again: it was dropped or replaced, or the server was lost."""
        with self._lock:
            return self._ledger.gone

    @property
    def identity(self) -> str:
        """An id that tells the ledger from others of its name; empty for SQLite, where the folder does."""
        return self._ledger.identity

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
                    self._run_command(self._ledger.begin)
                yield
                if self._depth == 1:
                    self._run_command("COMMIT")
            except BaseException:
                if self._depth == 1:
                    self._roll_back()
                raise
            finally:
                self._depth -= 1

    def freeze(self) -> None:
        """Let this connection read the ledger as it is now, even if others commit; from now on it cannot write."""
        with self._lock:
            if not self.is_frozen:
                self._run_command(self._ledger.begin_frozen)
                self.count("SELECT count(*) FROM meta")  # the first read fixes the state
                self.is_frozen = True

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Within the block this connection reads the ledger as it is at its beginning; it cannot write."""
        with self._lock:
            was_frozen = self.is_frozen
            self.freeze()
            try:
                yield
            finally:
                self.is_frozen = was_frozen
                if not was_frozen:
                    self._roll_back()

    def _roll_back(self) -> None:
        """End a transaction that may be open: a full disk fails the COMMIT itself and leaves it open."""
        if self._ledger.in_transaction:
            self._run_command("ROLLBACK")

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        """Within the block, replace SQLAlchemy's errors by those that the ledger's class explains."""
        try:
            yield
        except (DBAPIError, PendingRollbackError, ResourceClosedError) as error:
            raise self._ledger.explain_error(error) from None

    def _run_command(self, sql: str) -> None:
        """Run a statement about transactions, as it is: without parameters."""
        with self._explain_errors():
            self._ledger.connection.exec_driver_sql(sql)

    def rows(self, sql: str, **values: object) -> Sequence[Record]:
        """Return the rows of a query; `values` are those of its parameters, written `:name`, a list as JSON."""
        with self._lock, self._explain_errors():
            return self._ledger.connection.execute(text(sql), _as_parameters(values)).fetchall()

    def scalar(self, sql: str, **values: object) -> object:
        """Return the first column of the first row of a query, or None if it has no row."""
        return next((row[0] for row in self.rows(sql, **values)), None)

    def count(self, sql: str, **values: object) -> int:
        """Return a query's single number; 0 if it is NULL, as the maximum of no rows is."""
        return int(str(self.scalar(sql, **values) or 0))

    def texts(self, sql: str, **values: object) -> list[str]:
        """Return the first column of a query's rows, as texts."""
        return [str(row[0]) for row in self.rows(sql, **values)]

    def counts(self, sql: str, **values: object) -> dict[str, int]:
        """Return the numbers in the second column of a query's rows by the texts in the first."""
        return {str(name): int(number) for name, number in self.rows(sql, **values)}

    def insert(self, table: Table, rows: Iterable[Sequence[object]], *, replace: bool = False) -> None:
        """Insert rows, tuples of all columns' values; with `replace`, in place of existing rows with the same key."""
        names = table.columns.keys()
        self.execute_many(replacement(table) if replace else insertion(table),
                          [dict(zip(names, row, strict=True)) for row in rows])

    def execute(self, sql: str, **values: object) -> int:
        """Run one statement, and return the number of rows it changed; -1 for a kind that changes none."""
        return self.execute_many(sql, [_as_parameters(values)])

    def execute_many(self, sql: str, rows: Sequence[Mapping[str, object]]) -> int:
        """Run one statement for many rows of values, and return the number of rows it changed."""
        if not rows:
            return 0
        # One row is given by itself, as a statement without values cannot be run for many rows.
        with self._lock, self._explain_errors():
            result = self._ledger.connection.execute(text(sql), rows if len(rows) > 1 else rows[0])
            result.close()
            self.changes += max(0, result.rowcount)
        return result.rowcount

    def notes(self, key: str) -> dict[str, Any]:
        """Return the named values that `note` stored under a key of `meta`."""
        return dict(json.loads(self.get_meta(key) or "{}"))

    def note(self, key: str, **values: object) -> None:
        """Store named values under a key of `meta`; values with other names stay."""
        with self.transaction():
            self.set_meta(key, json.dumps(self.notes(key) | values, sort_keys=True, ensure_ascii=False))

    def get_meta(self, key: str) -> str:
        """Return a stored setting of the knowledge base, or ""."""
        return "".join(self.texts("SELECT value FROM meta WHERE key = :key", key=key))

    def set_meta(self, key: str, value: str) -> None:
        """Store a setting of the knowledge base; an equal one is not written again."""
        self.execute("INSERT INTO meta VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value "
                     "WHERE meta.value <> excluded.value", key=key, value=value)

    def copy_rows(self, source: "Database") -> None:
        """Replace all rows by those of another ledger, which is frozen for that."""
        source.freeze()
        # A table comes after those that it refers to; `meta` is last, as triggers count in it what is inserted.
        tables = [*(table for table in METADATA.sorted_tables if table is not META), META]
        with self.transaction(), source._lock, source._explain_errors():  # noqa: SLF001
            for table in reversed(tables):  # rows that refer to others go first
                self.execute(f"DELETE FROM {table.name}")  # noqa: S608
            for table in tables:
                result = source._ledger.connection.execute(select(table), execution_options={"stream_results": True})  # noqa: SLF001
                for rows in result.partitions(_AT_ONCE):
                    self.insert(table, rows)

    def checkpoint(self) -> None:
        """Move the write-ahead log into the file, so that deleted text is in neither, unless a reader needs the log."""
        with self._lock, self._explain_errors():
            self._ledger.checkpoint()

    def problems(self) -> list[str]:
        """Return the problems that the database's own checks find; empty if there are none."""
        with self._lock, self._explain_errors():
            return self._ledger.problems()


def _as_parameters(values: Mapping[str, object]) -> dict[str, object]:
    """Return the values of a statement's parameters, lists as JSON, as `among` takes them."""
    return {name: json.dumps(list(value)) if isinstance(value, list | tuple | set | frozenset) else value
            for name, value in values.items()}


def now() -> str:
    """Return the current time in UTC, as text in the ledger's format."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
