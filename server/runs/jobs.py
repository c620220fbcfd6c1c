"""The builds of a server in its database: a queue from which its processes take one after the other.

Every process can show all jobs, and can cancel each. A process notes in the rows of its jobs that it runs them. If its
notes stop, the process has ended, and its jobs are queued again. If it has not, it learns that it is to end them.
"""

import logging
import uuid
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from typing import Any, Literal

from fastapi import UploadFile
from pydantic import BaseModel, Field
from sqlalchemy import BigInteger, ColumnElement, Connection, delete, insert, literal_column, select, text, update

from ...agents.construction.state import BuildContext, BuildReport, new_run
from ...schemas.delta import Candidate
from ..responses import NotFoundError, StateError, TooManyRequestsError
from ..server_database import JOBS, UPLOADS, ServerDatabase

_LOG = logging.getLogger("banyan.server")
_PART_BYTES = 1 << 20  # bytes of an uploaded file to store in one row
KEPT_BUILDS = 200  # ended builds to remember; older ones are deleted
OVER = frozenset({"done", "failed", "cancelled"})
AT_WORK = frozenset({"queued", "running"})
MOST_QUEUED, MOST_OF_ONE = 100, 25  # builds that may be queued or running: in all, and for one client or base
MOST_TAKEN_UP = 3  # how many processes may end while they run a build, since the build may be the cause
DEAD_AFTER = 20  # seconds after its last note until a process counts as ended
_RETRY_AFTER = 60  # seconds after which a client that was refused is to try again
_IS_OVER = JOBS.c.state.in_(OVER)


class BuildProgress(BaseModel):
    """The progress of a build."""

    step: str
    done: int
    total: int | None
    file: str = Field(default="", description="the file that is being read")


class BuildError(BaseModel):
    """Why a build failed."""

    type: str
    message: str


class BuildReview(BaseModel):
    """The decisions that a build waits for."""

    candidates: list[Candidate]
    error: str = Field(default="", description="why the previous decisions could not be applied")


class Build(BaseModel):
    """A build and its state."""

    id: str
    kb: str
    state: Literal["queued", "running", "waiting", "done", "failed", "cancelled"]
    progress: BuildProgress
    report: BuildReport | None = None
    error: BuildError | None = None
    review: BuildReview | None = None
    created_at: str
    files: list[str]


class BuildOptions(BaseModel):
    """The options of a build."""

    schema_name: str = ""
    context: BuildContext = BuildContext()


class Job(BaseModel):
    """A build with its options. Its row's state is "cancelling" while its process is asked to cancel it."""

    build: Build
    options: BuildOptions = BuildOptions()
    client: str = ""  # the client that started it, even if others resume it or decide; empty if it has no name
    resume: dict[str, Any] | None = None  # the decisions to resume it with; None if it has not waited yet
    run: str = ""  # the run of the graph that waited, whose accounts go on; empty if it has not waited yet
    unread: dict[str, list[str]] = {}  # what was not read before it waited, by the keys of its report
    taken_up: int = 0  # how often it was queued again because its process had ended

    def having(self, **values: Any) -> "Job":
        """Return a copy of the job in which these fields of its build are changed."""
        return self.model_copy(update={"build": self.build.model_copy(update=values)})


def new_job(kb: str, files: Sequence[str] = (), **fields: Any) -> Job:
    """Return a new queued job. Its id begins with the time, so jobs in the order of their ids are oldest first."""
    return Job(**fields, build=Build(
        id=new_run(), kb=kb, state="queued", progress=BuildProgress(step="", done=0, total=None), files=list(files),
        created_at=datetime.now(UTC).isoformat(timespec="seconds")))


