"""The processes of `banyan serve`: one by itself, or several workers behind one port, over the same files.

uvicorn's supervisor starts workers, replaces one that dies, and stops them all. They share builds and conversations
(`server.sqlite`), knowledge bases and keys (files). Limits that each process counts by itself are divided among them;
limits that cannot be divided are refused.
"""

import asyncio
import multiprocessing
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from ..config import Settings
from ..runtime.libraries import collect_rarely
from ..server.security.hosts import Hosts
from .console import CommandError, set_up_logs

if TYPE_CHECKING:
    from fastapi import FastAPI

_DIVIDED_LIMITS = ("asks_at_once", "llm_concurrency", "llm_requests_per_second", "llm_tokens_per_minute",
                   "requests_per_minute")
_STARTS_WITHIN, _ANSWERS_WITHIN = 120, 60
"""Seconds for a worker to start, and to answer the supervisor, before it is killed. This is far more than it needs,
because a build may block all of Python while it parses something large."""


def serve_alone(settings: Settings, hosts: Hosts, listening: Callable[[], None], *, needs_keys: bool,
                options: dict[str, Any]) -> bool:
    """Serve in this process until it is stopped; return True if the server could start.

    `listening` is called when it has started, and `options` are uvicorn's. If a build cannot be stopped at the end,
    this process exits here.
    """
    app = serving_app(settings, hosts, needs_keys=needs_keys)
    server = _Server(uvicorn.Config(app, **options), listening)
    # uvicorn handles a signal by shutting down, and then raises the signal again, which would kill this process. These
    # handlers ignore the second one.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    server.run()
    if not app.state.service.idle:
        sys.stderr.flush()
        os._exit(0)  # a normal exit would wait for the build's thread, which cannot be stopped
    return server.started


class _Server(uvicorn.Server):
    """A server that calls `listening` once it accepts connections, so its address is not announced too early."""

    def __init__(self, config: uvicorn.Config, listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._listening()


class Connection(H11Protocol):
    """A connection that is closed unless the whole head of a request arrives within `timeout_keep_alive` seconds.

    If a process has as many connections as it may have, a new one takes the place of the one that has waited longest
    for a head.
    """

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the timer, which uvicorn starts only after an answer, and make room for this connection."""
        super().connection_made(cast("asyncio.Transport", transport))
        excess = len(self.connections) + 1 - (self.limit_concurrency or len(self.connections) + 1)
        if excess > 0:
            waiting = {one: one.timeout_keep_alive_task.when() for one in self.connections
                       if isinstance(one, Connection) and one.timeout_keep_alive_task}
            for one in sorted(waiting, key=lambda one: waiting[one])[:excess]:
                one.timeout_keep_alive_handler()
                # uvicorn does this when the transport has closed; a request that is handled before would be refused.
                self.connections.discard(one)
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def data_received(self, data: bytes) -> None:
        """Handle what has arrived; uvicorn's own method stops the timer at the first byte of a head."""
        self.conn.receive_data(data)
        self.handle_events()


def serving_app(settings: Settings, hosts: Hosts, *, needs_keys: bool, workers: int = 1) -> "FastAPI":
    """Create the app that a process serves; called in that process, whose end closes the app's resources."""
    # Imported here, so the supervisor of several workers, which serves nothing, saves the 2 s and 130 MB.
    from ..agents.resources import Resources  # noqa: PLC0415
    from ..server.app import create_app  # noqa: PLC0415
    set_up_logs(settings)
    # A thread lets others run at each read of a file or database, and waits this long to go on if one of them computes:
    # with Python's 5 ms, one client's computations would slow down the many reads of another one's request.
    sys.setswitchinterval(0.0005)
    return create_app(Resources(settings), hosts=hosts, needs_keys=needs_keys, workers=workers)


class WorkerSupervisor(Multiprocess):
    """The supervisor of several workers."""

    def __init__(self, settings: Settings, workers: int, hosts: Hosts, listening: Callable[[], None], *,
                 needs_keys: bool, **options: Any) -> None:
        """Bind the port; nothing is started yet. `settings` are those of all workers together.

        Raises:
            CommandError: a limit cannot be divided among the workers.
        """
        app = partial(_worker_app, divide_limits(settings, workers), hosts, needs_keys=needs_keys, workers=workers)
        config = uvicorn.Config(app, factory=True, workers=workers, timeout_worker_healthcheck=_ANSWERS_WITHIN,
                                **options)
        self.started = False
        self._listening = listening
        super().__init__(config, [config.bind_socket()])

    def init_processes(self) -> None:
        """Start all workers and wait until they are ready.

        If one cannot start, stop all: it would fail again and again if the supervisor replaced it.
        """
        for _ in range(self.processes_num):
            process = Process(self.config, self.sockets)
            # Reading this lazy property creates its value before threads use it. Otherwise two threads could each
            # create one, and the worker's start would go unnoticed.
            process.server  # noqa: B018
            process.start()
            self.processes.append(process)
        self.started = all(process.wait_until_ready(_STARTS_WITHIN) for process in self.processes)
        if self.started:
            self._listening()
        else:
            self.should_exit.set()


def divide_limits(settings: Settings, workers: int) -> Settings:
    """Return the settings of one worker, in which each limit that processes count by themselves is divided."""
    parts: dict[str, float] = {}
    for name in _DIVIDED_LIMITS:
        limit = getattr(settings, name)
        if limit is None:  # there is no limit
            continue
        if isinstance(limit, int) and limit < workers:
            raise CommandError(f"BANYAN_{name.upper()} is {limit}, which cannot be divided among {workers} workers: "
                               "start fewer, or raise it")
        # Whole numbers stay whole, such as a number of questions; rates need not.
        parts[name] = limit // workers if isinstance(limit, int) else limit / workers
    return settings.model_copy(update=parts)


def _worker_app(settings: Settings, hosts: Hosts, *, needs_keys: bool, workers: int) -> "FastAPI":
    def end_with_supervisor() -> None:
        """Stop this worker when its supervisor has ended: nobody else would, if the supervisor was killed."""
        if supervisor := multiprocessing.parent_process():
            supervisor.join()
            os.kill(os.getpid(), signal.SIGTERM)

    collect_rarely()
    threading.Thread(target=end_with_supervisor, daemon=True).start()
    return serving_app(settings, hosts, needs_keys=needs_keys, workers=workers)
