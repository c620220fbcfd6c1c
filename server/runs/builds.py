"""The builds of a server, one at a time for each knowledge base, several in parallel, and the files that they read.

The ledger always stores a build's progress, and the table of jobs its state, which clients see. One loop saves this
process's jobs in the table and takes the next ones. A build that waits for a person holds nothing: with the person's
answer it runs again, and reaches the same question without a second call.
"""

import asyncio
import logging
import re
import shutil
import sqlite3
import time
import unicodedata
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast

import anyio.to_thread
from fastapi import UploadFile
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, StateSnapshot
from sqlalchemy import select

from ...agents.construction.graph import build_graph
from ...agents.resources import Resources
from ...graph_store.layout import check_name
from ...graph_store.store_errors import DatabaseError, WriterBusyError
from ...ingest.metadata import MAX_ID
from ...runtime import audit
from ...runtime.libraries import is_panic
from ...schemas.delta import Candidate
from ..responses import RefusedError, detail_of, status_of
from ..security.clients import Clients
from ..security.keys import KeysError
from ..server_database import UPLOADS, ServerDatabase, message_for_log
from .jobs import MOST_TAKEN_UP, OVER, Build, BuildError, BuildOptions, BuildProgress, BuildReview, Job, Jobs, new_job

_LOG = logging.getLogger("banyan.server")
_BEAT = 0.5  # seconds between two looks at the table of jobs
_MAX_NAME_BYTES = 255  # most bytes of a file's name on common file systems
_FORBIDDEN = frozenset(':*?"<>|\ufffd')  # drives and streams on Windows, and the replacement for undecodable bytes
# Control and format characters, among them those that change the direction of text; line breaks; unassigned ones.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Names that Windows opens as devices, with any suffix.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_LONGEST_WAIT = 600.0  # seconds for another writer (a previous process, or an agent's document), or for the keys


@dataclass
class _Running:
    job: Job
    work: asyncio.Task[Job] = field(init=False)

    def newest(self) -> Job:
        """Return the job as it is now, in the state in which its work has ended if it has."""
        if not self.work.done():
            return self.job
        return self.job.having(state="cancelled") if self.work.cancelled() else self.work.result()


class Builds:
    """The builds of a server, as seen and run by one of its processes."""

    def __init__(self, resources: Resources, database: ServerDatabase, clients: Clients) -> None:
        self._resources = resources
        self._clients = clients
        self._db = database
        self.jobs = Jobs(database, resources.settings.builds_at_once)
        self._running: dict[str, _Running] = {}
        self._wake_up = asyncio.Event()
        # A thread for `take_jobs` alone: if it waited for a busy one, others would take this process for dead.
        self._loop_thread = anyio.CapacityLimiter(1)

    async def take_jobs(self) -> None:
        """Begin queued jobs as slots become free, and stop jobs that are cancelled or taken over; never returns."""
        while True:
            self._wake_up.clear()
            try:
                # Tell the table how this process's jobs are, begin those that it gets, and end those that it lost.
                jobs = [running.newest() for running in self._running.values()]
                taken, lost = await anyio.to_thread.run_sync(self.jobs.exchange, jobs, limiter=self._loop_thread)
                for job in jobs:
                    if job.build.state != "running":  # it has ended, and its state is saved
                        del self._running[job.build.id]
                for build in lost:
                    self._running[build].work.cancel()
                for job in taken:
                    running = self._running[job.build.id] = _Running(job)
                    running.work = asyncio.create_task(self._do_job(running))
                    running.work.add_done_callback(lambda _: self._wake_up.set())
            except (sqlite3.OperationalError, DatabaseError) as error:
                _LOG.warning("the jobs cannot be looked at for now: %s", message_for_log(error))
            with suppress(TimeoutError):
                async with asyncio.timeout(_BEAT):
                    await self._wake_up.wait()

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
        works = [running.work for running in self._running.values()]
        for work in works:
            work.cancel()
        if works:  # `wait` takes no empty list
            await asyncio.wait(works, timeout=seconds)
        # Other servers resume what this one leaves, so it saves no end of a build if there may be others.
        ended = [] if self._db.is_shared else [job.newest() for job in self._running.values() if job.work.done()]
        try:
            await anyio.to_thread.run_sync(self.jobs.leave, ended)
        except (sqlite3.OperationalError, DatabaseError) as error:
            _LOG.warning("builds could not be handed over, and are resumed like a killed process's: %s",
                         message_for_log(error))
        return all(work.done() for work in works)

    async def _do_job(self, running: _Running) -> Job:
        """Do a job; wait for another writer or the keys, and queue the job again if the database fails."""
        until = time.monotonic() + _LONGEST_WAIT
        while True:
            try:
                return await self._run_graph(running)
            except (WriterBusyError, KeysError) as error:  # or no database to read keys in
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
    # A run of the same job that waited for a person before has added its lines to `job.unread`.
    unread = {key: [*job.unread.get(key, ()), *state.values[key]] for key in (
        "files_failed", "files_partly_read", "files_moved", "records_gone")}
    # A line begins with a file's path, or with the folder itself if that could not be read as a whole.
    unread["files_failed"] = [line.removeprefix(f"{folder}/").removeprefix(f"{folder}: ")
                              for line in unread["files_failed"]]
    if state.interrupts:
        question = state.interrupts[0].value
        review = BuildReview(candidates=[Candidate(**data) for data in question["delta"]["candidates"]],
                             error=question.get("error", ""))
        return job.having(state="waiting", review=review).model_copy(
            update={"run": state.values["run"], "unread": unread})
    return job.having(state="done", report={**state.values["report"], **unread})