class Jobs:
    """The table of jobs, as one of the processes uses it; together they run at most `at_once`."""

    def __init__(self, database: ServerDatabase, at_once: int) -> None:
        self.process = uuid.uuid4().hex
        self._db = database
        self._at_once = at_once
        # The time in seconds by the database's clock, as the clocks of several machines may differ.
        self._now: ColumnElement[int] = literal_column(
            "CAST(extract(epoch FROM clock_timestamp()) AS BIGINT)" if database.is_shared else
            "CAST(strftime('%s', 'now') AS INTEGER)", BigInteger)

    @contextmanager
    def _alone(self) -> Iterator[Connection]:
        """Open a transaction beside which no other changes jobs."""
        with self._db.transaction() as connection:
            if self._db.is_shared:  # in SQLite, one transaction writes at a time
                connection.execute(text("LOCK TABLE banyan_builds IN EXCLUSIVE MODE"))
            yield connection

    def add(self, job: Job, uploads: Sequence[UploadFile] = ()) -> Job:
        """Queue a job with its files, if `check_quotas` allows; of the jobs that are over, forget the oldest."""
        with self._db.transaction() as connection:
            check_quotas(_read(connection, ~_IS_OVER), job)
            # Files come first, as they take long: once it is inserted, no process can take any job until the commit.
            for number, (name, upload) in enumerate(zip(job.build.files, uploads, strict=True)):
                for part in count():  # in parts of `_PART_BYTES`, so any process can run the build
                    content = upload.file.read(_PART_BYTES)
                    if part and not content:  # the end; the first part is stored even if it is empty, for an empty file
                        break
                    connection.execute(insert(UPLOADS).values(build=job.build.id, file=number, part=part, name=name,
                                                              content=content))
            connection.execute(insert(JOBS).values(id=job.build.id, kb=job.build.kb, state=job.build.state, process="",
                                                   seen=0, record=job.model_dump_json()))
            newest = select(JOBS.c.id).where(_IS_OVER).order_by(JOBS.c.id.desc()).limit(KEPT_BUILDS)
            connection.execute(delete(JOBS).where(_IS_OVER, JOBS.c.id.not_in(newest)))
        return job

    def exchange(self, ours: Collection[Job] = ()) -> tuple[list[Job], set[str]]:
        """Save the jobs that this process runs or has run, note that it is alive, and take the next ones.

        A job that another process has taken over is not saved. Jobs of processes that have ended are queued again
        first. Return the jobs for this process to do, and the ids of those to end, as they are cancelled or taken over.
        """
        is_own, is_alive = JOBS.c.process == self.process, JOBS.c.seen >= self._now - DEAD_AFTER
        our_ids, still_ours = {job.build.id for job in ours if job.build.state == "running"}, set[str]()
        busy_bases = set[str]()  # one job runs at a time for each knowledge base
        queue, taken = list[Job](), list[Job]()
        with self._alone() as connection:
            for job in ours:
                if job.build.id in our_ids:
                    connection.execute(update(JOBS).where(JOBS.c.id == job.build.id, is_own).values(
                        record=job.model_dump_json(), seen=self._now))
                else:
                    _write(connection, job, "", is_own)
            rows = connection.execute(select(JOBS.c.state, is_own, is_alive, JOBS.c.record).order_by(
                JOBS.c.id).where(JOBS.c.state.in_(("queued", "running", "cancelling")))).fetchall()
            for state, own, alive, record in rows:
                job = Job.model_validate_json(record)
                if own and state == "running":
                    still_ours.add(job.build.id)
                if state == "queued" and job.build.id not in our_ids:
                    queue.append(job)
                elif alive or state == "queued":
                    # A job of this process may be queued again by others. It has to end here before it is taken anew.
                    busy_bases.add(job.build.kb)
                else:  # nobody works on it, now that its process has ended; the next exchange may take it
                    _requeue(connection, job, state)
            for job in queue:
                if len(busy_bases) < self._at_once and job.build.kb not in busy_bases:
                    busy_bases.add(job.build.kb)
                    taken.append(job.having(state="running"))
                    _write(connection, taken[-1], self.process, seen=self._now)
        if any(job.build.state not in AT_WORK for job in ours):  # its uploaded files were deleted
            self._db.empty_log()
        return taken, our_ids - still_ours

    def cancel(self, build: str) -> Job:
        """Cancel a job that has not ended, and return it; a running one is cancelled by its process a little later."""
        with self._alone() as connection:
            job = _read_one(connection, build)
            if job.build.state in OVER:
                raise StateError(f"the build {build!r} is {job.build.state}, there is nothing to cancel: see it")
            if job.build.state == "running":
                connection.execute(update(JOBS).where(JOBS.c.id == build).values(state="cancelling"))
            else:
                job = job.having(state="cancelled", review=None)
                _write(connection, job)
            return job

    def resume(self, build: str, answer: dict[str, Any]) -> Job:
        """Queue a build that waits for a person again, with the person's answer."""
        with self._alone() as connection:
            job = _read_one(connection, build)
            if job.build.state != "waiting":
                raise StateError(f"the build {build!r} is {job.build.state}, and waits for no decision: decide on the "
                                 "schema instead")
            job = job.having(state="queued", review=None).model_copy(update={"resume": answer})
            _write(connection, job)
            return job

    def leave(self, ended: Collection[Job] = ()) -> None:
        """Save jobs that have ended, and queue the others of this process again, for other processes to resume."""
        is_own = JOBS.c.process == self.process
        with self._alone() as connection:
            for job in ended:
                _write(connection, job, "", is_own)
            for job in _read(connection, is_own):
                _write(connection, job.having(state="queued"))

    def one(self, build: str) -> Job:
        """Return a build by its id; raise NotFoundError if there is none."""
        with self._db.reading() as connection:
            return _read_one(connection, build)

    def all(self, *, unfinished: bool = False) -> list[Job]:
        """Return all builds, or those that have not ended, oldest first."""
        with self._db.reading() as connection:
            return _read(connection, *([~_IS_OVER] if unfinished else []))


