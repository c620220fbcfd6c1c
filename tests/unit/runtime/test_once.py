"""What a process has one of is created once, whoever asks for it first."""

import threading
import time

from banyan.runtime.once import once


def test_threads_that_are_the_first_at_once_share_one_result():
    """Two event loops of a process made clients fail that were used on both."""
    together, results = threading.Barrier(4), []

    @once
    def created():
        time.sleep(0.05)
        return object()

    def ask():
        together.wait()
        results.append(created())

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert len(set(map(id, results))) == 1
