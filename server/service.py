"""What the routes work with: one of each for a server."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Annotated, cast

import anyio
import anyio.to_thread
from fastapi import Depends, Request

from ..agents.resources import Resources
from ..graph_store.errors import DatabaseError
from ..graph_store.layout import knowledge_bases, sweep
from ..schemas.errors import BanyanError
from .database import ServerDatabase
from .runs.backups import Backups
from .runs.builds import Builds
from .runs.conversations import Conversations
from .runs.process_lock import FileProcessLock, ProcessLock, SessionProcessLock
from .runs.questions import Questions
from .security.allowances import Allowances
from .security.clients import Clients

_LOG = logging.getLogger("banyan.server")
_BUILDS_END_IN = 5.0
"""Seconds that builds have to end in when the server does. One that takes longer ends with the process, which costs it
the step that is under way."""
_FOLLOWED = 2.0
"""Seconds between two looks at what was written."""
_SWEPT = 30
"""Looks between two at what they have dropped."""


class Service:
    """The resources of the process, and what runs on them."""

    def __init__(self, resources: Resources, workers: int) -> None:
        self.resources = resources
        self.workers = workers
        self.ready = False
        self.idle = True
        """Whether all builds had ended when the server did."""
        self.model_from_page = False
        """Whether the model was set while the server runs."""
        resources.settings.home.mkdir(parents=True, exist_ok=True)
        self.database = ServerDatabase.of(resources.settings)
        self._process: ProcessLock = (FileProcessLock(resources.settings.home)
                                      if isinstance(self.database.place, Path)
                                      else SessionProcessLock(self.database.place))
        self.conversations = Conversations(self.database, self._process)
        self.questions = Questions(resources, self.conversations)
        self.clients = Clients.of(resources.settings, self.database)
        self.allowances = Allowances(self.database, self.clients)
        self.backups = Backups(resources)
        self.builds = Builds(resources, self.database, self._process, self.allowances)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Be at work within the block: the lifetime of the server."""
        await anyio.to_thread.run_sync(self._begin)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._warm_up)
            tasks.start_soon(self.builds.attend)
            tasks.start_soon(self._follow)
            yield
            tasks.cancel_scope.cancel()
        self.builds.stop()
        self.idle = await self.builds.ended(_BUILDS_END_IN)
        if self.database.shared:
            await anyio.to_thread.run_sync(self._leave)
        await anyio.to_thread.run_sync(self._process.release)
        if self.idle:
            self.database.close()

    def _begin(self) -> None:
        self._process.acquire()
        self.builds.sweep()
        self.backups.sweep()
        sweep(self.resources.settings)
        self.conversations.sweep(knowledge_bases(self.resources.settings))

    def _leave(self) -> None:
        try:
            self.builds.hand_over()
        except DatabaseError as error:
            _LOG.warning("builds are taken up as those of a process that was killed: %s", error.here)

    async def _follow(self) -> None:
        """Bring open knowledge bases up to what builds and other servers write."""
        for beat in count(1):
            await anyio.sleep(_FOLLOWED)
            try:
                await anyio.to_thread.run_sync(self.resources.readers.follow)
                if beat % _SWEPT == 0:
                    await anyio.to_thread.run_sync(sweep, self.resources.settings)
            except (BanyanError, OSError) as error:
                _LOG.warning("what was written is not seen for now: %s", getattr(error, "here", error))

    async def _warm_up(self) -> None:
        """Load the model before the first question waits for it."""
        try:
            await anyio.to_thread.run_sync(lambda: self.resources.embedder.encode(["ready"]))
        except BanyanError:
            # The server goes on, so that whoever looks at /api/ready is told.
            _LOG.exception("the embedding model cannot be loaded")
        else:
            self.ready = True


def service_of(request: Request) -> Service:
    """The service of the app that a request is for."""
    return cast("Service", request.app.state.service)


Serving = Annotated[Service, Depends(service_of)]
