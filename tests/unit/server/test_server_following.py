"""Following runs: in order, bounded, to their error, and stopped when nobody follows."""

import asyncio
import time

import anyio
import pytest
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.runtime.event_loop import process_loop
from banyan.server.error_responses import DeadlineError
from banyan.server.runs.conversations import Conversations
from banyan.server.runs.following import following
from banyan.server.runs.process_lock import FileProcessLock
from banyan.server.runs.questions import Questions
from banyan.server.security.gate import LOCAL
from banyan.server.server_database import ServerDatabase

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def test_items_come_in_order_and_then_the_error():
    async def items():
        for number in range(100):
            yield number
        raise ValueError("the end")

    seen = []
    async with following(items, anyio.CapacityLimiter(1)) as run:
        with pytest.raises(ValueError, match="the end"):
            async for item in run:
                seen.append(item)  # noqa: PERF401  (those before the error count)
    assert seen == list(range(100))


async def test_a_run_does_not_wait_for_who_reads_slowly():
    ended = asyncio.Event()

    async def items():
        for number in range(100):
            yield number
        ended.set()

    async with following(items, anyio.CapacityLimiter(1)) as run:
        async with asyncio.timeout(10):
            await ended.wait()
        assert [item async for item in run] == list(range(100))


async def test_a_run_ends_when_nobody_follows_it():
    ended = asyncio.Event()

    async def items():
        try:
            while True:
                await asyncio.sleep(0.001)
                yield "again"
        finally:
            ended.set()

    async with following(items, anyio.CapacityLimiter(1)) as run:
        async for _ in run:
            break
    async with asyncio.timeout(10):
        await ended.wait()


async def test_a_call_that_a_stopped_run_waits_for_ends_at_once():
    raised = []

    async def items():
        yield "begun"
        try:
            await process_loop().arun(anyio.sleep(30))
        except asyncio.CancelledError as error:
            raised.append(error)
            raise

    began = time.monotonic()
    limiter = anyio.CapacityLimiter(1)
    async with following(items, limiter) as run:
        async for _ in run:
            break
        await anyio.sleep(0.1)
    while limiter.borrowed_tokens:
        await anyio.sleep(0.01)
    assert raised
    assert time.monotonic() - began < 20


async def test_as_many_run_at_once_as_the_limiter_allows():
    running, most = 0, 0

    async def items():
        nonlocal running, most
        running += 1
        most = max(most, running)
        await anyio.sleep(0.05)
        running -= 1
        yield "done"

    limiter = anyio.CapacityLimiter(2)

    async def follow():
        async with following(items, limiter) as run:
            assert [item async for item in run] == ["done"]

    async with anyio.create_task_group() as tasks:
        for _ in range(6):
            tasks.start_soon(follow)
    assert most == 2


async def test_a_run_that_was_given_up_before_its_turn_never_begins():
    begun = []
    hold = asyncio.Event()
    limiter = anyio.CapacityLimiter(1)

    async def holding():
        await hold.wait()
        yield "held"

    async def items():
        begun.append(1)
        yield "begun"

    async with following(holding, limiter) as first:
        while not limiter.borrowed_tokens:
            await anyio.sleep(0.01)
        async with following(items, limiter):
            await anyio.sleep(0.05)
        hold.set()
        assert [item async for item in first] == ["held"]
    while limiter.statistics().tasks_waiting or limiter.borrowed_tokens:
        await anyio.sleep(0.01)
    assert not begun


async def test_a_run_ends_at_its_deadline_waiting_included():
    cancelled = asyncio.Event()

    async def items():
        yield "begun"
        try:
            await anyio.sleep(30)
        finally:
            cancelled.set()

    limiter = anyio.CapacityLimiter(1)
    async with following(items, limiter, seconds=0.3) as run, following(items, limiter, seconds=0.2) as waiting:
        with pytest.raises(DeadlineError, match=r"within 0\.2 s"):
            _ = [item async for item in waiting]
        seen = []
        with pytest.raises(DeadlineError):
            async for item in run:
                seen.append(item)  # noqa: PERF401  (those before the deadline count)
    assert seen == ["begun"]
    assert cancelled.is_set()


async def test_one_client_leaves_a_slot_to_others(tmp_path):
    settings = Settings(home=tmp_path, llm_base_url=None, _env_file=None)
    with Resources(settings) as resources:
        questions = Questions(resources, Conversations(ServerDatabase.of(settings), FileProcessLock(tmp_path)))
        entered = []

        async def asking(client):
            async with questions.turn(client):
                entered.append(client)
                await anyio.sleep_forever()

        for clients, most in ((["hostile"] * 3 + ["other"], ["hostile", "other"]), ([LOCAL] * 3, [LOCAL] * 2)):
            entered.clear()
            async with anyio.create_task_group() as tasks:
                for client in clients:
                    tasks.start_soon(asking, client)
                await anyio.sleep(0.2)
                assert sorted(entered) == most
                tasks.cancel_scope.cancel()
