"""Builds that a server runs: in turn for each knowledge base, some at once.

What a build has done stands in the ledger, whatever becomes of it. Kept here is where it waits for a person, and what
clients are told. Of several processes the one that was asked runs a build; all show it, and each has it cancelled. If
that one ends, another one takes the build up.
"""

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime
from http import HTTPStatus
from itertools import count
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.to_thread
from langgraph.types import Command

from ...agents.construction.graph import build_graph
from ...agents.construction.state import new_run
from ...agents.resources import Resources
from ...graph_store.errors import DatabaseError, WriterBusyError
from ...graph_store.layout import check_name
from ...runtime import audit
from ...runtime.budgets import charge
from ...runtime.panics import is_panic
from ...schemas.delta import Candidate, Decision
from ..answers import Build, BuildError, BuildProgress, BuildReview
from ..checkpoints import checkpoints_in
from ..database import ServerDatabase
from ..errors import NotFoundError, StateError, detail_of, status_of
from ..security.allowances import Allowances
from .build_quotas import check_quotas
from .build_records import AT_WORK, OVER, BuildOptions, BuildRecord, BuildRecords, changed
from .job import Job
from .process_lock import ProcessLock, holding_one, kb_lock
from .uploads import Upload, Uploads, safe_names

_LOG = logging.getLogger("banyan.server")
_BEAT = 0.5
"""Seconds between two looks at what other processes do."""
_TAKING_UP = 4
"""Beats between two looks for builds whose process has ended."""
_MOST_TAKEN_UP = 3
"""Processes that a build may take with it; it may be what ended them."""


