"""The builds of a server: one at a time for each knowledge base, several in parallel.

The ledger always stores a build's progress, and the table of jobs its state, which clients see. One loop takes the next
jobs from the table. A build that waits for a person holds nothing: with the person's answer it runs again, and
reaches the same question without a second call.
"""

import asyncio
import logging
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, cast

import anyio.to_thread
from fastapi import UploadFile
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, StateSnapshot

from ...agents.construction.graph import build_graph
from ...agents.resources import Resources
from ...graph_store.store_errors import DatabaseError, WriterBusyError
from ...runtime import audit
from ...runtime.libraries import is_panic
from ...schemas.delta import Candidate
from ..responses import detail_of, status_of
from ..security.clients import Clients
from ..server_database import ServerDatabase, message_for_log
from .jobs import MOST_TAKEN_UP, OVER, Build, BuildError, BuildOptions, BuildProgress, BuildReview, Job, Jobs, new_job
from .uploads import files_folder, reading_files, safe_names

_LOG = logging.getLogger("banyan.server")
_BEAT = 0.5  # seconds between two looks at the table of jobs
_WRITER_WAIT = 600.0  # seconds that another writer may take: a previous process, or an agent's document


@dataclass
class _Running:
    """A build that this process runs."""

    job: Job
    work: asyncio.Task[Job] = field(init=False)
    saving: asyncio.Task[None] = field(init=False)
    """Saves the result of `work`. It is a task of its own because `work` may be cancelled several times."""


