"""The builds of a server: one at a time for each knowledge base, several in parallel.

The ledger always stores a build's progress, and the table of jobs its state, which clients see. One loop takes the next
jobs from the table. A build that waits for a person holds nothing: with the person's answer it runs again, and
reaches the same question without a second call.
"""

import asyncio
import logging
import sqlite3
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, cast

import anyio
import anyio.to_thread
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, StateSnapshot

from ...agents.construction.graph import build_graph
from ...agents.resources import Resources
from ...graph_store.store_errors import DatabaseError, WriterBusyError
from ...runtime import audit
from ...runtime.budgets import charge
from ...runtime.libraries import is_panic
from ...schemas.delta import Candidate, Decision
from ..error_responses import detail_of, status_of
from ..responses import Build, BuildError, BuildProgress, BuildReview
from ..security.allowances import Allowances
from ..server_database import ServerDatabase
from .jobs import MOST_TAKEN_UP, OVER, BuildOptions, Job, Jobs, new_job
from .uploads import Upload, files_folder, reading_files, safe_names, sweep_files

_LOG = logging.getLogger("banyan.server")
_BEAT = 0.5
"""Seconds between two looks at the table of jobs."""
_WRITER_ENDS = 600.0
"""Seconds that another writer may take to release the knowledge base: a previous process, or an agent's document."""


@dataclass
class _Running:
    """A build that this process runs."""

    job: Job
    saved: Job
    """The job as other processes see it."""
    work: asyncio.Task[Job] = field(init=False)
    left: bool = False
    """Whether it is left to other processes, so this one no longer reports it."""


