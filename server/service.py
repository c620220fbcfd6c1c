"""The server's shared objects, with which the routes work."""

import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Annotated, cast

import anyio.to_thread
from fastapi import Depends, Request

from ..agents.resources import Resources
from ..agents.snapshots import Snapshot
from ..graph_store.layout import BACKING_UP, knowledge_bases, sweep
from ..runtime.safe_files import own_folder
from ..schemas.errors import BanyanError
from .responses import KbName
from .runs.builds import Builds, sweep_files
from .runs.conversations import Conversations
from .runs.questions import Questions
from .runs.turns import Shares
from .security.clients import Clients
from .server_database import ServerDatabase, message_for_log

_LOG = logging.getLogger("banyan.server")
# A build that has not ended this many seconds after the server stops ends with the process, and loses its current step.
_BUILDS_END_IN = 5.0
_CHECK_SECONDS = 2.0  # seconds between checks for new data
_CHECKS_PER_SWEEP = 30  # checks for new data between two checks for dropped knowledge bases


class Service:
    """The resources of the process, and the questions, builds and conversations that use them."""

    def __init__(self, resources: Resources, workers: int) -> None:
        """Open the server's database; `workers` is the number of processes that serve."""
        self.resources = resources
        self.workers = workers
        self.ready = False  # whether the embedding model is loaded
        self.idle = True  # False if a build had not ended when the server stopped
        self.model_from_page = False  # whether the model was set at run time
        resources.settings.home.mkdir(parents=True, exist_ok=True)
        self.database = ServerDatabase.of(resources.settings)
        self.conversations = Conversations(self.database)
        self.questions = Questions(resources, self.conversations)
        self.shares = Shares()
        self.clients = Clients(resources.settings, self.database)
        self.builds = Builds(resources, self.database, self.clients)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the background tasks within the block, which lasts as long as the server; then stop the builds."""
        await anyio.to_thread.run_sync(self._clean_up)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._warm_up)
            tasks.start_soon(self.builds.take_jobs)
            tasks.start_soon(self._check_for_new_data)
            yield
            tasks.cancel_scope.cancel()
        self.idle = await self.builds.stop(_BUILDS_END_IN)
        if self.idle:
            self.database.close()
        else:  # the build that has not ended still needs the database
            _LOG.warning("a build was interrupted in its current step; the next build resumes there")

    def _clean_up(self) -> None:
        """Remove what killed processes left: uploaded files, dropped knowledge bases, conversations about these."""
        sweep_files(self.resources.settings.home, self.builds.building())
        sweep(self.resources.settings)
        existing = set(knowledge_bases(self.resources.settings))
        self.conversations.forget_bases(lambda name: name not in existing)

    async def _check_for_new_data(self) -> None:
        """Keep open knowledge bases up to date with what builds and other servers write, until cancelled."""
        for check in count(1):
            await anyio.sleep(_CHECK_SECONDS)
            try:
                await anyio.to_thread.run_sync(self.resources.snapshots.open_newest_states)
                if check % _CHECKS_PER_SWEEP == 0:
                    await anyio.to_thread.run_sync(sweep, self.resources.settings)
            except (BanyanError, OSError) as error:
                _LOG.warning("new data cannot be seen for now: %s", message_for_log(error))

    async def _warm_up(self) -> None:
        """Load the embedding model, which the first question would otherwise wait for."""
        try:
            await anyio.to_thread.run_sync(lambda: self.resources.embedder.encode(["ready"]))
        except BanyanError:
            # The server goes on, so `/api/ready` can report that it is not ready.
            _LOG.exception("the embedding model cannot be loaded")
        else:
            self.ready = True


def _service_of(request: Request) -> Service:
    return cast("Service", request.app.state.service)


Serving = Annotated[Service, Depends(_service_of)]  # the service of the request's app


def _make_folder(service: Serving) -> Iterator[Path]:
    """Make a hidden folder in the home folder for a file to send; by its suffix `sweep` finds what a kill leaves."""
    with own_folder(service.resources.settings.home, ".", BACKING_UP) as folder:
        yield folder


OwnFolder = Annotated[Path, Depends(_make_folder)]  # deleted when the response is sent


def _lease_snapshot(kb: KbName, service: Serving) -> Iterator[Snapshot]:
    with service.resources.snapshot(kb) as snapshot:
        yield snapshot


# The newest snapshot of the request's knowledge base, leased while the request is answered.
Reading = Annotated[Snapshot, Depends(_lease_snapshot)]
