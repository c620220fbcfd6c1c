"""Answering questions: events in order, bounded, to the error, and stopped when nobody reads them."""

import asyncio

import anyio
import pytest
from banyan.runtime.audit import LOCAL
from banyan.server.responses import DeadlineError
from banyan.server.runs.conversations import Conversations
from banyan.server.runs.questions import Event, QuestionRequest, Questions
from banyan.server.server_database import ServerDatabase

from ... import in_process

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


class Scripted(Questions):
    def answers(self, events):
        """Answer by the events of an asynchronous generator, of which each is a number or word."""
        async def answer(*_):
            async for said in events():
                yield Event("step", {"said": said})

        self._answer = answer
        return self.answering(LOCAL, "kb", QuestionRequest(question="Where?"))


@pytest.fixture
def questions_of(tmp_path, hashed_embedder):
    def make(**settings):
        with in_process.opened(tmp_path, hashed_embedder, **settings) as resources:
            return Scripted(resources, Conversations(ServerDatabase.of(resources.settings)))

    return make


async def test_events_come_in_order_and_then_the_error_and_wait_for_no_slow_reader(questions_of):
    ended, seen = asyncio.Event(), []

    async def events():
        for number in range(100):
            yield number
        ended.set()
        raise ValueError("the end")

    async with questions_of(asks_at_once=1).answers(events) as answering:
        async with asyncio.timeout(60):
            await ended.wait()
        with pytest.raises(ValueError, match="the end"):
            async for event in answering:
                seen.append(event.data["said"])  # noqa: PERF401  (those before the error count)
    assert seen == list(range(100))


async def test_a_question_ends_at_its_deadline_waiting_included(questions_of):
    questions, cancelled = questions_of(asks_at_once=1, ask_seconds=1), asyncio.Event()

    async def events():
        yield "begun"
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    async with questions.answers(events) as first, questions.answers(events) as waiting:
        for answering in (waiting, first):
            with pytest.raises(DeadlineError, match="within 1 s"):
                [_ async for _ in answering]
    assert cancelled.is_set()


async def test_one_client_leaves_a_slot_to_others(questions_of):
    questions, entered = questions_of(), []

    async def asking(client):
        async with questions.turn(client):
            entered.append(client)
            await anyio.sleep_forever()

    for clients, most in ((["hostile"] * 3 + ["other"], ["hostile", "other"]), ([LOCAL] * 3, [LOCAL] * 2)):
        entered.clear()
        async with anyio.create_task_group() as tasks:
            for client in clients:
                tasks.start_soon(asking, client)
            await anyio.wait_all_tasks_blocked()
            assert sorted(entered) == most
            tasks.cancel_scope.cancel()
