"""What the routes work with: one of each for a server."""

import logging
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, cast

import anyio
import anyio.to_thread
from fastapi import Depends, Request
from langgraph.checkpoint.sqlite import SqliteSaver

from ..agents.resources import Resources
from ..graph_store.ledger.sqlite import write_ahead
from ..schemas.errors import BanyanError
from .runs.builds import Builds
from .runs.conversations import Conversations
from .runs.process_lock import ProcessLock
from .runs.questions import Questions

_LOG = logging.getLogger("banyan.server")
CHECKPOINTS = "server.sqlite"
"""Within the home folder; no knowledge base can be called so."""
_BUILDS_END_IN = 5.0
"""Seconds that builds have to end in when the server does. One that takes longer ends with the process, which costs it
the step that is under way."""


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
        checkpoints = resources.settings.home / CHECKPOINTS
        self._connection = sqlite3.connect(checkpoints, check_same_thread=False)
        write_ahead(self._connection)
        self.saver = SqliteSaver(self._connection)
        self._process = ProcessLock(resources.settings.home)
        self.conversations = Conversations(self.saver, self._process.id)
        self.questions = Questions(resources, self.conversations)
        self.builds = Builds(resources, self.saver, checkpoints, self._process)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Be at work within the block: the lifetime of the server."""
        await anyio.to_thread.run_sync(self._take_up)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._warm_up)
            tasks.start_soon(self.builds.attend)
            yield
            tasks.cancel_scope.cancel()
        self.builds.stop()
        self.idle = await self.builds.ended(_BUILDS_END_IN)
        self.builds.close()
        await anyio.to_thread.run_sync(self._process.release)
        if self.idle:
            self._connection.close()

    def _take_up(self) -> None:
        self._process.acquire()
        self.builds.take_up()
        self.conversations.take_up(self._process.runs)

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
