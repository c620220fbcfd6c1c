"""Builds that a server runs: in turn for each knowledge base, some at once.

What a build has done stands in the ledger, whatever becomes of it. Kept here is where it waits for a person, and what
clients are told.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.to_thread
from filelock import FileLock, Timeout
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from ...agents.construction.graph import build_graph
from ...agents.construction.state import new_run
from ...agents.resources import Resources
from ...schemas.delta import Candidate, Decision
from ..answers import Build, BuildError, BuildProgress, BuildReview
from ..errors import NotFoundError, StateError, TooManyRequestsError, detail_of, status_of
from .async_saver import AsyncSaver
from .build_records import KEPT, BuildOptions, BuildRecord, BuildRecords
from .uploads import Upload, Uploads

_LOG = logging.getLogger("banyan.server")
MOST_QUEUED = 100
_OVER = {"done", "failed", "cancelled"}


class Job:
    """A build in this process: its record, who follows it, and the order to stop. Changed on the event loop alone."""

    def __init__(self, record: BuildRecord) -> None:
        self.record = record
        self.step: Any = None
        self.cancelled = False
        self.work: asyncio.Task[dict[str, Any]] | None = None
        self._changed = asyncio.Event()

    @property
    def build(self) -> Build:
        """The build as it stands."""
        return self.record.build

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self.build.state in _OVER

    def changed(self, **values: Any) -> BuildRecord:
        """The record as it is when the build has changed so."""
        return self.record.model_copy(update={"build": self.build.model_copy(update=values)})

    def change(self, **values: Any) -> None:
        """Change the build, and tell who follows it."""
        self.record = self.changed(**values)
        self._changed.set()
        self._changed = asyncio.Event()

    async def following(self) -> AsyncIterator[Build]:
        """The build now, and after each change; changes that come faster than they are read are left out."""
        while True:
            changed, build = self._changed, self.build
            yield build
            if build.state in _OVER:
                return
            await changed.wait()

    def cancel(self) -> None:
        """Give it up: its calls end at once, and the step under way as soon as it can."""
        self.cancelled = True
        if self.work is not None:
            self.work.cancel()


class Builds:
    """The builds of a server."""

    def __init__(self, resources: Resources, saver: SqliteSaver) -> None:
        self._resources = resources
        self._saver = saver
        self._records = BuildRecords(saver)
        self._uploads = Uploads(resources.settings.home)
        self._lock = FileLock(resources.settings.home / "server.lock", thread_local=False)
        self._limiter = anyio.CapacityLimiter(resources.settings.builds_at_once)
        self._turns: dict[str, asyncio.Lock] = {}
        self._jobs: dict[str, Job] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def take_up(self) -> None:
        """Remember the builds of the server before: those that wait still do, those that ran were ended with it.

        Where another server of the same home folder runs, they are its own.
        """
        self._uploads.sweep()
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            _LOG.warning("another server works in the same home folder: its builds are not shown by this one")
            return
        for record in self._records.all():
            job = Job(record)
            if job.build.state in {"queued", "running"}:
                job.change(state="failed", error=BuildError(
                    type="ServerStopped", message="the server ended before the build did; what was done stands: start "
                    "a build without files to go on with what was read, and upload again what was not"))
                self._records.save(job.record)
            self._jobs[job.build.id] = job

    def close(self) -> None:
        """Leave what is remembered to the next server."""
        self._uploads.close()
        self._lock.release()

    def all(self, kb: str = "") -> list[Build]:
        """The builds, or those of a knowledge base, newest first."""
        return [job.build for job in reversed(self._jobs.values()) if kb in {"", job.build.kb}]

    def job(self, build: str) -> Job:
        """A build by its id.

        Raises:
            NotFoundError: there is none.
        """
        if build not in self._jobs:
            raise NotFoundError(f"there is no build {build[:100]!r}")
        return self._jobs[build]

    def building(self, kb: str) -> str | None:
        """The id of the newest build of a knowledge base that is not over."""
        return next((build.id for build in self.all(kb) if build.state not in _OVER), None)

    async def start(self, kb: str, uploads: Sequence[Upload], options: BuildOptions) -> Build:
        """Queue a build of uploaded files, or, without any, of what is stored.

        Raises:
            FileNameError: a file's name is not safe.
            TooManyRequestsError: too many builds wait.
        """
        if sum(not job.over for job in self._jobs.values()) >= MOST_QUEUED:
            raise TooManyRequestsError(f"{MOST_QUEUED} builds wait already; start another one later", 60)
        run = new_run()
        names = await anyio.to_thread.run_sync(self._uploads.store, run, uploads) if uploads else []
        build = Build(id=run, kb=kb, state="queued", progress=BuildProgress(step="", done=0, total=None),
                      created_at=datetime.now(UTC).isoformat(timespec="seconds"), files=names)
        job = Job(BuildRecord(build=build, options=options))
        self._jobs[run] = job
        job.step = {"knowledge_base": kb, "schema": options.schema_name}
        self._queue(job)
        await self._forget_old()
        return job.build

    def decide(self, build: str, decisions: Sequence[Decision], who: str) -> Build:
        """Go on with a build that waits for a person.

        Raises:
            StateError: it does not.
        """
        job = self.job(build)
        if job.build.state != "waiting":
            raise StateError(f"the build {build!r} is {job.build.state}, and waits for no decision")
        decided = [decision.model_dump(mode="json") for decision in decisions]
        job.step = Command(resume={"decisions": decided, "who": who})
        job.change(state="queued", review=None)
        self._queue(job)
        return job.build

    async def cancel(self, build: str) -> Build:
        """Give a build up. One that runs ends with the step that is under way.

        Raises:
            StateError: it is over.
        """
        job = self.job(build)
        if job.over:
            raise StateError(f"the build {build!r} is {job.build.state}, there is nothing to cancel")
        job.cancel()
        if job.build.state in {"queued", "waiting"}:
            job.change(state="cancelled", review=None)
            await anyio.to_thread.run_sync(self._keep, job.record)
        return job.build

    def stop(self) -> None:
        """Give up all that run; what they have done stands."""
        for job in self._jobs.values():
            if job.build.state in {"queued", "running"}:
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

        It has one writer, and the next one would be refused.
        """
        async with self._turns.setdefault(kb, asyncio.Lock()), self._limiter:
            yield

    def _queue(self, job: Job) -> None:
        task = asyncio.create_task(self._run(job))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, job: Job) -> None:
        await anyio.to_thread.run_sync(self._keep, job.record)
        async with self.turn(job.build.kb):
            if job.over:
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
        await anyio.to_thread.run_sync(self._keep, job.changed(**changes))
        job.change(**changes)

    async def _work(self, job: Job) -> dict[str, Any]:
        """Run the graph to its end, or to where it waits; returns what changes of the build."""
        build = job.build
        # Made for each build: how many nodes work at once depends on the model, which may be set meanwhile.
        graph = build_graph(self._resources, AsyncSaver(self._saver))
        config: Any = {"configurable": {"thread_id": build.id}}
        folder: Path | None = None
        try:
            async with AsyncExitStack() as files:
                if isinstance(job.step, dict) and build.files:
                    folder = await files.enter_async_context(self._uploads.reading(build.id, build.kb))
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
        if record.build.state in _OVER:
            self._uploads.drop(record.build.id)
            self._saver.delete_thread(record.build.id)

    async def _forget_old(self) -> None:
        for build in [build for build, job in self._jobs.items() if job.over][:-KEPT]:
            del self._jobs[build]
            await anyio.to_thread.run_sync(self._records.forget, build)