class Builds:
    """The builds of a server, as one of its processes sees and runs them."""

    def __init__(self, resources: Resources, database: ServerDatabase, process: ProcessLock,
                 allowances: Allowances) -> None:
        self._resources = resources
        self._allowances = allowances
        self._db = database
        self._checkpoints = checkpoints_in(database)
        self._process = process
        self._records = BuildRecords(database)
        self._uploads = Uploads(database, resources.settings.home)
        at_once = resources.settings.builds_at_once
        self._slots = [f"build-{number}" for number in range(at_once)]
        self._limiter = anyio.CapacityLimiter(at_once)
        self._turns: dict[str, asyncio.Lock] = {}
        self._jobs: dict[str, Job] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def sweep(self) -> None:
        """Remove what processes that were killed left of what they read."""
        self._uploads.sweep(self._process)

    async def attend(self) -> None:
        """See to what other processes do: what they ask for, and what they leave behind."""
        for beat in count():
            try:
                if not await anyio.to_thread.run_sync(self._process.holds):
                    await self._begin_again()
                await self._obey()
                await self._tell()
                if beat % _TAKING_UP == 0:
                    await self._take_up()
            except (sqlite3.OperationalError, DatabaseError) as error:
                _LOG.warning("builds are not attended to for now: %s", getattr(error, "here", error))
            await asyncio.sleep(_BEAT)

    async def _begin_again(self) -> None:
        """Other processes saw this one end: it leaves its builds to whoever takes them up, itself perhaps."""
        for job in self._jobs.values():
            job.leave()
        await anyio.to_thread.run_sync(self._process.acquire)
        _LOG.warning("the session with PostgreSQL was lost and is opened again; builds of this process go on")

    async def _obey(self) -> None:
        for build in await anyio.to_thread.run_sync(self._records.to_cancel) if self._jobs else ():
            if build in self._jobs and not self._jobs[build].cancelled:
                await self._give_up(self._jobs[build])

    async def _tell(self) -> None:
        for job in list(self._jobs.values()):
            if job.record is not job.told and job.build.state == "running" and not job.left:
                job.told = job.record
                await anyio.to_thread.run_sync(self._keep, job.record)

    async def _take_up(self) -> None:
        for record in await anyio.to_thread.run_sync(self._claimed):
            _LOG.warning("build %s of %r is taken up: the process that ran it has ended", record.build.id,
                         record.build.kb)
            self._queue(Job(record))

    def _claimed(self) -> list[BuildRecord]:
        """Make those builds this process's whose process has ended."""
        claimed = []
        for record in self._records.unfinished():
            if record.build.state not in AT_WORK or self._process.runs(record.process):
                continue
            times = record.taken_up + (record.process not in {"", *self._process.past})
            taken = changed(record, state="queued").model_copy(
                update={"process": self._process.id, "taken_up": times})
            if not self._records.take(record, taken):
                continue
            if times > _MOST_TAKEN_UP:
                self._keep(changed(taken, state="failed", error=BuildError(
                    type="ServerStopped", message=f"the server's process ended {times} times while it ran this build: "
                    "see its log for why. What was done stands: start a build without files to go on with what was "
                    "read, and upload again what was not")))
            else:
                claimed.append(taken)
        return claimed

    def all(self, kb: str = "") -> list[Build]:
        """The builds, or those of a knowledge base, newest first."""
        return [self._newest(record) for record in reversed(self._records.all()) if kb in {"", record.build.kb}]

    def one(self, build: str) -> Build:
        """A build by its id.

        Raises:
            NotFoundError: there is none.
        """
        return self._newest(self._record(build))

    def building(self) -> dict[str, str]:
        """The ids of the newest builds that are not over, by knowledge base."""
        return {record.build.kb: record.build.id for record in self._records.unfinished()}

    async def following(self, build: str) -> AsyncIterator[Build]:
        """A build now, and after each change, until it is over; of fast changes some are left out.

        Raises:
            NotFoundError: there is none.
        """
        told: Build | None = None
        while True:
            job = self._jobs.get(build)
            changing = job.next_change if job else None
            now = job.build if job else await anyio.to_thread.run_sync(self.one, build)
            if now != told:
                yield now
            if now.state in OVER:
                return
            told = now
            await (changing.wait() if changing else asyncio.sleep(_BEAT))

    async def start(self, kb: str, uploads: Sequence[Upload], options: BuildOptions) -> Build:
        """Queue a build of uploaded files, or, without any, of what is stored.

        Raises:
            FileNameError: a file's name is not safe.
            TooManyRequestsError: too many builds wait, of all or of this client or knowledge base.
            StateError: another build of the knowledge base is to be reviewed.
        """
        check_quotas(await anyio.to_thread.run_sync(self._records.unfinished), kb, options, audit.client())
        names = safe_names([upload.name for upload in uploads])
        build = Build(id=new_run(), kb=kb, state="queued", progress=BuildProgress(step="", done=0, total=None),
                      created_at=datetime.now(UTC).isoformat(timespec="seconds"), files=names)
        record = BuildRecord(build=build, options=options, process=self._process.id, client=audit.client())
        await anyio.to_thread.run_sync(self._add, record, uploads)
        self._queue(Job(record))
        await anyio.to_thread.run_sync(self._records.forget_old)
        return build

    def _add(self, record: BuildRecord, uploads: Sequence[Upload]) -> None:
        with self._db.transaction() as connection:
            self._records.add(connection, record)
            self._uploads.add(connection, record.build.id, uploads, record.build.files)

    async def decide(self, build: str, decisions: Sequence[Decision], who: str) -> Build:
        """Go on with a build that waits for a person.

        Raises:
            StateError: it does not.
        """
        found = await anyio.to_thread.run_sync(self._record, build)
        decided = [decision.model_dump(mode="json") for decision in decisions]
        queued = changed(found, state="queued", review=None).model_copy(
            update={"process": self._process.id, "resume": {"decisions": decided, "who": who}})
        if found.build.state != "waiting" or not await anyio.to_thread.run_sync(self._records.take, found, queued):
            raise StateError(f"the build {build!r} is {found.build.state}, and waits for no decision")
        self._queue(Job(queued))
        return queued.build

    async def cancel(self, build: str) -> Build:
        """Give a build up. One that runs ends with the step that is under way.

        Raises:
            StateError: it is over.
        """
        found = await anyio.to_thread.run_sync(self._record, build)
        state = self._newest(found).state
        if state in OVER:
            raise StateError(f"the build {build!r} is {state}, there is nothing to cancel")
        if build in self._jobs:
            return await self._give_up(self._jobs[build])
        cancelled = changed(found, state="cancelled", review=None)
        if state == "waiting" and await anyio.to_thread.run_sync(self._records.take, found, cancelled):
            await anyio.to_thread.run_sync(self._checkpoints.delete, build)
            return cancelled.build
        await anyio.to_thread.run_sync(self._records.order_cancel, build)
        return found.build

    def stop(self) -> None:
        """Give up all of this process; what they have done stands. Servers that share a database hand them over."""
        for job in self._jobs.values():
            if self._db.shared:
                job.leave()
            else:
                job.cancel()

    def hand_over(self) -> None:
        """Say of builds that were given up, and are not over, that nobody runs them."""
        for record in self._records.unfinished():
            if record.process == self._process.id:
                self._records.take(record, record.model_copy(update={"process": ""}))

    async def ended(self, seconds: float) -> bool:
        """Wait for those that were given up; returns whether all have ended within so many seconds."""
        if not self._tasks:
            return True
        _, waiting = await asyncio.wait(self._tasks, timeout=seconds)
        return not waiting

    @asynccontextmanager
    async def turn(self, kb: str) -> AsyncIterator[None]:
        """Entered by whoever builds: some builds at once, and one after the other for a knowledge base.

        It has one writer, and the next one would be refused. All processes of a server count.

        Raises:
            KnowledgeBaseNameError: none can have this name.
        """
        # Those of one process are let in as they come.
        async with (self._turns.setdefault(check_name(kb), asyncio.Lock()), self._limiter,
                    holding_one(self._process, [kb_lock(kb)]), holding_one(self._process, self._slots)):
            yield

    def _record(self, build: str) -> BuildRecord:
        found = self._records.one(build)
        if found is None:
            raise no_build(build)
        return found

    def _newest(self, record: BuildRecord) -> Build:
        """The build of a record, as this process knows it if it is its own."""
        job = self._jobs.get(record.build.id)
        return job.build if job else record.build

    async def _give_up(self, job: Job) -> Build:
        job.cancel()
        if job.build.state == "queued":
            job.change(state="cancelled")
            await self._told(job, job.record)
        return job.build

    def _queue(self, job: Job) -> None:
        self._jobs[job.build.id] = job
        task = asyncio.create_task(self._run(job))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, job: Job) -> None:
        try:
            while not await self._in_turn(job):
                await asyncio.sleep(_BEAT)
        except DatabaseError as error:
            # The locks were lost while it waited for its turn; so was the process, which takes it up again.
            _LOG.warning("build %s waits for PostgreSQL: %s", job.build.id, error.here)
        finally:
            if self._jobs.get(job.build.id) is job:  # it may have been decided on as soon as it was seen to wait
                del self._jobs[job.build.id]
            job.next_change.set()  # who follows it sees how it goes on elsewhere

    async def _in_turn(self, job: Job) -> bool:
        """Run it when its turn comes; False: the process that ran it before still writes, for a while."""
        async with self.turn(job.build.kb):
            if job.left or job.build.state in OVER:
                return True
            changes: dict[str, Any] = {"state": "cancelled"}
            if not job.cancelled:
                job.change(state="running")
                await self._told(job, job.record)
                job.work = asyncio.create_task(self._work(job))
                if job.cancelled:
                    job.work.cancel()
                with suppress(asyncio.CancelledError):
                    changes = await job.work
        if job.left:
            return True
        error = changes.get("error")
        before = self._db.shared or job.record.taken_up  # another process may have run it, and not have ended yet
        if before and error is not None and error.type == WriterBusyError.__name__ and job.waits():
            return False
        # Whoever hears that it is over finds nothing left of it.
        if await self._told(job, changed(job.record, **changes)):
            job.change(**changes)
        return True

    async def _told(self, job: Job, record: BuildRecord) -> bool:
        """Remember how a build stands, as soon as that is possible; False: it is another process's by now."""
        while not job.left:
            try:
                return await anyio.to_thread.run_sync(self._keep, record)
            except (sqlite3.OperationalError, DatabaseError) as error:
                _LOG.warning("build %s cannot be told of now: %s", job.build.id, getattr(error, "here", error))
                await asyncio.sleep(_BEAT)
        return False

    async def _work(self, job: Job) -> dict[str, Any]:
        """Run the graph to its end, or to where it waits; returns what changes of the build."""
        build = job.build
        config: Any = {"configurable": {"thread_id": build.id}}
        folder: Path | None = None
        try:
            async with AsyncExitStack() as stack:
                stack.enter_context(self._allowances.spending(job.record.client))
                await anyio.to_thread.run_sync(charge().look)
                saver = await stack.enter_async_context(self._checkpoints.saver())
                # Made for each build: how many nodes work at once depends on the model, which may be set meanwhile.
                graph = build_graph(self._resources, saver)
                step: Any = {"knowledge_base": build.kb, "schema": job.record.options.schema_name}
                if job.record.resume is not None:
                    step = Command(resume=job.record.resume)
                elif build.files:
                    folder = await stack.enter_async_context(self._uploads.reading(build.id, build.kb))
                    step["paths"] = [str(folder)]
                # What was paid for is in the ledger: a checkpoint is needed where it waits, and nowhere else.
                async for event in graph.astream(step, config, context=job.record.options.context,
                                                       stream_mode="custom", durability="exit"):
                    job.change(progress=BuildProgress(**cast("dict[str, Any]", event)))
                state = await graph.aget_state(config)
        except BaseException as error:  # told to the client, and defects to the log
            if not isinstance(error, Exception) and not is_panic(error):
                raise
            if isinstance(error, DatabaseError) and not await anyio.to_thread.run_sync(self._process.holds):
                job.leave()
                return {}
            if status_of(error) == HTTPStatus.INTERNAL_SERVER_ERROR:
                _LOG.exception("build %s failed", build.id)
            detail = detail_of(error, self._resources.settings)
            # Where the server kept the files meanwhile is nobody's business.
            within = f"BANYAN_HOME/{folder.relative_to(self._resources.settings.home)}/" if folder else ""
            message = detail.message.replace(within, "") if within else detail.message
            return {"state": "failed", "error": BuildError(type=detail.type, message=message)}
        if state.interrupts:
            asked = state.interrupts[0].value
            return {"state": "waiting", "review": BuildReview(
                candidates=[Candidate(**data) for data in asked["delta"]["candidates"]], error=asked.get("error", ""))}
        report = state.values["report"]
        report["files_failed"] = [line.removeprefix(f"{folder}/") for line in report["files_failed"]]
        return {"state": "done", "report": report}

    def _keep(self, record: BuildRecord) -> bool:
        """In a worker thread: remember how a build of this process stands; what is not needed any more goes.

        Returns:
            Whether it is still this one's.
        """
        with self._db.transaction() as connection:
            kept = self._records.keep(connection, record)
            if kept and record.build.state not in AT_WORK:
                self._uploads.remove(connection, record.build.id)
        if kept and record.build.state in OVER:
            self._checkpoints.delete(record.build.id)
        return kept


def no_build(build: str) -> NotFoundError:
    """What is said of a build that there is not, or not for this client."""
    return NotFoundError(f"there is no build {build[:100]!r}")

