"""On which core stay threads, or the threads of a process, that hand work to one another all the time."""

import os
from contextlib import suppress


def stay_on_core(number: int) -> None:
    """Keep the calling thread, and those that it starts, on one core.

    To wake a thread on another core takes longer than on the same one, and threads that take turns at a lock, Python's
    for instance, gain nothing by a second one. Where the system has no such setting, or refuses it, nothing is changed.

    Args:
        number: of the core, counted round those that may be used.
    """
    if hasattr(os, "sched_setaffinity"):
        with suppress(OSError):
            cores = sorted(os.sched_getaffinity(0))
            os.sched_setaffinity(0, {cores[number % len(cores)]})