class FileNameError(RefusedError, status=422):
    """The name of an uploaded file cannot be a document's id."""


def _safe_name(name: str) -> str:
    """Return a file's name as a relative path in Unicode NFC; raise FileNameError if it is not safe."""
    encodable = name.encode(errors="replace").decode()  # a lone surrogate becomes "?", which is forbidden
    plain = unicodedata.normalize("NFC", encodable).replace("\\", "/")
    has_bad_letter = any(letter in _FORBIDDEN or unicodedata.category(letter) in _INVISIBLE for letter in plain)
    if len(plain) > MAX_ID or has_bad_letter or not all(map(_is_safe_part, plain.split("/"))):
        raise FileNameError(
            f"the file name {name[:100]!r} cannot be a document's id: it is empty or too long, leads out of its "
            "folder, is hidden or a device's, begins or ends with a space or dot, or contains one of : * ? \" < > | "
            "or an invisible character. Rename the file")
    return plain


def _is_safe_part(part: str) -> bool:
    """Return True if a part of a path is an allowed and visible name of a file or folder on every system."""
    is_plain = part.strip() == part and not part.startswith(".") and not part.endswith(".")
    return bool(part) and is_plain and not _DEVICE.fullmatch(part) and len(part.encode()) <= _MAX_NAME_BYTES


def safe_names(names: Sequence[str]) -> list[str]:
    """Return safe names for the files of an upload; raise FileNameError if one is unsafe, or two are nearly equal."""
    safe, taken = [_safe_name(name) for name in names], set[str]()
    for name in sorted(safe, key=len, reverse=True):  # longer ones first: they need folders
        key = unicodedata.normalize("NFKC", name).casefold()  # some file systems ignore case and width
        if key in taken:
            raise FileNameError(f"another file has nearly the name {name!r}, or needs it as a folder: rename one")
        taken |= {key, *map(str, Path(key).parents)}
    return safe


def files_folder(kb: str) -> str:
    """Return the path, below the home folder, of the folder from which builds of a knowledge base read their files."""
    return f".uploads/read/{kb}"  # no knowledge base's name begins with a dot


@asynccontextmanager
async def reading_files(database: ServerDatabase, home: Path, job: str, kb: str) -> AsyncIterator[Path]:
    """Write a job's files to a private folder, which can be read within the block and is deleted at its end.

    All jobs of a knowledge base use the same folder, so a document that is uploaded again has the same path as its
    source. Only one of them runs at a time.
    """
    folder = home / files_folder(check_name(kb))
    try:
        await anyio.to_thread.run_sync(_write_files, database, job, folder)
        yield folder
    finally:
        await anyio.to_thread.run_sync(shutil.rmtree, folder, True)


def _write_files(database: ServerDatabase, job: str, folder: Path) -> None:
    """Write a job's files to a folder that only this user can read, in place of what a killed process left there."""
    shutil.rmtree(folder, ignore_errors=True)
    for private_folder in (folder.parent.parent, folder.parent, folder):  # `mode` concerns the last folder of a path
        private_folder.mkdir(mode=0o700, exist_ok=True)
    with database.reading() as connection:
        one_at_a_time = connection.execution_options(yield_per=1)  # a part in memory
        for row in one_at_a_time.execute(select(UPLOADS).where(UPLOADS.c.build == job).order_by(
                UPLOADS.c.file, UPLOADS.c.part)):
            file = folder / row.name
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("ab" if row.part else "xb") as stream:  # the first part creates the file
                stream.write(row.content)


def sweep_files(home: Path, in_use: Collection[str]) -> None:
    """Remove the uploaded files that killed processes have left, except those of the knowledge bases in use."""
    for folder in home.glob(files_folder("*/")):
        if folder.name not in in_use:
            shutil.rmtree(folder, ignore_errors=True)
