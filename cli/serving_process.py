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
from .console import err, tell_reasoner
from .logs import set_up_logs


def serve_alone(settings: Settings, hosts: Hosts, listening: Callable[[], None], *, needs_keys: bool,
                options: dict[str, Any]) -> bool:
    """Serve in this process until it is stopped; return True if the server could start.

    Args:
        settings: the environment's.
        hosts: the host names that the server accepts.
        listening: called when the server has started.
        needs_keys: whether every request needs a key.
        options: options for uvicorn.
    """
    app = serving_app(settings, hosts, needs_keys=needs_keys)
    tell_reasoner(settings)
    server = _Server(uvicorn.Config(app, **options), listening)
    # After its shutdown, uvicorn raises the signal again that stopped it, which would end this process with it.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    server.run()
    if not app.state.service.idle:
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


def serving_app(settings: Settings, hosts: Hosts, *, needs_keys: bool, workers: int = 1) -> FastAPI:
    """Create the app of a serving process, in that process.

    Args:
        settings: the process's share of the limits.
        hosts: the host names that the server accepts.
        needs_keys: whether every request needs a key.
        workers: the number of processes.
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
            err.print("a build was interrupted in its current step; the next build resumes there")

    app.router.lifespan_context = lifespan
    return app