class Builds:
    """The builds of a server, as seen and run by one of its processes."""

    def __init__(self, resources: Resources, database: ServerDatabase, clients: Clients) -> None:
        self._resources = resources
        self._clients = clients
        self._db = database
        self.jobs = Jobs(database, resources.settings.builds_at_once)
        self._running: dict[str, _Running] = {}
        self._hands_over = False  # whether other processes are to resume its builds, so it no longer saves their state
        self._wake_up = asyncio.Event()
        # A thread for `take_jobs` alone: if it waited for a busy one, others would take this process for dead.
        self._loop_thread = anyio.CapacityLimiter(1)

    async def take_jobs(self) -> None:
        """Begin queued jobs as slots become free, and stop jobs that are cancelled or taken over; never returns."""
        while True:
            self._wake_up.clear()
            try:
                await self._sync_jobs()
            except (sqlite3.OperationalError, DatabaseError) as error:
                _LOG.warning("the jobs cannot be looked at for now: %s", message_for_log(error))
            with suppress(TimeoutError):
                async with asyncio.timeout(_BEAT):
                    await self._wake_up.wait()

    async def _sync_jobs(self) -> None:
        """Tell the table of jobs how this process's jobs are, begin those that it gets, and end those that it lost."""
        jobs = [running.job for running in self._running.values()]
        taken, lost = await anyio.to_thread.run_sync(self.jobs.exchange, jobs, limiter=self._loop_thread)
        for job in taken:
            running = self._running[job.build.id] = _Running(job)
            running.work = asyncio.create_task(self._do_job(running))
            running.saving = asyncio.create_task(self._save_when_done(running))
        for build in lost & self._running.keys():  # some may have ended since their jobs were listed
            self._running[build].work.cancel()

    def building(self) -> dict[str, str]:
        """Return the id of each knowledge base's newest build that has not ended, by the knowledge base's name."""
        return {job.build.kb: job.build.id for job in self.jobs.all(unfinished=True)}  # oldest first: the newest stays

    async def follow(self, build: str) -> AsyncIterator[Build]:
        """Yield a build as it is now, and again after each change that is seen every `_BEAT` seconds, until it ends."""
        previous: Build | None = None
        while previous is None or previous.state not in OVER:
            if previous is not None:
                await asyncio.sleep(_BEAT)
            current = (await anyio.to_thread.run_sync(self.jobs.one, build)).build
            if current != previous:
                yield current
            previous = current

    async def start(self, kb: str, uploads: Sequence[UploadFile], options: BuildOptions) -> Build:
        """Queue a build of uploaded files, or of the stored documents if there are none; errors as of `Jobs.add`."""
        names = safe_names([upload.filename or "" for upload in uploads])
        job = new_job(kb, names, options=options, client=audit.client())
        return await self.change(lambda: self.jobs.add(job, uploads))

    async def change(self, change: Callable[[], Job]) -> Build:
        """Change a job in a thread, have `take_jobs` look at the table at once, and return the job's build."""
        job = await anyio.to_thread.run_sync(change)
        self._wake_up.set()
        return job.build

    async def stop(self, seconds: float) -> bool:
        """Cancel this process's builds, or leave them to other servers; return True if all have ended in time."""
        self._hands_over = self._db.is_shared
        for running in self._running.values():
            running.work.cancel()
        tasks = [running.saving for running in self._running.values()]
        if not tasks:  # `wait` takes no empty list
            return True
        _, unfinished = await asyncio.wait(tasks, timeout=seconds)
        return not unfinished

    async def _save_when_done(self, running: _Running) -> None:
        """Save the state of a job when its work has ended, unless it is handed over to other processes."""
        await asyncio.wait([running.work])
        job = running.job.having(state="cancelled") if running.work.cancelled() else running.work.result()
        while not self._hands_over:
            try:
                await anyio.to_thread.run_sync(self.jobs.end, job)
                break
            except (sqlite3.OperationalError, DatabaseError) as error:
                _LOG.warning("build %s cannot be saved for now: %s", job.build.id, message_for_log(error))
                await asyncio.sleep(_BEAT)
        del self._running[job.build.id]
        self._wake_up.set()

    async def _do_job(self, running: _Running) -> Job:
        """Do a job; wait for another writer, and queue the job again if the database fails."""
        until = time.monotonic() + _WRITER_WAIT
        while True:
            try:
                return await self._run_graph(running)
            except WriterBusyError as error:
                if time.monotonic() > until:
                    return self._failed_job(running.job, error)
                await asyncio.sleep(_BEAT)
            except DatabaseError as error:
                job = running.job
                if job.taken_up >= MOST_TAKEN_UP:  # counted as if its process had ended, so it is not tried for ever
                    return self._failed_job(job, error)
                return job.having(state="queued").model_copy(update={"taken_up": job.taken_up + 1})
            except BaseException as error:
                # A panic in Rust code is no `Exception`, but fails only this build; a cancellation is raised again.
                if not isinstance(error, Exception) and not is_panic(error):
                    raise
                return self._failed_job(running.job, error)

    def _failed_job(self, job: Job, error: BaseException) -> Job:
        """Return a job as failed, with the error for clients; log an error that has no meaning for them."""
        if status_of(error) == HTTPStatus.INTERNAL_SERVER_ERROR:
            _LOG.error("build %s failed", job.build.id, exc_info=error)
        detail = detail_of(error, self._resources.settings)
        # Clients are not told the folder where the server stored the uploaded files.
        message = detail.message.replace(f"BANYAN_HOME/{files_folder(job.build.kb)}/", "")
        return job.having(state="failed", error=BuildError(type=detail.type, message=message))

    async def _run_graph(self, running: _Running) -> Job:
        """Run a job until its end or its next question to a person, and return it as it is then."""
        job, build, folder = running.job, running.job.build, ""
        await self._clients.check_not_revoked(job.client)
        # `resumes` names the earlier run of this job, if it has waited for a person: its accounts go on.
        config: Any = {"configurable": {"thread_id": build.id, "resumes": job.run}}
        async with AsyncExitStack() as stack:
            stack.enter_context(audit.acting(job.client))
            # Compiled for each build: how many nodes run in parallel depends on the model, which may have changed.
            graph = build_graph(self._resources, InMemorySaver())
            given: Any = {"knowledge_base": build.kb, "schema": job.options.schema_name}
            if build.files and not job.run:  # with `job.run`, an earlier run has read the files already
                folder = str(await stack.enter_async_context(
                    reading_files(self._db, self._resources.settings.home, build.id, build.kb)))
                given["paths"] = [folder]
            # The checkpoint of the run that asked is gone. But all it paid for is in the ledger, so a new run reaches
            # the same question without calling the model again. The second step then gives it the answer.
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
    """Return a job after a run of the graph, which waits for a person or has ended; clients do not see its folder."""
    lines_by_key = {key: state.values[key] for key in (
        "files_failed", "files_partly_read", "files_moved", "records_gone")}
    # A line begins with a file's path, or with the folder itself if that could not be read as a whole.
    lines_by_key["files_failed"] = [line.removeprefix(f"{folder}/").removeprefix(f"{folder}: ")
                                    for line in lines_by_key["files_failed"]]
    # A run of the same job that waited for a person before has added its lines to `job.unread`.
    unread = {key: [*job.unread.get(key, ()), *lines] for key, lines in lines_by_key.items()}
    if state.interrupts:
        question = state.interrupts[0].value
        review = BuildReview(candidates=[Candidate(**data) for data in question["delta"]["candidates"]],
                             error=question.get("error", ""))
        return job.having(state="waiting", review=review).model_copy(
            update={"run": state.values["run"], "unread": unread})
    return job.having(state="done", report={**state.values["report"], **unread})
