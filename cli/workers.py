"""`banyan serve --workers N`: processes behind one port, over the same files.

uvicorn's supervisor starts them, replaces one that dies, and ends all. They share builds and conversations
(`server.sqlite`), knowledge bases and keys (files). What each counts or keeps for itself is divided among them, or
refused.
"""

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
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from ..config import Settings
from ..runtime.start import without_collecting
from ..server.security.hosts import Hosts
from .errors import CommandError

if TYPE_CHECKING:
    from fastapi import FastAPI

_DIVIDED = ("asks_at_once", "llm_concurrency", "llm_requests_per_second", "llm_tokens_per_minute",
            "requests_per_minute")
_STARTS_WITHIN, _ANSWERS_WITHIN = 120, 60
"""Seconds that a worker has to start, and to tell the supervisor that it is alive: one that does not is killed. Far
more than they take, since a build may keep all of Python waiting while it parses something large."""


class Workers(Multiprocess):
    """The supervisor of some workers."""

    def __init__(self, settings: Settings, workers: int, hosts: Hosts, listening: Callable[[], None], *,
                 needs_keys: bool, **options: Any) -> None:
        """Take the port; nothing is started yet.

        Args:
            settings: for all of them together.
            workers: how many there are.
            hosts: the names that the server answers to.
            listening: called when all have started.
            needs_keys: whether it answers nobody without a key.
            options: of uvicorn.

        Raises:
            CommandError: a limit cannot be divided among them.
        """
        app = partial(_app, divided(settings, workers), hosts, needs_keys=needs_keys, workers=workers)
        config = uvicorn.Config(app, factory=True, workers=workers, timeout_worker_healthcheck=_ANSWERS_WITHIN,
                                **options)
        self.started = False
        self._listening = listening
        bound = config.bind_socket()
        if sys.platform == "linux":
            bound.close()  # it was free: each worker has a socket of its own
        super().__init__(config, [cast("socket.socket", _Port(config)) if sys.platform == "linux" else bound])

    def init_processes(self) -> None:
        """Start all. Where one cannot, it would fail in the same way again and again: all end."""
        for _ in range(self.processes_num):
            process = Process(self.config, self.sockets)
            # Made here: of the process two threads would each make one, now and then, and it is not seen to start.
            process.server  # noqa: B018
            process.start()
            self.processes.append(process)
        self.started = all(process.wait_until_ready(_STARTS_WITHIN) for process in self.processes)
        if self.started:
            self._listening()
        else:
            self.should_exit.set()


class _Port:
    """What is sent to a worker to be a socket of its own there: the kernel then spreads connections over all workers.

    From one socket, the worker that happens to be faster accepts nearly all, until it computes without a pause.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        self._address = config.host, config.port

    def __reduce__(self) -> tuple[Callable[..., socket.socket], tuple[str, int]]:
        return _bound, self._address


def _bound(host: str, port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
        bound.setsockopt(socket.SOL_SOCKET, option, 1)
    bound.bind((host, port))
    return bound


def divided(settings: Settings, workers: int) -> Settings:
    """The settings of each of some workers: its part of every limit that a process counts for itself.

    Raises:
        CommandError: a limit is smaller than their number.
    """
    parts: dict[str, float] = {}
    for name in _DIVIDED:
        most = getattr(settings, name)
        if isinstance(most, int) and most < workers:
            raise CommandError(f"BANYAN_{name.upper()} is {most}, which cannot be divided among {workers} workers: "
                               "start fewer, or raise it")
        if most is not None:
            parts[name] = most // workers if isinstance(most, int) else most / workers
    return settings.model_copy(update=parts)


def _app(settings: Settings, hosts: Hosts, *, needs_keys: bool, workers: int) -> "FastAPI":
    """The app of a worker, in its process."""
    # The supervisor needs none of this: 2 s and 130 MB.
    with without_collecting():
        from .serving import worker_app  # noqa: PLC0415
    threading.Thread(target=_end_with_supervisor, daemon=True).start()
    return worker_app(settings, hosts, needs_keys=needs_keys, workers=workers)


def _end_with_supervisor() -> None:
    """End as usual when the supervisor was killed: nobody else would end this process."""
    supervisor = multiprocessing.parent_process()
    if supervisor is not None:
        supervisor.join()
        os.kill(os.getpid(), signal.SIGTERM)
