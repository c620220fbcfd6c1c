"""Threads that are kept for the next job."""

import threading

from banyan.runtime.kept_threads import KeptThreads

SECONDS = 30


def test_one_after_the_other_run_in_one_thread_and_at_once_in_several():
    threads, seen, name = KeptThreads("kept-here"), list[int](), "kept-here"

    def run(parties: int) -> None:
        together, ended = threading.Barrier(parties), threading.Semaphore(0)

        def job() -> None:
            together.wait(SECONDS)  # they are all under way at the same time
            seen.append(threading.get_ident())
            ended.release()

        for _ in range(parties):
            threads.run(job)
        for _ in range(parties):
            assert ended.acquire(timeout=SECONDS)
        while len(threads._idle) < sum(thread.name == name for thread in threading.enumerate()):
            threading.Event().wait(0.001)

    for parties in (1, 1, 3, 3, 2):
        run(parties)
    assert len(set(seen)) == 3
    assert all(thread.daemon for thread in threading.enumerate() if thread.name == name)
