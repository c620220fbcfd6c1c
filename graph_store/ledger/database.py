"""The ledger's SQLite database: connection, tables, transactions."""

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..errors import FormatError, LedgerDamagedError

FORMAT = 7
_PAGE_BYTES = 1024
_TIMEOUT = 30  # seconds that one process waits for the others

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
    id TEXT PRIMARY KEY, title TEXT NOT NULL, text TEXT NOT NULL, source TEXT NOT NULL,
    added_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')));
CREATE TABLE chunks (
    id TEXT PRIMARY KEY, document TEXT NOT NULL REFERENCES documents ON DELETE CASCADE,
    ordinal INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL, heading TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'extracted', 'done', 'failed')));
CREATE INDEX chunks_by_document ON chunks (document, ordinal);
CREATE INDEX chunks_to_do ON chunks (status, document, ordinal) WHERE status <> 'done';
CREATE TABLE extractions (
    chunk TEXT PRIMARY KEY REFERENCES chunks ON DELETE CASCADE,
    reasoner TEXT NOT NULL, said TEXT NOT NULL, bounded TEXT);
CREATE TABLE rejections (
    chunk TEXT NOT NULL REFERENCES chunks ON DELETE CASCADE, document TEXT NOT NULL,
    reason TEXT NOT NULL, label TEXT NOT NULL, text TEXT NOT NULL,
    subject_type TEXT NOT NULL, object_type TEXT NOT NULL, confidence REAL NOT NULL);
