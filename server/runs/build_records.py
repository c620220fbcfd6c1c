"""Records of builds in the server's database, which survive restarts and which its processes share."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Connection, text

from ...agents.construction.state import BuildContext
from ..answers import Build
from ..database import ServerDatabase

KEPT = 200
"""Ended builds to remember; older ones are deleted."""
OVER = frozenset({"done", "failed", "cancelled"})
AT_WORK = frozenset({"queued", "running"})
"""The states in which a process owns a build; a build that waits for a person has no owner."""
_OVER = "state IN ('done', 'failed', 'cancelled')"


class BuildOptions(BaseModel):
    """The options of a build."""

    schema_name: str = ""
    context: BuildContext


class BuildRecord(BaseModel):
    """A build with its options and its owner."""

    build: Build
    options: BuildOptions
    process: str = ""
    """The id of the process that runs it, or ran it last (see `ProcessLock`); empty: it was handed over."""
    client: str = ""
    """The client that started it, even if others resume it or decide; empty for a client without a name."""
    resume: dict[str, Any] | None = None
    """The decisions to resume it with; None if it has not waited yet."""
    taken_up: int = 0
    """How often another process resumed it because its process had ended."""

    def row(self) -> dict[str, str]:
        """Return the record as a row of the table."""
        return {"id": self.build.id, "kb": self.build.kb, "state": self.build.state, "process": self.process,
                "record": self.model_dump_json()}


class BuildRecords:
    """The tables of builds and of requests to cancel them."""

    def __init__(self, database: ServerDatabase) -> None:
        self._db = database

    def add(self, connection: Connection, record: BuildRecord) -> None:
        """Insert a new build, as part of a transaction."""
        connection.execute(text("INSERT INTO banyan_jobs (id, kb, state, process, record) "
                                "VALUES (:id, :kb, :state, :process, :record)"), record.row())

    def keep(self, connection: Connection, record: BuildRecord) -> bool:
        """Save a build's record, as part of a transaction; return False if another process owns it by now."""
        updated = connection.execute(text(
            "UPDATE banyan_jobs SET state = :state, record = :record "
            "WHERE id = :id AND process = :process AND state IN ('queued', 'running')"), record.row()).rowcount
        if updated and record.build.state not in AT_WORK:
            connection.execute(text("DELETE FROM banyan_builds_to_cancel WHERE id = :id"), {"id": record.build.id})
        return bool(updated)

    def take(self, before: BuildRecord, after: BuildRecord) -> bool:
        """Change the owner of a build, unless its state or owner has changed meanwhile; return True on success."""
        with self._db.transaction() as connection:
            return bool(connection.execute(text(
                "UPDATE banyan_jobs SET state = :state, process = :process, record = :record "
                "WHERE id = :id AND state = :before AND process = :owner"),
                after.row() | {"before": before.build.state, "owner": before.process}).rowcount)

    def one(self, build: str) -> BuildRecord | None:
        """Return a build by its id, or None."""
        return next(iter(self._select("WHERE id = :id", {"id": build})), None)

    def all(self) -> list[BuildRecord]:
        """Return all builds, oldest first: their ids begin with the time."""
        return self._select("ORDER BY id")

    def unfinished(self) -> list[BuildRecord]:
        """Return the builds that have not ended, oldest first."""
        return self._select(f"WHERE NOT {_OVER} ORDER BY id")

    def order_cancel(self, build: str) -> None:
        """Ask the process that runs a build to cancel it."""
        with self._db.transaction() as connection:
            connection.execute(text(
                "INSERT INTO banyan_builds_to_cancel SELECT id FROM banyan_jobs WHERE id = :id AND "
                "state IN ('queued', 'running') ON CONFLICT DO NOTHING"), {"id": build})

    def to_cancel(self) -> set[str]:
        """Return the builds to be cancelled."""
        with self._db.reading() as connection:
            return {build for (build,) in connection.execute(text("SELECT id FROM banyan_builds_to_cancel"))}

    def forget_old(self) -> None:
        """Delete all but the latest ended builds."""
        with self._db.transaction() as connection:
            connection.execute(text(
                f"DELETE FROM banyan_jobs WHERE {_OVER} AND id NOT IN "  # noqa: S608
                f"(SELECT id FROM banyan_jobs WHERE {_OVER} ORDER BY id DESC LIMIT :kept)"), {"kept": KEPT})

    def _select(self, which: str, values: Mapping[str, str] | None = None) -> list[BuildRecord]:
        with self._db.reading() as connection:
            rows = connection.execute(text(f"SELECT record FROM banyan_jobs {which}"),  # noqa: S608
                                      values or {}).fetchall()
        return [BuildRecord.model_validate_json(record) for (record,) in rows]


def changed(record: BuildRecord, **values: Any) -> BuildRecord:
    """Return a copy of the record with the build's fields changed."""
    return record.model_copy(update={"build": record.build.model_copy(update=values)})
