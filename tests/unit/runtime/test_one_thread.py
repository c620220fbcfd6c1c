"""Linear algebra in one thread, for several that want it at once."""

import threading

import numpy as np
from banyan.runtime.one_thread import one_thread
from threadpoolctl import ThreadpoolController


def _threads() -> list[int]:
    np.ones((2, 2)) @ np.ones((2, 2))
    return [library.num_threads for library in ThreadpoolController().select(user_api="blas").lib_controllers]


def test_each_has_one_thread_until_it_is_through_and_the_number_is_set_back():
    """threadpoolctl ignores whoever comes while another thread holds the limit, and takes it from both at its end."""
    before, seen = _threads(), []
    first_is_in, first_may_go = threading.Event(), threading.Event()

    def first():
        with one_thread():
            first_is_in.set()
            first_may_go.wait(10)

    def second():
        first_is_in.wait(10)
        with one_thread():
            first_may_go.set()  # too late if it had to wait for the first, as it must
            workers[0].join(0.1)
            seen.append(_threads())

    workers = [threading.Thread(target=first), threading.Thread(target=second)]
    for worker in workers:
        worker.start()
    assert not first_may_go.wait(0.2)
    first_may_go.set()
    for worker in workers:
        worker.join(10)
    assert seen == [[1] * len(before)]
    assert _threads() == before
