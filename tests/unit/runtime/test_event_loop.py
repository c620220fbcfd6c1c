"""Calls from synchronous code, work in threads, and what ends when either is cancelled."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from banyan.models.reasoner import ReasonerError
from banyan.runtime.safe_files import own_folder
from banyan.runtime.threads import check_cancelled, in_parallel, in_thread, iterate, run

SOON = 30.0
"""Seconds that nothing here may come near: a busy machine is slow, not that slow."""


async def this_loop() -> int:
    return id(asyncio.get_running_loop())


def wait_for_cancellation(begun: threading.Event, ended: list[str]) -> None:
    begun.set()
    until = time.monotonic() + SOON
    while time.monotonic() < until:
        try:
            check_cancelled()
        except asyncio.CancelledError:
            ended.append("the thread")
            raise
        time.sleep(0.01)


def test_a_call_works_where_an_event_loop_runs_and_calls_that_overlap_share_one():
    async def within() -> int:
        assert run(this_loop) != await this_loop(), "this one is blocked meanwhile"
        first, second = await asyncio.gather(*(asyncio.to_thread(run, slow) for _ in range(2)))
        return first == second

    together = threading.Barrier(2)

    async def slow() -> int:
        await asyncio.to_thread(together.wait, SOON)
        return await this_loop()

    assert asyncio.run(within())


def test_an_error_is_raised_where_it_is_waited_for():
    async def failing() -> None:
        raise ReasonerError("no")

    async def main() -> None:
        await in_thread(run, failing)

    with pytest.raises(ReasonerError, match="no"):
        run(failing)
    with pytest.raises(ReasonerError, match="no"):
        asyncio.run(main())


def test_threads_that_wait_for_threads_do_not_take_all_turns():
    def outer(_: int) -> int:
        return run(in_thread, run, this_loop)

    async def main() -> int:
        return len({*await asyncio.wait_for(asyncio.gather(*(in_thread(outer, n) for n in range(50))), SOON)})

    assert asyncio.run(main()) == 1


def test_a_cancelled_task_ends_its_thread_and_the_call_that_this_waits_for():
    begun, ended = threading.Event(), list[str]()

    async def asking() -> None:
        begun.set()
        try:
            await asyncio.sleep(SOON)
        finally:
            ended.append("the call")

    async def main(work, *arguments) -> None:
        task = asyncio.ensure_future(in_thread(work, *arguments))
        await asyncio.to_thread(begun.wait, SOON)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    began = time.monotonic()
    asyncio.run(main(wait_for_cancellation, begun, ended))
    begun.clear()
    asyncio.run(main(run, asking))
    assert ended == ["the thread", "the call"]
    assert time.monotonic() - began < SOON


def test_what_a_thread_raises_while_it_is_cancelled_is_not_lost():
    begun = threading.Event()

    def fails() -> None:
        try:
            wait_for_cancellation(begun, [])
        except asyncio.CancelledError:
            raise OSError("the disk is full") from None

    async def main() -> None:
        task = asyncio.ensure_future(in_thread(fails))
        await asyncio.to_thread(begun.wait, SOON)
        task.cancel()
        await task

    with pytest.raises(OSError, match="the disk is full"):
        asyncio.run(main())


def test_ctrl_c_cancels_a_call_and_waits_for_its_end():
    ended = []

    async def main() -> None:
        threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGINT]).start()
        try:
            await asyncio.sleep(SOON)
        finally:
            await asyncio.sleep(0.2)
            ended.append("the call")

    with pytest.raises(KeyboardInterrupt):
        run(main)
    assert ended


def test_items_come_in_order_then_the_error_and_closing_ends_what_makes_them():
    ended = threading.Event()

    async def failing():
        for number in range(3):
            yield number
        raise ReasonerError("no")

    async def endless():
        try:
            while True:
                yield "again"
                await asyncio.sleep(0.01)
        finally:
            ended.set()

    items, seen = iterate(failing), []
    with pytest.raises(ReasonerError, match="no"):
        for item in items:
            seen.append(item)  # noqa: PERF402  (those before the error stay)
    assert seen == [0, 1, 2]
    items = iterate(endless)
    assert next(items) == "again"
    items.close()
    assert ended.wait(SOON)


def test_in_parallel_begins_nothing_more_after_a_failure_and_ends_what_was_begun():
    started, over = [], []

    async def call(n: int) -> None:
        started.append(n)
        if n == 1:
            await asyncio.sleep(0)
            raise ReasonerError("one fails")
        await asyncio.sleep(0.05)
        over.append(n)

    with pytest.raises(ReasonerError, match="one fails"):
        asyncio.run(in_parallel(call, range(100), 3))
    assert started == [0, 1, 2]
    assert over == [0, 2], "what was paid is kept"


def test_the_folder_of_a_killed_process_goes_with_the_next_start(tmp_path):
    killed = subprocess.run([sys.executable, "-c", (
        "import os, signal, sys\nfrom pathlib import Path\nfrom banyan.runtime.safe_files import own_folder\n"
        "with own_folder(Path(sys.argv[1]), 'work-') as folder:\n"
        "    (folder / 'r').mkdir(mode=0o777)\n    os.kill(os.getpid(), signal.SIGKILL)"), tmp_path], check=False)
    assert killed.returncode < 0
    assert len(list(tmp_path.iterdir())) == 1
    with own_folder(tmp_path, "work-") as folder:
        assert list(tmp_path.iterdir()) == [folder]
        assert folder.stat().st_mode & 0o777 == 0o700
        with own_folder(tmp_path, "work-"):
            assert len(list(tmp_path.iterdir())) == 2, "one that is in use is not swept"
    assert list(tmp_path.iterdir()) == []
