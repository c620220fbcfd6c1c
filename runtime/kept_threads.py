"""Daemon threads that are kept: to wake one that waits costs a third of what it costs to start one."""

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

from .cores import stay_on_core


class KeptThreads:
    """Runs each job at once, in a thread of its own: one that has nothing to do, or a new one.

    They keep no process alive. There are as many as there were jobs at the same time. All stay on one core, as do
    others that wait for them (`stay_on_core`).

    Args:
        name: of the threads.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._idle: list[SimpleQueue[Callable[[], None]]] = []

    def run(self, job: Callable[[], None]) -> None:
        """Begin a job, which must raise nothing."""
        try:
            jobs = self._idle.pop()  # a list's own operations are atomic
        except IndexError:
            jobs = SimpleQueue()
            threading.Thread(target=self._work, args=(jobs,), name=self._name, daemon=True).start()
        jobs.put(job)

    def _work(self, jobs: "SimpleQueue[Callable[[], None]]") -> None:
        stay_on_core(os.getpid())
        while True:
            jobs.get()()
            self._idle.append(jobs)
