"""The builds of a server: one at a time for each knowledge base, several in parallel.

The ledger always stores a build's progress. This module stores its state, which clients see, and the
point where it waits for a person. The process that receives a build runs it; all processes of the server show it, and
each can have it cancelled. If its process ends, another one resumes the build.
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
from ...graph_store.layout import check_name
from ...graph_store.store_errors import DatabaseError, WriterBusyError
from ...runtime import audit
from ...runtime.budgets import charge
from ...runtime.panics import is_panic
from ...schemas.delta import Candidate, Decision
from ..checkpoints import delete_checkpoints, saver_in
from ..error_responses import StateError, detail_of, status_of
from ..responses import Build, BuildError, BuildProgress, BuildReview
from ..security.allowances import Allowances
from ..server_database import ServerDatabase
from .build_records import (
    AT_WORK,
    OVER,
    BuildOptions,
    BuildRecord,
    BuildRecords,
    Job,
    check_quotas,
    give_up,
    no_build,
    with_changes,
)
from .process_lock import ProcessLock, holding_one, kb_lock
from .uploads import Upload, Uploads, safe_names

_LOG = logging.getLogger("banyan.server")
_BEAT = 0.5
"""Seconds between checks for messages from other processes."""
_TAKING_UP = 4
"""Beats between checks for builds whose process has ended."""
_MOST_TAKEN_UP = 3
"""How many processes may end while they run a build, since the build may be the cause."""


class Builds:
    """The builds of a server, as seen and run by one of its processes."""

    def __init__(self, resources: Resources, database: ServerDatabase, process: ProcessLock,
                 allowances: Allowances) -> None:
        self._resources = resources
        self._allowances = allowances
        self._db = database
        self._open_saver = saver_in(database)
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
        """Remove the uploads that killed processes were reading."""
        self._uploads.sweep(self._process)

    async def attend(self) -> None:
        """Watch other processes: cancel the builds that they ask to cancel, and resume those that they leave."""
        for beat in count():
            try:
                if not await anyio.to_thread.run_sync(self._process.holds):
                    await self._restart_session()
                await self._apply_cancellations()
                await self._persist_progress()
                if beat % _TAKING_UP == 0:
                    await self._resume_abandoned()
            except (sqlite3.OperationalError, DatabaseError) as error:
                _LOG.warning("other processes' builds cannot be checked for now: %s", getattr(error, "here", error))
            await asyncio.sleep(_BEAT)

    async def _restart_session(self) -> None:
        """Start a new session after others saw this process end, leaving its builds for any process to resume."""
        for job in self._jobs.values():
            job.leave()
        await anyio.to_thread.run_sync(self._process.acquire)
        _LOG.warning("the session with PostgreSQL was lost and is opened again; its builds are resumed")

    async def _apply_cancellations(self) -> None:
        for build in await anyio.to_thread.run_sync(self._records.to_cancel) if self._jobs else ():
            if build in self._jobs and not self._jobs[build].cancelled:
                await self._give_up(self._jobs[build])

    async def _persist_progress(self) -> None:
        for job in list(self._jobs.values()):
            if job.record is not job.told and job.build.state == "running" and not job.left:
                job.told = job.record
                await anyio.to_thread.run_sync(self._save, job.record)

    async def _resume_abandoned(self) -> None:
        for record in await anyio.to_thread.run_sync(self._claim_abandoned):
            if record.build.state in OVER:
                await delete_checkpoints(self._open_saver, record.build.id)
                continue
            _LOG.warning("build %s of %r is resumed: the process that ran it has ended", record.build.id,
                         record.build.kb)
            self._queue(Job(record))

    def _claim_abandoned(self) -> list[BuildRecord]:
        """Claim the builds whose process has ended for this process; those that ended too many of them have failed."""
        claimed = []
        for record in self._records.list_unfinished():
            if record.build.state not in AT_WORK or self._process.runs(record.process):
                continue
            times = record.taken_up + (record.process not in {"", *self._process.past})
            taken = with_changes(record, state="queued").model_copy(
                update={"process": self._process.id, "taken_up": times})
            if not self._records.take(record, taken):
                continue
            if times > _MOST_TAKEN_UP:
                taken = give_up(taken)
                self._save(taken)
            claimed.append(taken)
        return claimed

    def all(self, kb: str = "") -> list[Build]:
        """Return all builds, or those of a knowledge base, newest first."""
        return [self._newest(record) for record in reversed(self._records.all()) if kb in {"", record.build.kb}]

    def one(self, build: str) -> Build:
        """Return a build by its id.

        Raises:
            NotFoundError: there is no such build.
        """
        return self._newest(self._record(build))

    def building(self) -> dict[str, str]:
        """Return the ids of the newest builds that have not ended, by knowledge base."""
        return {record.build.kb: record.build.id for record in self._records.list_unfinished()}

    async def following(self, build: str) -> AsyncIterator[Build]:
        """Yield a build now and after each change until it ends; of changes in quick succession, some are skipped.

        Raises:
            NotFoundError: there is no such build.
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
        """Queue a build of uploaded files, or of the stored documents if there are none.

        Raises:
            FileNameError: a file's name is not safe.
            TooManyRequestsError: too many builds are queued, in total or for this client or knowledge base.
            StateError: another build of the knowledge base is to be reviewed.
        """
        check_quotas(await anyio.to_thread.run_sync(self._records.list_unfinished), kb, options, audit.client())
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
        """Resume a build that waits for a person.

        Raises:
            StateError: it is not waiting.
        """
        found = await anyio.to_thread.run_sync(self._record, build)
        decided = [decision.model_dump(mode="json") for decision in decisions]
        queued = with_changes(found, state="queued", review=None).model_copy(
            update={"process": self._process.id, "resume": {"decisions": decided, "who": who}})
        if found.build.state != "waiting" or not await anyio.to_thread.run_sync(self._records.take, found, queued):
            raise StateError(f"the build {build!r} is {found.build.state}, and waits for no decision")
        self._queue(Job(queued))
        return queued.build

    async def cancel(self, build: str) -> Build:
        """Cancel a build; a running one ends after its current step.

        Raises:
            StateError: it has ended.
        """
        found = await anyio.to_thread.run_sync(self._record, build)
        state = self._newest(found).state
        if state in OVER:
            raise StateError(f"the build {build!r} is {state}, there is nothing to cancel")
        if build in self._jobs:
            return await self._give_up(self._jobs[build])
        cancelled = with_changes(found, state="cancelled", review=None)
        if state == "waiting" and await anyio.to_thread.run_sync(self._records.take, found, cancelled):
            await delete_checkpoints(self._open_saver, build)
            return cancelled.build
        await anyio.to_thread.run_sync(self._records.order_cancel, build)
        return found.build

    def stop(self) -> None:
        """Cancel this process's builds, saving their progress; servers that share a database hand them over."""
        for job in self._jobs.values():
            if self._db.is_shared:
                job.leave()
            else:
                job.cancel()

    def hand_over(self) -> None:
        """Mark this process's unfinished builds as having no process, so another one resumes them."""
        for record in self._records.list_unfinished():
            if record.process == self._process.id:
                self._records.take(record, record.model_copy(update={"process": ""}))

    async def wait_for_end(self, seconds: float) -> bool:
        """Wait for the cancelled builds; return True if all have ended within this many seconds."""
        if not self._tasks:
            return True
        _, waiting = await asyncio.wait(self._tasks, timeout=seconds)
        return not waiting

    @asynccontextmanager
    async def turn(self, kb: str) -> AsyncIterator[None]:
        """Wait for a turn to build: several builds run in parallel, but only one for each knowledge base.

        A knowledge base has one writer, and a second one would be refused. The limits cover all processes of a server.

        Raises:
            KnowledgeBaseNameError: no knowledge base can have this name.
        """
        # Builds of one process are admitted in the order of their arrival.
        async with (self._turns.setdefault(check_name(kb), asyncio.Lock()), self._limiter,
                    holding_one(self._process, [kb_lock(kb)]), holding_one(self._process, self._slots)):
            yield

    def _record(self, build: str) -> BuildRecord:
        found = self._records.one(build)
        if found is None:
            raise no_build(build)
        return found

    def _newest(self, record: BuildRecord) -> Build:
        """Return the build of a record, in its latest state if this process runs it."""
        job = self._jobs.get(record.build.id)
        return job.build if job else record.build

    async def _give_up(self, job: Job) -> Build:
        job.cancel()
        if job.build.state == "queued":
            job.change(state="cancelled")
            await self._persist(job, job.record)
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
            # The locks were lost while it waited, so this process must claim it again.
            _LOG.warning("build %s waits for PostgreSQL: %s", job.build.id, error.here)
        finally:
            if self._jobs.get(job.build.id) is job:  # a decision may already have replaced it
                del self._jobs[job.build.id]
            job.next_change.set()  # wakes followers, who then see its state elsewhere

    async def _in_turn(self, job: Job) -> bool:
        """Run the build in its turn; return False if its previous process is still writing."""
        async with self.turn(job.build.kb):
            if job.left or job.build.state in OVER:
                return True
            changes: dict[str, Any] = {"state": "cancelled"}
            if not job.cancelled:
                job.change(state="running")
                await self._persist(job, job.record)
                job.work = asyncio.create_task(self._work(job))
                if job.cancelled:
                    job.work.cancel()
                with suppress(asyncio.CancelledError):
                    changes = await job.work
        if job.left:
            return True
        error = changes.get("error")
        before = self._db.is_shared or job.record.taken_up  # another process may have run it and may not have ended yet
        if before and error is not None and error.type == WriterBusyError.__name__ and job.waits():
            return False
        # Clean up first, so nothing is left of the build when clients hear that it has ended.
        if await self._persist(job, with_changes(job.record, **changes)):
            job.change(**changes)
        return True

    async def _persist(self, job: Job, record: BuildRecord) -> bool:
        """Save a build's state as soon as possible; return False if another process owns it by now."""
        while not job.left:
            try:
                owned = await anyio.to_thread.run_sync(self._save, record)
                if owned and record.build.state in OVER:
                    await delete_checkpoints(self._open_saver, record.build.id)
            except (sqlite3.OperationalError, DatabaseError) as error:
                _LOG.warning("build %s cannot be saved for now: %s", job.build.id, getattr(error, "here", error))
                await asyncio.sleep(_BEAT)
            else:
                return owned
        return False

    async def _work(self, job: Job) -> dict[str, Any]:
        """Run the graph until it ends or waits for a decision; return the changes of the build."""
        build = job.build
        config: Any = {"configurable": {"thread_id": build.id}}
        folder: Path | None = None
        try:
            async with AsyncExitStack() as stack:
                stack.enter_context(self._allowances.spending(job.record.client))
                await anyio.to_thread.run_sync(charge().look)
                saver = await stack.enter_async_context(self._open_saver())
                # Compiled for each build, because the number of parallel nodes depends on the model, which may change.
                graph = build_graph(self._resources, saver)
                step: Any = {"knowledge_base": build.kb, "schema": job.record.options.schema_name}
                if job.record.resume is not None:
                    step = Command(resume=job.record.resume)
                elif build.files:
                    folder = await stack.enter_async_context(self._uploads.reading(build.id, build.kb))
                    step["paths"] = [str(folder)]
                # The ledger has what was paid for, so a checkpoint is needed only where the build waits.
                async for event in graph.astream(step, config, context=job.record.options.context,
                                                       stream_mode="custom", durability="exit"):
                    job.change(progress=BuildProgress(**cast("dict[str, Any]", event)))
                state = await graph.aget_state(config)
        except BaseException as error:  # reported to the client; defects are also logged
            if not isinstance(error, Exception) and not is_panic(error):
                raise
            if isinstance(error, DatabaseError) and not await anyio.to_thread.run_sync(self._process.holds):
                job.leave()
                return {}
            if status_of(error) == HTTPStatus.INTERNAL_SERVER_ERROR:
                _LOG.exception("build %s failed", build.id)
            detail = detail_of(error, self._resources.settings)
            # Hide where the server stored the files.
            within = f"BANYAN_HOME/{folder.relative_to(self._resources.settings.home)}/" if folder else ""
            message = detail.message.replace(within, "") if within else detail.message
            return {"state": "failed", "error": BuildError(type=detail.type, message=message)}
        if state.interrupts:
            asked = state.interrupts[0].value
            return {"state": "waiting", "review": BuildReview(
                candidates=[Candidate(**data) for data in asked["delta"]["candidates"]], error=asked.get("error", ""))}
        report = state.values["report"]
        report["files_failed"] = [line.removeprefix(f"{folder}/").removeprefix(f"{folder}: ")
                                  for line in report["files_failed"]]
        return {"state": "done", "report": report}

    def _save(self, record: BuildRecord) -> bool:
        """Save a build's state in a worker thread, and delete uploads that are no longer needed.

        Returns:
            True if this process still owns the build.
        """
        with self._db.transaction() as connection:
            owned = self._records.keep(connection, record)
            if owned and record.build.state not in AT_WORK:
                self._uploads.remove(connection, record.build.id)
        return owned
