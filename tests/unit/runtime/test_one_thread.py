"""What threads and processes share: one result of the first to ask, one thread of linear algebra, own folders."""

import subprocess
import sys
import threading
import time

import numpy as np
from banyan.runtime.libraries import one_thread
from banyan.runtime.safe_files import own_folder
from banyan.runtime.threads import once
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
            first_may_go.wait(60)

    def second():
        first_is_in.wait(60)
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
        worker.join(60)
    assert seen == [[1] * len(before)]
    assert _threads() == before


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


def test_the_folder_is_this_user_s_and_goes_when_it_is_left(tmp_path):
    with own_folder(tmp_path, "work-") as folder:
        (outer,) = tmp_path.iterdir()
        assert folder == outer
        assert outer.stat().st_mode & 0o777 == 0o700
        with own_folder(tmp_path, "work-"):
            assert len(list(tmp_path.iterdir())) == 2, "one that is in use is not swept"
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_killed_process_goes_with_the_next_start(tmp_path):
    killed = subprocess.run([sys.executable, "-c", (
        "import os, signal, sys\nfrom pathlib import Path\nfrom banyan.runtime.safe_files import own_folder\n"
        "with own_folder(Path(sys.argv[1]), 'work-') as folder:\n"
        "    (folder / 'r').mkdir(mode=0o777)\n    os.kill(os.getpid(), signal.SIGKILL)"), tmp_path], check=False)
    assert killed.returncode < 0
    assert len(list(tmp_path.iterdir())) == 1
    with own_folder(tmp_path, "work-"):
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []
