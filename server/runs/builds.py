"""Builds that a server runs: in turn for each knowledge base, some at once.

What a build has done stands in the ledger, whatever becomes of it. Kept here is where it waits for a person, and what
clients are told. Of several processes the one that was asked runs a build; all show it, and each has it cancelled.
"""

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.to_thread
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from ...agents.construction.graph import build_graph
from ...agents.construction.state import new_run
from ...agents.resources import Resources
from ...schemas.delta import Candidate, Decision
from ..answers import Build, BuildError, BuildProgress, BuildReview
from ..errors import NotFoundError, StateError, TooManyRequestsError, detail_of, status_of
from .build_records import AT_WORK, OVER, BuildOptions, BuildRecord, BuildRecords
from .process_lock import ProcessLock, holding_one
from .uploads import Upload, Uploads

_LOG = logging.getLogger("banyan.server")
MOST_QUEUED = 100
_BEAT = 0.5
"""Seconds between two looks at what other processes do."""


class Job:
    """A build of this process: its record, who follows it, and the order to stop. Changed on the event loop alone."""

    def __init__(self, record: BuildRecord, step: Any) -> None:
        self.record = record
        self.told = record
        """The record as other processes see it."""
        self.step = step
        self.cancelled = False
        self.work: asyncio.Task[dict[str, Any]] | None = None
        self.next_change = asyncio.Event()

    @property
    def build(self) -> Build:
        """The build as it stands."""
        return self.record.build

    def change(self, **values: Any) -> None:
        """Change the build, and tell who follows it."""
        self.record = _changed(self.record, **values)
        self.next_change.set()
        self.next_change = asyncio.Event()

    def cancel(self) -> None:
        """Give it up: its calls end at once, and the step under way as soon as it can."""
        self.cancelled = True
        if self.work is not None:
            self.work.cancel()