def _requeue(connection: Connection, job: Job, state: str) -> None:
    """Queue a job again whose process has ended, unless it was to be cancelled, or ended too many processes."""
    _LOG.warning("build %s of %r is taken up: the process that ran it has ended", job.build.id, job.build.kb)
    job = job.model_copy(update={"taken_up": job.taken_up + 1}).having(state="queued")
    if state == "cancelling":
        job = job.having(state="cancelled")
    elif job.taken_up > MOST_TAKEN_UP:
        job = job.having(state="failed", error=BuildError(type="ServerStopped", message=(
            f"the server's process ended {job.taken_up} times while it ran this build: see its log for why. Progress "
            "is saved: start a build without files to resume, and upload again what was not read")))
    _write(connection, job)


def _read(connection: Connection, *where: ColumnElement[bool]) -> list[Job]:
    """Return the jobs that fit all conditions, oldest first, because ids begin with the time."""
    records = connection.execute(select(JOBS.c.record).where(*where).order_by(JOBS.c.id)).scalars()
    return [Job.model_validate_json(record) for record in records]


def _read_one(connection: Connection, build: str) -> Job:
    """Return the job of a build; raise NotFoundError if there is none."""
    for job in _read(connection, JOBS.c.id == build):
        return job
    raise no_build(build)


def _write(connection: Connection, job: Job, process: str = "", *where: ColumnElement[bool], seen: Any = 0) -> None:
    """Save a job with the process that runs it ("": none), if its row fulfils all conditions in `where`."""
    # If the job is neither queued nor running any more, its files are deleted, because it has read them.
    saved = connection.execute(update(JOBS).where(JOBS.c.id == job.build.id, *where).values(
        state=job.build.state, process=process, seen=seen, record=job.model_dump_json()))
    if saved.rowcount and job.build.state not in AT_WORK:
        connection.execute(delete(UPLOADS).where(UPLOADS.c.build == job.build.id))


def no_build(build: str) -> NotFoundError:
    """Return the error for a build that does not exist, or whose knowledge base the client may not see."""
    return NotFoundError(f"there is no build {build[:100]!r}: `GET /api/builds` lists them")


def check_quotas(unfinished: Sequence[Job], new: Job) -> None:
    """Raise an error if no further build of its client or knowledge base may be queued or running."""
    kb = new.build.kb
    at_work = [job for job in unfinished if job.build.state in AT_WORK]
    of_client = sum(job.client == new.client for job in at_work)
    of_base = sum(job.build.kb == kb for job in at_work)
    for number, most, whose in ((len(at_work), MOST_QUEUED, ""), (of_client, MOST_OF_ONE, " of yours"),
                                (of_base, MOST_OF_ONE, f" of {kb!r}")):
        if number >= most:
            raise TooManyRequestsError(f"{number} builds{whose} are queued or running: start this one later",
                                       _RETRY_AFTER)
    of_base_to_review = [job for job in unfinished if job.build.kb == kb and job.options.context.policy == "review"]
    if new.options.context.policy == "review" and of_base_to_review:
        raise StateError(f"the build {of_base_to_review[0].build.id!r} of {kb!r} is to be reviewed: decide on it or "
                         "cancel it first")
