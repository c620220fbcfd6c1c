"""Records of builds in the server's database, which survive restarts and which its processes share.

A job is a record while a process runs the build. Quotas limit the builds that may be queued.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Connection, text

from ...agents.construction.state import BuildContext
from ..error_responses import NotFoundError, StateError, TooManyRequestsError
from ..responses import Build, BuildError
from ..server_database import ServerDatabase

KEPT = 200
"""Ended builds to remember; older ones are deleted."""
OVER = frozenset({"done", "failed", "cancelled"})
AT_WORK = frozenset({"queued", "running"})
"""The states in which a process owns a build; a build that waits for a person has no owner."""
MOST_QUEUED, MOST_OF_ONE = 100, 25
"""The most builds that may be queued or running: in total, and for one client or one knowledge base."""
_RETRY = 60
_WRITER_ENDS = 60.0
"""Seconds that the previous process of a build may take to release the knowledge base."""
_OVER = "state IN ('done', 'failed', 'cancelled')"
_NEXT_STATE = ("CASE WHEN state = 'cancelling' AND CAST(:state AS TEXT) IN ('queued', 'running') THEN state "
               "ELSE CAST(:state AS TEXT) END")


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
    """The table of builds. The state of one that its process is asked to cancel is "cancelling" there until it ends."""

    def __init__(self, database: ServerDatabase) -> None:
        self._db = database

    def add(self, connection: Connection, record: BuildRecord) -> None:
        """Insert a new build, as part of a transaction."""
        connection.execute(text("INSERT INTO banyan_jobs (id, kb, state, process, record) "
                                "VALUES (:id, :kb, :state, :process, :record)"), record.row())

    def keep(self, connection: Connection, record: BuildRecord) -> bool:
        """Save a build's record, as part of a transaction; return False if another process owns it by now."""
        return bool(connection.execute(text(
            f"UPDATE banyan_jobs SET state = {_NEXT_STATE}, record = :record "  # noqa: S608
            "WHERE id = :id AND process = :process AND state IN ('queued', 'running', 'cancelling')"),
            record.row()).rowcount)

    def take(self, before: BuildRecord, after: BuildRecord) -> bool:
        """Change the owner of a build, unless its state or owner has changed meanwhile; return True on success."""
        with self._db.transaction() as connection:
            return bool(connection.execute(text(
                f"UPDATE banyan_jobs SET state = {_NEXT_STATE}, process = :process, record = :record "  # noqa: S608
                "WHERE id = :id AND state IN (:before, 'cancelling') AND process = :owner"),
                after.row() | {"before": before.build.state, "owner": before.process}).rowcount)

    def one(self, build: str) -> BuildRecord | None:
        """Return a build by its id, or None."""
        return next(iter(self._select("WHERE id = :id", {"id": build})), None)

    def all(self) -> list[BuildRecord]:
        """Return all builds, oldest first: their ids begin with the time."""
        return self._select("ORDER BY id")

    def list_unfinished(self) -> list[BuildRecord]:
        """Return the builds that have not ended, oldest first."""
        return self._select(f"WHERE NOT {_OVER} ORDER BY id")

    def order_cancel(self, build: str) -> None:
        """Ask the process that runs a build to cancel it."""
        with self._db.transaction() as connection:
            connection.execute(text("UPDATE banyan_jobs SET state = 'cancelling' WHERE id = :id AND "
                                    "state IN ('queued', 'running')"), {"id": build})

    def to_cancel(self) -> set[str]:
        """Return the builds to be cancelled."""
        with self._db.reading() as connection:
            return {*connection.execute(text("SELECT id FROM banyan_jobs WHERE state = 'cancelling'")).scalars()}

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


def with_changes(record: BuildRecord, **values: Any) -> BuildRecord:
    """Return a copy of the record with the build's fields changed."""
    return record.model_copy(update={"build": record.build.model_copy(update=values)})


def give_up(record: BuildRecord) -> BuildRecord:
    """Return the record of a build that failed because too many processes ended while they ran it."""
    return with_changes(record, state="failed", error=BuildError(
        type="ServerStopped", message=f"the server's process ended {record.taken_up} times while it ran this build: "
        "see its log for why. Progress is saved: start a build without files to resume with the documents that were "
        "read, and upload the others again"))


def no_build(build: str) -> NotFoundError:
    """Return the error for a build that does not exist, or not for this client."""
    return NotFoundError(f"there is no build {build[:100]!r}")


class Job:
    """A build of this process, with its record, its followers, and its stop order. Only the event loop changes it."""

    def __init__(self, record: BuildRecord) -> None:
        self.record = record
        self.told = record
        """The record that other processes see."""
        self.cancelled = False
        self.left = False
        """Whether it is left to other processes, so this one no longer reports it."""
        self.work: asyncio.Task[dict[str, Any]] | None = None
        self.next_change = asyncio.Event()
        self._waits_until = 0.0

    @property
    def build(self) -> Build:
        """The build in its current state."""
        return self.record.build

    def change(self, **values: Any) -> None:
        """Change the build, and notify its followers."""
        self.record = with_changes(self.record, **values)
        self.next_change.set()
        self.next_change = asyncio.Event()

    def cancel(self) -> None:
        """Cancel it: its calls end at once, its current step as soon as possible."""
        self.cancelled = True
        if self.work is not None:
            self.work.cancel()

    def waits(self) -> bool:
        """Return True while it may wait for its previous process, counted from the first wait."""
        self._waits_until = self._waits_until or time.monotonic() + _WRITER_ENDS
        return time.monotonic() < self._waits_until

    def leave(self) -> None:
        """End it like a cancelled build, but leave it to another process to resume."""
        self.left = True
        self.cancel()


def check_quotas(unfinished: Sequence[BuildRecord], kb: str, options: BuildOptions, client: str) -> None:
    """Check that another build may start.

    Builds that wait for a person are not counted: they use no slot, and each knowledge base has at most one.

    Args:
        unfinished: the builds that have not ended.
        kb: the knowledge base to build.
        options: the options of the new build.
        client: the client that starts it.

    Raises:
        TooManyRequestsError: too many builds are queued.
        StateError: the build is to be reviewed, and another one of the knowledge base already is.
    """
    at_work = [record for record in unfinished if record.build.state in AT_WORK]
    of_client = sum(record.client == client for record in at_work)
    of_base = sum(record.build.kb == kb for record in at_work)
    for number, most, whose in ((len(at_work), MOST_QUEUED, ""), (of_client, MOST_OF_ONE, " of yours"),
                                (of_base, MOST_OF_ONE, f" of {kb!r}")):
        if number >= most:
            raise TooManyRequestsError(f"{number} builds{whose} are queued or running: start this one later", _RETRY)
    if options.context.policy == "review":
        for record in unfinished:
            if record.build.kb == kb and record.options.context.policy == "review":
                raise StateError(f"the build {record.build.id!r} of {kb!r} is to be reviewed: decide on it or cancel "
                                 "it first")
