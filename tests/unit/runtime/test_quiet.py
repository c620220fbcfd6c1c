"""Warnings turned off by several threads at once."""

import threading
import warnings

from banyan.runtime.quiet import ignoring


def test_threads_do_not_turn_each_others_warnings_on():
    """`catch_warnings` alone: the first to leave sets the filters back that the second came in with."""
    heard, second_is_in = [], threading.Event()

    def first():
        with ignoring(DeprecationWarning):
            second_is_in.wait(0.2)  # it must wait outside

    def second():
        with ignoring(DeprecationWarning):
            second_is_in.set()
            workers[0].join(0.2)
            try:
                warnings.warn("old", DeprecationWarning, stacklevel=1)
            except DeprecationWarning as warning:
                heard.append(warning)

    workers = [threading.Thread(target=work) for work in (first, second)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert heard == []