CREATE INDEX rejections_by_chunk ON rejections (chunk);
CREATE INDEX rejections_by_label ON rejections (reason, label);
CREATE TABLE failures (
    chunk TEXT PRIMARY KEY REFERENCES chunks ON DELETE CASCADE, reason TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 1,
    failed_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')));
CREATE TABLE changes (seq INTEGER PRIMARY KEY AUTOINCREMENT, chunk TEXT NOT NULL);
CREATE TABLE schema_versions (
    version INTEGER PRIMARY KEY, schema TEXT NOT NULL, base TEXT NOT NULL, decisions TEXT NOT NULL, who TEXT NOT NULL,
    decided_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')));
CREATE TABLE declined (kind TEXT NOT NULL, name TEXT NOT NULL, who TEXT NOT NULL, why TEXT NOT NULL,
    decided_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    PRIMARY KEY (kind, name)) WITHOUT ROWID;
CREATE TABLE calls (
    key TEXT PRIMARY KEY, step TEXT NOT NULL, response TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE tokens (
    step TEXT PRIMARY KEY, calls INTEGER NOT NULL, prompt INTEGER NOT NULL, completion INTEGER NOT NULL);
"""

_SECOND_TABLES = """
CREATE TABLE repairs (
    chunk TEXT NOT NULL REFERENCES chunks ON DELETE CASCADE, repair TEXT NOT NULL, times INTEGER NOT NULL,
    PRIMARY KEY (chunk, repair)) WITHOUT ROWID;
CREATE TABLE asks (
    chunk TEXT NOT NULL REFERENCES chunks ON DELETE CASCADE, document TEXT NOT NULL,
    kind TEXT NOT NULL, label TEXT NOT NULL, subject_type TEXT NOT NULL, object_type TEXT NOT NULL,
    item TEXT NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL, confidence REAL NOT NULL);
CREATE INDEX asks_by_chunk ON asks (chunk);
CREATE INDEX asks_by_label ON asks (kind, label);
CREATE TABLE communities (
    view TEXT NOT NULL, id TEXT NOT NULL, level INTEGER NOT NULL, parent TEXT NOT NULL, cohesion REAL NOT NULL,
    label TEXT NOT NULL, keywords TEXT NOT NULL, members TEXT NOT NULL, PRIMARY KEY (view, id));
CREATE TABLE summaries (id TEXT PRIMARY KEY, name TEXT NOT NULL, summary TEXT NOT NULL) WITHOUT ROWID;
"""

# What was said is bounded anew at the next build, without a call: asks and repairs were not kept before. The tree is
# found anew as well; summaries are kept.
_FIRST = "ALTER TABLE communities RENAME TO old_communities;"
_SECOND = """
INSERT INTO summaries SELECT id, name, summary FROM old_communities;
DROP TABLE old_communities;
DELETE FROM meta WHERE key = 'tree_position';
ALTER TABLE schema_versions ADD COLUMN base TEXT NOT NULL DEFAULT '';
UPDATE schema_versions SET base = schema, decisions = (
    SELECT json_group_array(json_object('decision', json(value), 'evidence', NULL)) FROM json_each(decisions));
UPDATE chunks SET status = 'extracted' WHERE status = 'done';
"""

_THIRD_TABLES = """
CREATE TABLE entity_aliases (
    id TEXT PRIMARY KEY, canonical TEXT NOT NULL, type TEXT NOT NULL, partner TEXT NOT NULL, rule TEXT NOT NULL,
    score REAL NOT NULL, evidence TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entity_verdicts (
    first TEXT NOT NULL, second TEXT NOT NULL, same INTEGER NOT NULL, confidence REAL NOT NULL,
    reasoner TEXT NOT NULL, PRIMARY KEY (first, second)) WITHOUT ROWID;
CREATE TABLE entity_decisions (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, verdict TEXT NOT NULL, first TEXT NOT NULL, second TEXT NOT NULL,
    who TEXT NOT NULL, why TEXT NOT NULL,
    decided_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')));
"""

_FOURTH_TABLES = """
ALTER TABLE chunks ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
CREATE TABLE revisions (
    document TEXT PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
    title TEXT NOT NULL, text TEXT NOT NULL, source TEXT NOT NULL, chunks TEXT NOT NULL);
"""

# Accounts were kept by step alone before: whose they were and which model was asked is not known.
_FIFTH_TABLES = """
ALTER TABLE tokens RENAME TO old_tokens;
CREATE TABLE tokens (
    build TEXT NOT NULL, document TEXT NOT NULL, step TEXT NOT NULL, model TEXT NOT NULL,
    calls INTEGER NOT NULL, prompt INTEGER NOT NULL, completion INTEGER NOT NULL, cached INTEGER NOT NULL,
    wasted_calls INTEGER NOT NULL, wasted INTEGER NOT NULL,
    PRIMARY KEY (build, document, step, model)) WITHOUT ROWID;
INSERT INTO tokens SELECT '', '', step, '', calls, prompt, completion, 0, 0, 0 FROM old_tokens;
DROP TABLE old_tokens;
"""

# What a community's members looked like was not kept before, and its id was made of more than it is described from:
# the tree is found anew at the next build.
_SIXTH_TABLES = """
ALTER TABLE communities ADD COLUMN marks TEXT NOT NULL DEFAULT '';
CREATE TABLE kept_vectors (
    purpose TEXT NOT NULL, text TEXT NOT NULL, model TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (purpose, text));
DELETE FROM meta WHERE key = 'tree_position';
"""

# Vectors of communities were kept in a collection of their own, which goes with the next `reindex`; what a version
# that looks for them there would miss is why this is another format.
#
# Summaries stood in the order of their ids, which are hashes: each new one then lies on a page of its own.
_SEVENTH_TABLES = """
DELETE FROM meta WHERE key = 'tree_vectors';
ALTER TABLE summaries RENAME TO old_summaries;
CREATE TABLE summaries (id TEXT PRIMARY KEY, name TEXT NOT NULL, summary TEXT NOT NULL);
INSERT INTO summaries SELECT * FROM old_summaries ORDER BY id;
DROP TABLE old_summaries;
"""

_UPGRADES = {1: _FIRST + _SECOND_TABLES + _SECOND, 2: _THIRD_TABLES, 3: _FOURTH_TABLES, 4: _FIFTH_TABLES,
             5: _SIXTH_TABLES, 6: _SEVENTH_TABLES}
"""What makes the next format of a ledger of a format."""


class Database:
    """One connection to a ledger, shared by the threads of this process.

    SQLite's own locking keeps processes apart: WAL lets readers read while the writer writes. A
    re-entrant lock keeps this process's threads from mixing their statements in one transaction.
    """

    def __init__(self, path: Path) -> None:
        """Open a ledger, creating its tables in a new file.

        Raises:
            FormatError: the file is no ledger, or one of another format.
        """
        self._path = path
        self._lock = threading.RLock()
        self._depth = 0
        # Transactions are ours (isolation_level=None): `transaction` says where they begin and end.
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=_TIMEOUT)
        self._connection.row_factory = sqlite3.Row
        try:
            self._prepare(path)
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self, path: Path) -> None:
        try:
            # Of a new file: commits are small and SQLite writes whole pages, so small ones are less to write.
            self._connection.execute(f"PRAGMA page_size={_PAGE_BYTES}")
            write_ahead(self._connection)
            self._connection.execute("PRAGMA foreign_keys=ON")
            # WAL with NORMAL never corrupts; FULL would also keep the last commit through a power cut.
            self._connection.execute("PRAGMA synchronous=FULL")
            found = self._connection.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            raise LedgerDamagedError(f"{path} is not a readable ledger ({error})") from error
        if found == 0:
            self._create()
        elif found < FORMAT:
            self._upgrade()
        elif found > FORMAT:
            raise FormatError(f"{path} has format {found}; this version of Banyan reads formats up to {FORMAT}: "
                              "use the version that wrote it, or a later one")

    def _create(self) -> None:
        """Make the tables of a new ledger, in one transaction."""
        with self.transaction():
            # Read again inside: another process may have been quicker.
            if self.count("PRAGMA user_version") == 0:
                self._run(_TABLES + _SECOND_TABLES + _THIRD_TABLES + _FOURTH_TABLES + _FIFTH_TABLES + _SIXTH_TABLES +
                          _SEVENTH_TABLES)
                self._connection.execute(f"PRAGMA user_version={FORMAT}")

    def _upgrade(self) -> None:
        """Bring an older ledger to the present format, in one transaction."""
        with self.transaction():
            # Read again inside: another process may have been quicker.
            for number in range(self.count("PRAGMA user_version"), FORMAT):
                self._run(_UPGRADES[number])
            self._connection.execute(f"PRAGMA user_version={FORMAT}")

    def _run(self, statements: str) -> None:
        for statement in statements.split(";"):
            self._connection.execute(statement)

    def close(self) -> None:
        """Close the connection; further use is an error."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing: commits at the end, rolls back on any exception. May be nested."""
        with self._lock:
            if self._depth == 0:
                self._connection.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield
                if self._depth == 1:
                    self._connection.execute("COMMIT")
            except BaseException:
                # A full disk fails the COMMIT itself and leaves the transaction open.
                if self._depth == 1 and self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            finally:
                self._depth -= 1

    @contextmanager
    def unsynced_transaction(self) -> Iterator[None]:
        """The same, without waiting for the disk, which takes most of a small commit's time.

        A power cut may take it back, together with all that follow it until one that waits; the death of this process
        does not. It is for what can be had again at no cost.
        """
        with self._lock:
            alone = self._depth == 0
            try:
                if alone:
                    self._connection.execute("PRAGMA synchronous=NORMAL")
                with self.transaction():
                    yield
            finally:
                if alone:
                    self._connection.execute("PRAGMA synchronous=FULL")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            # A malformed file is of no subclass; text that is no UTF-8 was damaged after it was written.
            if type(error) is sqlite3.DatabaseError or "decode to UTF-8" in str(error):
                cause = str(error).partition(" with text")[0]
                raise LedgerDamagedError(f"the ledger {self._path} is damaged ({cause})") from error
            raise

    def freeze(self) -> None:
        """From here on this connection reads the ledger as it is now, whatever others commit; it cannot write.

        Until it is closed, the ledger's write-ahead log grows by what others write.
        """
        with self._lock:
            self._connection.execute("BEGIN")
            # SQLite fixes the moment at the first read.
            self._connection.execute("SELECT count(*) FROM meta").fetchone()

    def rows(self, sql: str, *values: object) -> list[sqlite3.Row]:
        """The rows of a query."""
        with self._lock, self._explained():
            return self._connection.execute(sql, values).fetchall()

    def scalar(self, sql: str, *values: object) -> object:
        """The first column of the first row of a query, or None."""
        with self._lock, self._explained():
            row = self._connection.execute(sql, values).fetchone()
        return row[0] if row else None

    def count(self, sql: str, *values: object) -> int:
        """A query's single number."""
        return int(str(self.scalar(sql, *values) or 0))

    def execute(self, sql: str, *values: object) -> int:
        """Run one statement; returns the number of rows it changed."""
        with self._lock, self._explained():
            return self._connection.execute(sql, values).rowcount

    def execute_many(self, sql: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Run one statement for many rows of values."""
        with self._lock, self._explained():
            self._connection.executemany(sql, rows)

    def changes(self) -> int:
        """A number that grows with each row that this connection changes."""
        with self._lock:
            return self._connection.total_changes

    def state(self) -> int | None:
        """A number that changes when another connection commits; None inside a transaction of ours."""
        with self._lock:
            return None if self._depth else self.count("PRAGMA data_version")

    def get_meta(self, key: str) -> str | None:
        """A stored setting of the knowledge base, or None."""
        value = self.scalar("SELECT value FROM meta WHERE key = ?", key)
        return None if value is None else str(value)

    def set_meta(self, key: str, value: str) -> None:
        """Store a setting of the knowledge base."""
        self.execute("INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value "
                     "WHERE value <> excluded.value",
                     key, value)

    def integrity_problems(self) -> list[str]:
        """What SQLite's own checks find wrong with the file; empty when sound."""
        found = [str(row[0]) for row in self.rows("PRAGMA integrity_check")]
        broken = [f"table {row[0]}, row {row[1]}: refers to a missing {row[2]}"
                  for row in self.rows("PRAGMA foreign_key_check")]
        return [line for line in found if line != "ok"] + broken


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
