"""What a process that answers runs: the server by itself, or the app of one of several workers."""

import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI

from ..agents.resources import Resources
from ..config import Settings
from ..server.app import create_app
from ..server.security.hosts import Hosts
from .console import err
from .logs import set_up_logs
from .session import opened

_INTERRUPTED = "a build was interrupted in its current step; the next build resumes there"


def serve_alone(hosts: Hosts, listening: Callable[[], None], *, needs_keys: bool, options: dict[str, Any]) -> bool:
    """Serve in this process until it is told to stop.

    Args:
        hosts: the names that the server answers to.
        listening: called when it has started.
        needs_keys: whether it answers nobody without a key.
        options: of uvicorn.

    Returns:
        whether it could be started.
    """
    with opened() as resources:
        service = create_app(resources, hosts=hosts, needs_keys=needs_keys)
        server = _Server(uvicorn.Config(service, **options), listening)
        # uvicorn sends itself the signal that stopped it again when all is done: resources are to be closed first.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        server.run()
        if not service.state.service.idle:
            err.print(_INTERRUPTED)
            sys.stderr.flush()
            os._exit(0)  # its thread cannot be stopped, and the interpreter would wait for it
        return server.started


class _Server(uvicorn.Server):
    """Says when it listens: an address that does not answer yet is of no use."""

    def __init__(self, config: uvicorn.Config, listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._listening()


def worker_app(settings: Settings, hosts: Hosts, *, needs_keys: bool, workers: int) -> FastAPI:
    """The app of one of some workers, in its process.

    Args:
        settings: its own part of the limits.
        hosts: the names that the server answers to.
        needs_keys: whether it answers nobody without a key.
        workers: how many there are.
    """
    set_up_logs(settings)
    resources = Resources(settings)
    app = create_app(resources, hosts=hosts, needs_keys=needs_keys, workers=workers)
    served = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[Any]:
        async with served(app) as state:
            yield state
        # Next, uvicorn sends the process the signal again that ended it: nothing comes after this.
        if app.state.service.idle:
            resources.close()
        else:
            err.print(_INTERRUPTED)

    app.router.lifespan_context = lifespan
    return app