class Builds:
    """The builds of a server, as seen and run by one of its processes."""

    def __init__(self, resources: Resources, database: ServerDatabase, allowances: Allowances) -> None:
        self._resources = resources
        self._allowances = allowances
        self._db = database
        self.jobs = Jobs(database, resources.settings.builds_at_once)
        self._running: dict[str, _Running] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._news = asyncio.Event()
        self._thread = anyio.CapacityLimiter(1)
        """For the loop's thread: requests that fill all others must not make this process look dead."""

    def begin(self) -> None:
        """Remove the uploads that killed processes were reading."""
        sweep_files(self._resources.settings.home, self.building())

    async def attend(self) -> None:
        """Take one job after the other, and stop those that are cancelled or that another process has taken over."""
        while True:
            self._news.clear()
            try:
                await self._look()
            except (sqlite3.OperationalError, DatabaseError) as error:
                _LOG.warning("the jobs cannot be looked at for now: %s", getattr(error, "here", error))
            with suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), _BEAT)

    async def _look(self) -> None:
        changed = [one for one in self._running.values() if one.job is not one.saved]
        jobs = [one.job for one in changed]
        news = await anyio.to_thread.run_sync(self.jobs.exchange, set(self._running), jobs, limiter=self._thread)
        for one, job in zip(changed, jobs, strict=True):
            one.saved = job
        for job in news.taken:
            self._begin(job)
        for ended in news.ended & self._running.keys():
            self._running[ended].work.cancel()

    def all(self, kb: str = "") -> list[Build]:
        """Return all builds, or those of a knowledge base, newest first."""
        return [job.build for job in reversed(self.jobs.all()) if kb in {"", job.build.kb}]

    def building(self) -> dict[str, str]:
        """Return the ids of the newest builds that have not ended, by knowledge base."""
        return {job.build.kb: job.build.id for job in self.jobs.all(unfinished=True)}

    async def following(self, build: str) -> AsyncIterator[Build]:
        """Yield a build now and after each change until it ends; of changes in quick succession, some are skipped.

        Raises:
            NotFoundError: there is no such build.
        """
        told: Build | None = None
        while told is None or told.state not in OVER:
            if told is not None:
                await asyncio.sleep(_BEAT)
            now = (await anyio.to_thread.run_sync(self.jobs.one, build)).build
            if now != told:
                yield now
            told = now

    async def start(self, kb: str, uploads: Sequence[Upload], options: BuildOptions) -> Build:
        """Queue a build of uploaded files, or of the stored documents if there are none.

        Raises:
            FileNameError: a file's name is not safe.
            TooManyRequestsError: too many builds are queued, in total or for this client or knowledge base.
            StateError: another build of the knowledge base is to be reviewed.
        """
        job = new_job(kb, safe_names([upload.name for upload in uploads]), options=options, client=audit.client())
        await anyio.to_thread.run_sync(self.jobs.add, job, uploads)
        self._news.set()
        return job.build

    async def decide(self, build: str, decisions: Sequence[Decision], who: str) -> Build:
        """Resume a build that waits for a person.

        Raises:
            StateError: it is not waiting.
        """
        answer = {"decisions": [decision.model_dump(mode="json") for decision in decisions], "who": who}
        job = await anyio.to_thread.run_sync(self.jobs.resume, build, answer)
        self._news.set()
        return job.build

    async def cancel(self, build: str) -> Build:
        """Cancel a build; a running one ends after its current step.

        Raises:
            StateError: it has ended.
        """
        job = await anyio.to_thread.run_sync(self.jobs.cancel, build)
        self._news.set()
        return job.build

    def stop(self) -> None:
        """Cancel this process's builds, saving their progress; servers that share a database leave them to others."""
        for running in self._running.values():
            running.left = self._db.is_shared
            running.work.cancel()

    async def wait_for_end(self, seconds: float) -> bool:
        """Wait for the cancelled builds; return True if all have ended within this many seconds."""
        if not self._tasks:
            return True
        _, waiting = await asyncio.wait(self._tasks, timeout=seconds)
        return not waiting

    def _begin(self, job: Job) -> None:
        running = self._running[job.build.id] = _Running(job, job)
        running.work = asyncio.create_task(self._work(running))
        task = asyncio.create_task(self._finish(running))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _finish(self, running: _Running) -> None:
        """Save a build's state when its work has ended, as soon as possible."""
        await asyncio.wait([running.work])
        job = running.job.having(state="cancelled") if running.work.cancelled() else running.work.result()
        while not running.left:
            try:
                await anyio.to_thread.run_sync(self.jobs.end, job)
                break
            except (sqlite3.OperationalError, DatabaseError) as error:
                _LOG.warning("build %s cannot be saved for now: %s", job.build.id, getattr(error, "here", error))
                await asyncio.sleep(_BEAT)
        del self._running[job.build.id]
        self._news.set()

    async def _work(self, running: _Running) -> Job:
        """Run the graph until it ends or waits for a decision; return the job as it is then."""
        until = time.monotonic() + _WRITER_ENDS
        while True:
            try:
                return await self._run_graph(running)
            except WriterBusyError as error:
                if time.monotonic() > until:
                    return self._failure(running.job, error)
                await asyncio.sleep(_BEAT)
            except DatabaseError as error:
                job = running.job
                if job.taken_up >= MOST_TAKEN_UP:
                    return self._failure(job, error)
                return job.having(state="queued").model_copy(update={"taken_up": job.taken_up + 1})
            except BaseException as error:  # reported to the client; defects are also logged
                if not isinstance(error, Exception) and not is_panic(error):
                    raise
                return self._failure(running.job, error)

    def _failure(self, job: Job, error: BaseException) -> Job:
        if status_of(error) == HTTPStatus.INTERNAL_SERVER_ERROR:
            _LOG.error("build %s failed", job.build.id, exc_info=error)
        detail = detail_of(error, self._resources.settings)
        # Hide where the server stored the files.
        message = detail.message.replace(f"BANYAN_HOME/{files_folder(job.build.kb)}/", "")
        return job.having(state="failed", error=BuildError(type=detail.type, message=message))

    async def _run_graph(self, running: _Running) -> Job:
        """Run the graph until it ends or asks a person; with the person's answer it runs to the question, then on.

        Raises:
            WriterBusyError: another process is writing to the knowledge base.
        """
        job, build, folder = running.job, running.job.build, ""
        config: Any = {"configurable": {"thread_id": build.id, "resumes": job.run}}
        async with AsyncExitStack() as stack:
            await self._allowances.refresh()
            stack.enter_context(self._allowances.spending(job.client))
            await anyio.to_thread.run_sync(charge().read_spending)
            # Compiled for each build, because the number of parallel nodes depends on the model, which may change.
            graph = build_graph(self._resources, InMemorySaver())
            given: Any = {"knowledge_base": build.kb, "schema": job.options.schema_name}
            if build.files and not job.run:  # an earlier run has read the files
                folder = str(await stack.enter_async_context(
                    reading_files(self._db, self._resources.settings.home, build.id, build.kb)))
                given["paths"] = [folder]
            # The checkpoint of an earlier run is gone. What it paid for is in the ledger, so the same question is
            # reached again without a call, and then gets the answer.
            steps = [given] if job.resume is None else [given, Command(resume=job.resume)]
            for step in steps:
                async for event in graph.astream(step, config, context=job.options.context, stream_mode="custom",
                                                 durability="exit"):
                    running.job = running.job.having(progress=BuildProgress(**cast("dict[str, Any]", event)))
                state = await graph.aget_state(config)
                if not state.interrupts:
                    break
        return _job_after(running.job, state, folder)


def _job_after(job: Job, state: StateSnapshot, folder: str) -> Job:
    """Return a job as it is after its graph has run: done, or waiting for a person's review.

    Args:
        job: the job as it was before.
        state: the graph's state, which has an interrupt if it waits.
        folder: where the uploaded files were read; reports name the files alone.
    """
    failed = [line.removeprefix(f"{folder}/").removeprefix(f"{folder}: ") for line in state.values["files_failed"]]
    unread = {name: [*job.unread.get(name, ()), *lines] for name, lines in (
        ("files_failed", failed), ("files_partly_read", state.values["files_partly_read"]),
        ("files_moved", state.values["files_moved"]))}
    if state.interrupts:
        asked = state.interrupts[0].value
        review = BuildReview(candidates=[Candidate(**data) for data in asked["delta"]["candidates"]],
                             error=asked.get("error", ""))
        return job.having(state="waiting", review=review).model_copy(
            update={"run": state.values["run"], "unread": unread})
    return job.having(state="done", report={**state.values["report"], **unread})
