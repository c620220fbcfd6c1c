"""The process's event loop: one, whoever asks for it first."""

import threading
import time
from functools import cache

from banyan.runtime import event_loop


def test_threads_that_ask_at_once_share_one_loop(monkeypatch):
    """Clients are bound to the loop that they were first used on."""
    def start():
        time.sleep(0.05)
        return object()

    monkeypatch.setattr(event_loop, "_started", cache(start))
    together, loops = threading.Barrier(4), []

    def ask():
        together.wait()
        loops.append(event_loop.process_loop())

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loops) == 4
    assert len(set(map(id, loops))) == 1
