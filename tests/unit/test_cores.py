"""Threads that take turns stay on one core; all others go where they like."""

import os
import threading

import pytest
from banyan.agents.construction.asking_ahead import AskedAhead
from banyan.runtime.cores import stay_on_core
from banyan.runtime.kept_threads import KeptThreads

pytestmark = pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system has no such setting")


def in_a_thread(job):
    found = []
    thread = threading.Thread(target=lambda: found.append(job()))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.parametrize("number", [0, 1, 7, 12345])
def test_a_thread_stays_on_one_of_the_cores_that_it_may_use(number):
    free = os.sched_getaffinity(0)

    def stay():
        stay_on_core(number)
        return os.sched_getaffinity(0)

    assert in_a_thread(stay) == {sorted(free)[number % len(free)]}
    assert os.sched_getaffinity(0) == free


def test_where_it_is_refused_nothing_is_changed(monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    free = os.sched_getaffinity(0)
    stay_on_core(0)
    assert os.sched_getaffinity(0) == free


def test_calls_and_who_waits_for_them_share_a_core():
    free, cores, done = os.sched_getaffinity(0), [], threading.Semaphore(0)
    kept, asked = KeptThreads("banyan-test"), AskedAhead(3)

    def look():
        cores.append(frozenset(os.sched_getaffinity(0)))
        done.release()

    for number in range(3):
        kept.run(look)
        asked.begin(f"{number}", look)
    for _ in range(6):
        assert done.acquire(timeout=30)
    asked.end()
    assert len(set(cores)) == 1
    assert len(cores[0]) == 1
    assert os.sched_getaffinity(0) == free