class Builds:
    """The builds of a server, as one of its processes sees and runs them."""

    def __init__(self, resources: Resources, saver: SqliteSaver, checkpoints: Path, process: ProcessLock) -> None:
        self._resources = resources
        self._saver = saver
        self._checkpoints = checkpoints
        self._process = process
        self._records = BuildRecords(saver)
        self._uploads = Uploads(resources.settings.home, process.id)
        at_once = resources.settings.builds_at_once
        self._slots = [process.folder / f"build-{number}.lock" for number in range(at_once)]
        self._limiter = anyio.CapacityLimiter(at_once)
        self._turns: dict[str, asyncio.Lock] = {}
        self._jobs: dict[str, Job] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def take_up(self) -> None:
        """Tell of the builds that were ended with the process that ran them; those that wait for a person still do."""
        self._uploads.sweep()
        for record in self._records.unfinished():
            if record.build.state in AT_WORK and not self._process.runs(record.process):
                self._records.save(_changed(record, state="failed", error=BuildError(
                    type="ServerStopped", message="the server's process ended before the build did; what was done "
                    "stands: start a build without files to go on with what was read, and upload again what was not")))

    async def attend(self) -> None:
        """Let the other processes see how builds of this one stand, and cancel those that they were asked to cancel."""
        while True:
            await asyncio.sleep(_BEAT)
            try:
                for build in await anyio.to_thread.run_sync(self._records.to_cancel) if self._jobs else ():
                    if build in self._jobs and not self._jobs[build].cancelled:
                        await self._give_up(self._jobs[build])
                for job in list(self._jobs.values()):
                    if job.record is not job.told and job.build.state == "running":
                        job.told = job.record
                        await anyio.to_thread.run_sync(self._records.change, job.record, "running")
            except sqlite3.OperationalError:
                _LOG.exception("the progress of builds cannot be stored")

    def close(self) -> None:
        """Leave what is remembered to the next server."""
        self._uploads.close()

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
            changed = job.next_change if job else None
            now = job.build if job else await anyio.to_thread.run_sync(self.one, build)
            if now != told:
                yield now
            if now.state in OVER:
                return
            told = now
            await (changed.wait() if changed else asyncio.sleep(_BEAT))

    async def start(self, kb: str, uploads: Sequence[Upload], options: BuildOptions) -> Build:
        """Queue a build of uploaded files, or, without any, of what is stored.

        Raises:
            FileNameError: a file's name is not safe.
            TooManyRequestsError: too many builds wait.
        """
        if len(await anyio.to_thread.run_sync(self._records.unfinished)) >= MOST_QUEUED:
            raise TooManyRequestsError(f"{MOST_QUEUED} builds wait already; start another one later", 60)
        run = new_run()
        names = await anyio.to_thread.run_sync(self._uploads.store, run, uploads) if uploads else []
        build = Build(id=run, kb=kb, state="queued", progress=BuildProgress(step="", done=0, total=None),
                      created_at=datetime.now(UTC).isoformat(timespec="seconds"), files=names)
        record = BuildRecord(build=build, options=options, process=self._process.id)
        await anyio.to_thread.run_sync(self._records.save, record)
        self._queue(Job(record, {"knowledge_base": kb, "schema": options.schema_name}))
        await anyio.to_thread.run_sync(self._records.forget_old)
        return build

    async def decide(self, build: str, decisions: Sequence[Decision], who: str) -> Build:
        """Go on with a build that waits for a person.

        Raises:
            StateError: it does not.
        """
        found = await anyio.to_thread.run_sync(self._record, build)
        queued = _changed(found, state="queued", review=None).model_copy(update={"process": self._process.id})
        if not await anyio.to_thread.run_sync(self._records.change, queued, "waiting"):
            raise StateError(f"the build {build!r} is {found.build.state}, and waits for no decision")
        decided = [decision.model_dump(mode="json") for decision in decisions]
        self._queue(Job(queued, Command(resume={"decisions": decided, "who": who})))
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
        cancelled = _changed(found, state="cancelled", review=None)
        if await anyio.to_thread.run_sync(self._records.change, cancelled, "waiting"):
            await anyio.to_thread.run_sync(self._saver.delete_thread, build)
            return cancelled.build
        await anyio.to_thread.run_sync(self._records.order_cancel, build)
        return found.build

    def stop(self) -> None:
        """Give up all of this process; what they have done stands."""
        for job in self._jobs.values():
            job.cancel()

    async def ended(self, seconds: float) -> bool:
        """Wait for those that were given up; returns whether all have ended within so many seconds."""
        if not self._tasks:
            return True
        _, waiting = await asyncio.wait(self._tasks, timeout=seconds)
        return not waiting

    @asynccontextmanager
    async def turn(self, kb: str) -> AsyncIterator[None]:
        """Entered by whoever builds: some builds at once, and one after the other for a knowledge base.

        It has one writer, and the next one would be refused. All processes of the home folder count.

        Raises:
            KnowledgeBaseNameError: none can have this name.
        """
        # Those of one process are let in as they come.
        async with (self._turns.setdefault(kb, asyncio.Lock()), self._limiter,
                    holding_one([self._uploads.lock_of(kb)]), holding_one(self._slots)):
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
            await anyio.to_thread.run_sync(self._keep, job.record)
        return job.build

    def _queue(self, job: Job) -> None:
        self._jobs[job.build.id] = job
        task = asyncio.create_task(self._run(job))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, job: Job) -> None:
        try:
            await self._in_turn(job)
        finally:
            if self._jobs[job.build.id] is job:  # it may have been decided on as soon as it was seen to wait
                del self._jobs[job.build.id]

    async def _in_turn(self, job: Job) -> None:
        async with self.turn(job.build.kb):
            if job.build.state in OVER:
                return
            if job.cancelled:
                changes: dict[str, Any] = {"state": "cancelled"}
            else:
                job.change(state="running")
                await anyio.to_thread.run_sync(self._keep, job.record)
                job.work = asyncio.create_task(self._work(job))
                if job.cancelled:
                    job.work.cancel()
                changes = {"state": "cancelled"}
                with suppress(asyncio.CancelledError):
                    changes = await job.work
        # Whoever hears that it is over finds nothing left of it.
        await anyio.to_thread.run_sync(self._keep, _changed(job.record, **changes))
        job.change(**changes)

    async def _work(self, job: Job) -> dict[str, Any]:
        """Run the graph to its end, or to where it waits; returns what changes of the build."""
        build = job.build
        config: Any = {"configurable": {"thread_id": build.id}}
        folder: Path | None = None
        try:
            async with AsyncExitStack() as stack:
                saver = await stack.enter_async_context(AsyncSqliteSaver.from_conn_string(str(self._checkpoints)))
                # Made for each build: how many nodes work at once depends on the model, which may be set meanwhile.
                graph = build_graph(self._resources, saver)
                if isinstance(job.step, dict) and build.files:
                    folder = await stack.enter_async_context(self._uploads.reading(build.id, build.kb))
                    job.step["paths"] = [str(folder)]
                # What was paid for is in the ledger: a checkpoint is needed where it waits, and nowhere else.
                async for event in graph.astream(job.step, config, context=job.record.options.context,
                                                       stream_mode="custom", durability="exit"):
                    job.change(progress=BuildProgress(**cast("dict[str, Any]", event)))
                state = await graph.aget_state(config)
        except Exception as error:  # noqa: BLE001  (told to the client, and defects to the log)
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

    def _keep(self, record: BuildRecord) -> None:
        """In a worker thread: remember how a build stands; what is not needed any more goes."""
        self._records.save(record)
        if record.build.state in OVER:
            self._uploads.drop(record.build.id)
            self._saver.delete_thread(record.build.id)


def no_build(build: str) -> NotFoundError:
    """What is said of a build that there is not, or not for this client."""
    return NotFoundError(f"there is no build {build[:100]!r}")


def _changed(record: BuildRecord, **values: Any) -> BuildRecord:
    """The record as it is when the build has changed so."""
    return record.model_copy(update={"build": record.build.model_copy(update=values)})
