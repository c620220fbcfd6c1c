"""Builds remembered over restarts of the server, in the database of its checkpoints, which its processes share."""

from langgraph.checkpoint.sqlite import SqliteSaver
from pydantic import BaseModel

from ...agents.construction.state import BuildContext
from ..answers import Build

KEPT = 200
"""Builds that are over; older ones are forgotten."""
OVER = frozenset({"done", "failed", "cancelled"})
AT_WORK = frozenset({"queued", "running"})
"""The states in which a build is some process's; one that waits for a person is nobody's."""
_TABLES = ("CREATE TABLE IF NOT EXISTS banyan_builds (id TEXT PRIMARY KEY, record TEXT NOT NULL)",
           "CREATE TABLE IF NOT EXISTS banyan_builds_to_cancel (id TEXT PRIMARY KEY)",
           ("CREATE VIEW IF NOT EXISTS banyan_build_states AS SELECT id, record, "
            "json_extract(record, '$.build.state') AS state FROM banyan_builds"))


class BuildOptions(BaseModel):
    """How a build is run."""

    schema_name: str = ""
    context: BuildContext


class BuildRecord(BaseModel):
    """A build and how it is run."""

    build: Build
    options: BuildOptions
    process: str = ""
    """The id of the process that runs it, or ran it last (see `ProcessLock`)."""


class BuildRecords:
    """The table of builds, and that of those which the process that runs them is to cancel."""

    def __init__(self, saver: SqliteSaver) -> None:
        self._saver = saver
        with saver.cursor() as cursor:
            for table in _TABLES:
                cursor.execute(table)

    def save(self, record: BuildRecord) -> None:
        """Remember a build as it stands."""
        with self._saver.cursor() as cursor:
            cursor.execute("INSERT OR REPLACE INTO banyan_builds VALUES (?, ?)",
                           (record.build.id, record.model_dump_json()))
            if record.build.state not in AT_WORK:
                cursor.execute("DELETE FROM banyan_builds_to_cancel WHERE id = ?", (record.build.id,))

    def change(self, record: BuildRecord, state: str) -> bool:
        """Remember a build as it stands if it is still in a state; returns whether it was."""
        with self._saver.cursor() as cursor:
            cursor.execute("UPDATE banyan_builds SET record = ? WHERE id = ? AND json_extract(record, '$.build.state') "
                           "= ?", (record.model_dump_json(), record.build.id, state))
            return bool(cursor.rowcount)

    def one(self, build: str) -> BuildRecord | None:
        """A build by its id."""
        with self._saver.cursor(transaction=False) as cursor:
            row = cursor.execute("SELECT record FROM banyan_builds WHERE id = ?", (build,)).fetchone()
        return BuildRecord.model_validate_json(row[0]) if row else None

    def all(self) -> list[BuildRecord]:
        """All builds, oldest first: their ids begin with their time."""
        return self._found("SELECT record FROM banyan_builds ORDER BY id")

    def unfinished(self) -> list[BuildRecord]:
        """The builds that are not over, oldest first."""
        return self._found("SELECT record FROM banyan_build_states WHERE state NOT IN ('done', 'failed', 'cancelled') "
                           "ORDER BY id")

    def order_cancel(self, build: str) -> None:
        """Have the process that runs a build cancel it."""
        with self._saver.cursor() as cursor:
            cursor.execute("INSERT OR IGNORE INTO banyan_builds_to_cancel SELECT id FROM banyan_build_states WHERE "
                           "id = ? AND state IN ('queued', 'running')", (build,))

    def to_cancel(self) -> set[str]:
        """The builds that are to be cancelled."""
        with self._saver.cursor(transaction=False) as cursor:
            return {build for (build,) in cursor.execute("SELECT id FROM banyan_builds_to_cancel")}

    def forget_old(self) -> None:
        """Forget the builds that were over long ago."""
        with self._saver.cursor() as cursor:
            cursor.execute("DELETE FROM banyan_builds WHERE id IN (SELECT id FROM banyan_build_states WHERE "
                           "state IN ('done', 'failed', 'cancelled') ORDER BY id DESC LIMIT -1 OFFSET ?)", (KEPT,))

    def _found(self, select: str) -> list[BuildRecord]:
        with self._saver.cursor(transaction=False) as cursor:
            rows = cursor.execute(select).fetchall()
        return [BuildRecord.model_validate_json(row[0]) for row in rows]
