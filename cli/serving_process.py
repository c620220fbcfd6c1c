"""The code of a serving process: the server by itself, or the app of one of several workers."""

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
from .session import open_resources

_INTERRUPTED = "a build was interrupted in its current step; the next build resumes there"


def serve_alone(hosts: Hosts, listening: Callable[[], None], *, needs_keys: bool, options: dict[str, Any]) -> bool:
    """Serve in this process until it is stopped.

    Args:
        hosts: the host names that the server accepts.
        listening: called when the server has started.
        needs_keys: whether every request needs a key.
        options: options for uvicorn.

    Returns:
        True if the server could start.
    """
    with open_resources() as resources:
        service = create_app(resources, hosts=hosts, needs_keys=needs_keys)
        server = _Server(uvicorn.Config(service, **options), listening)
        # After its shutdown, uvicorn raises the signal again that stopped it, and resources must be closed before that.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        server.run()
        if not service.state.service.idle:
            err.print(_INTERRUPTED)
            sys.stderr.flush()
            os._exit(0)  # the interpreter would wait for the build's thread, which cannot be stopped
        return server.started


class _Server(uvicorn.Server):
    """A server that reports when it listens: an address is useless before that."""

    def __init__(self, config: uvicorn.Config, listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._listening()


def worker_app(settings: Settings, hosts: Hosts, *, needs_keys: bool, workers: int) -> FastAPI:
    """Create the app of one of several workers, in the worker's process.

    Args:
        settings: the worker's share of the limits.
        hosts: the host names that the server accepts.
        needs_keys: whether every request needs a key.
        workers: the number of workers.
    """
    set_up_logs(settings)
    resources = Resources(settings)
    app = create_app(resources, hosts=hosts, needs_keys=needs_keys, workers=workers)
    served = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[Any]:
        async with served(app) as state:
            yield state
        # Requests still running use the resources: the process's end, which uvicorn brings about next, closes them.
        if app.state.service.idle:
            resources.close()
        else:
            err.print(_INTERRUPTED)

    app.router.lifespan_context = lifespan
    return app
