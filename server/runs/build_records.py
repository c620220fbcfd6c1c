"""Builds remembered over restarts of the server, in the database of its checkpoints."""

from langgraph.checkpoint.sqlite import SqliteSaver
from pydantic import BaseModel

from ...agents.construction.state import BuildContext
from ..answers import Build

KEPT = 200
"""Builds that are over; older ones are forgotten."""


class BuildOptions(BaseModel):
    """How a build is run."""

    schema_name: str = ""
    context: BuildContext


class BuildRecord(BaseModel):
    """A build and how it is run."""

    build: Build
    options: BuildOptions


class BuildRecords:
    """The table of builds."""

    def __init__(self, saver: SqliteSaver) -> None:
        self._saver = saver
        with saver.cursor() as cursor:
            cursor.execute("CREATE TABLE IF NOT EXISTS banyan_builds (id TEXT PRIMARY KEY, record TEXT NOT NULL)")

    def save(self, record: BuildRecord) -> None:
        """Remember a build as it stands."""
        with self._saver.cursor() as cursor:
            cursor.execute("INSERT OR REPLACE INTO banyan_builds VALUES (?, ?)",
                           (record.build.id, record.model_dump_json()))

    def all(self) -> list[BuildRecord]:
        """All builds, oldest first: their ids begin with their time."""
        with self._saver.cursor(transaction=False) as cursor:
            rows = cursor.execute("SELECT record FROM banyan_builds ORDER BY id").fetchall()
        return [BuildRecord.model_validate_json(row[0]) for row in rows]

    def forget(self, build: str) -> None:
        """Forget a build, and where it waited."""
        with self._saver.cursor() as cursor:
            cursor.execute("DELETE FROM banyan_builds WHERE id = ?", (build,))
        self._saver.delete_thread(build)
