"""Builds remembered over restarts of the server, in its database, which its processes share."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Connection, text

from ...agents.construction.state import BuildContext
from ..answers import Build
from ..database import ServerDatabase

KEPT = 200
"""Builds that are over; older ones are forgotten."""
OVER = frozenset({"done", "failed", "cancelled"})
AT_WORK = frozenset({"queued", "running"})
"""The states in which a build is some process's; one that waits for a person is nobody's."""
_OVER = "state IN ('done', 'failed', 'cancelled')"


class BuildOptions(BaseModel):
    """How a build is run."""

    schema_name: str = ""
    context: BuildContext


class BuildRecord(BaseModel):
    """A build and how it is run."""

    build: Build
    options: BuildOptions
    process: str = ""
    """The id of the process that runs it, or ran it last (see `ProcessLock`); empty: it was handed over."""
    client: str = ""
    """Who started it, whichever process runs it and whoever decides; empty: nobody with a name."""
    resume: dict[str, Any] | None = None
    """What a person has decided that it goes on with; None: nobody was asked yet."""
    taken_up: int = 0
    """How often another process went on with it, because the one that ran it had ended."""

    def row(self) -> dict[str, str]:
        """The record as the table has it."""
        return {"id": self.build.id, "kb": self.build.kb, "state": self.build.state, "process": self.process,
                "record": self.model_dump_json()}


class BuildRecords:
    """The table of builds, and that of those which the process that runs them is to cancel."""

    def __init__(self, database: ServerDatabase) -> None:
        self._db = database

    def add(self, connection: Connection, record: BuildRecord) -> None:
        """Remember a new build, as a part of a transaction."""
        connection.execute(text("INSERT INTO banyan_jobs (id, kb, state, process, record) "
                                "VALUES (:id, :kb, :state, :process, :record)"), record.row())

    def keep(self, connection: Connection, record: BuildRecord) -> bool:
        """Remember how a build of a process stands, as a part of a transaction; False: it is no longer that one's."""
        kept = connection.execute(text(
            "UPDATE banyan_jobs SET state = :state, record = :record "
            "WHERE id = :id AND process = :process AND state IN ('queued', 'running')"), record.row()).rowcount
        if kept and record.build.state not in AT_WORK:
            connection.execute(text("DELETE FROM banyan_builds_to_cancel WHERE id = :id"), {"id": record.build.id})
        return bool(kept)

    def take(self, before: BuildRecord, after: BuildRecord) -> bool:
        """Make a build another one's that is still as it was: in its state, and of its process."""
        with self._db.transaction() as connection:
            return bool(connection.execute(text(
                "UPDATE banyan_jobs SET state = :state, process = :process, record = :record "
                "WHERE id = :id AND state = :before AND process = :owner"),
                after.row() | {"before": before.build.state, "owner": before.process}).rowcount)

    def one(self, build: str) -> BuildRecord | None:
        """A build by its id."""
        return next(iter(self._found("WHERE id = :id", {"id": build})), None)

    def all(self) -> list[BuildRecord]:
        """All builds, oldest first: their ids begin with their time."""
        return self._found("ORDER BY id")

    def unfinished(self) -> list[BuildRecord]:
        """The builds that are not over, oldest first."""
        return self._found(f"WHERE NOT {_OVER} ORDER BY id")

    def order_cancel(self, build: str) -> None:
        """Have the process that runs a build cancel it."""
        with self._db.transaction() as connection:
            connection.execute(text(
                "INSERT INTO banyan_builds_to_cancel SELECT id FROM banyan_jobs WHERE id = :id AND "
                "state IN ('queued', 'running') ON CONFLICT DO NOTHING"), {"id": build})

    def to_cancel(self) -> set[str]:
        """The builds that are to be cancelled."""
        with self._db.reading() as connection:
            return {build for (build,) in connection.execute(text("SELECT id FROM banyan_builds_to_cancel"))}

    def forget_old(self) -> None:
        """Forget the builds that were over long ago."""
        with self._db.transaction() as connection:
            connection.execute(text(
                f"DELETE FROM banyan_jobs WHERE {_OVER} AND id NOT IN "  # noqa: S608
                f"(SELECT id FROM banyan_jobs WHERE {_OVER} ORDER BY id DESC LIMIT :kept)"), {"kept": KEPT})

    def _found(self, which: str, values: Mapping[str, str] | None = None) -> list[BuildRecord]:
        with self._db.reading() as connection:
            rows = connection.execute(text(f"SELECT record FROM banyan_jobs {which}"),  # noqa: S608
                                      values or {}).fetchall()
        return [BuildRecord.model_validate_json(record) for (record,) in rows]


def changed(record: BuildRecord, **values: Any) -> BuildRecord:
    """The record as it is when the build has changed so."""
    return record.model_copy(update={"build": record.build.model_copy(update=values)})
