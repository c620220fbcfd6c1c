"""From a reply to a typed answer, or to the words that say what is wrong; equal calls at a time are made once."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from banyan.models.llm.endpoint import Messages, Reply
from banyan.models.llm.parsing import UnusableAnswer
from banyan.models.llm.structured import StructuredChat, read_reply
from banyan.models.llm.wire import QUESTION
from banyan.prompts import Prompt

from ...in_memory_calls import InMemoryCalls
from ...waiting import wait_in_loop_for

SHAPE = QUESTION
FOUND = {"question": "Where?"}


def read(answer: Any, **more: Any) -> str:
    return read_reply(Reply(answer if isinstance(answer, str) else json.dumps(answer), 1, 1, **more), SHAPE)


@pytest.mark.parametrize("answer", [
    FOUND,
    {"name": "question", "arguments": FOUND},
    {"name": "question", "arguments": json.dumps(FOUND)},
    {"name": "question", "parameters": FOUND},
    {"type": "object", "properties": FOUND},
    '<tool_call>\n{"name": "question", "arguments": {"question": "Where?"}}\n</tool_call>',
    '```json\n{"question": "Where?"}\n```',
])
def test_an_answer_is_found_in_what_models_wrap_it_in(answer: Any) -> None:
    assert read(answer) == "Where?"


@pytest.mark.parametrize(("answer", "more", "words"), [
    ("", {}, "begins: nothing"), ("Sorry.", {}, "begins: Sorry"),
    ({"question": ["Where?"]}, {}, "question: Input should"),
    ({"question": None, "arguments": "no JSON"}, {}, "question: String should have at least 1 character"),
    ('{"question": "Wh', {"finish": "length"}, "cut off at the length limit; there is no complete JSON"),
    ({}, {}, "question: Field required")])
def test_what_is_wrong_is_said(answer: Any, more: dict[str, Any], words: str) -> None:
    with pytest.raises(UnusableAnswer, match=words):
        read(answer, **more)


def test_a_refusal_is_named() -> None:
    with pytest.raises(UnusableAnswer, match="the model refused to answer: I can't do that"):
        read("", refusal="I can't\ndo that.")


class Endpoint:
    """Answers, or fails, when `go` is set; counts its calls."""

    def __init__(self, *outcomes: Any) -> None:
        self.outcomes = list(outcomes)
        self.calls = 0
        self.go = asyncio.Event()

    async def send(self, messages: Messages, json_schema: dict[str, Any], permit: Callable[[], None]) -> Reply:
        permit()
        self.calls += 1
        outcome = self.outcomes.pop(0)
        await self.go.wait()
        if isinstance(outcome, BaseException):
            raise outcome
        return Reply(json.dumps(outcome), 1, 1)


def asked_twice(endpoint: Endpoint, *, cancelled: bool = False) -> list[Any]:
    """What two equal questions, the second asked while the first is under way, come to."""
    async def ask() -> list[Any]:
        chat = StructuredChat("m", endpoint, InMemoryCalls())
        tasks = [asyncio.create_task(chat.ask("condense", Prompt("s", "u"), SHAPE)) for _ in range(2)]
        await wait_in_loop_for(lambda: endpoint.calls)
        if cancelled:
            tasks[0].cancel()
        endpoint.go.set()
        return await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 30)

    return asyncio.run(ask())


def test_equal_calls_at_a_time_are_made_once() -> None:
    endpoint = Endpoint(FOUND, {"question": "Paid again?"})
    assert asked_twice(endpoint) == ["Where?", "Where?"]
    assert endpoint.calls == 1


def test_a_cancelled_call_is_made_again_by_who_still_waits() -> None:
    endpoint = Endpoint(FOUND, FOUND)
    first, second = asked_twice(endpoint, cancelled=True)
    assert isinstance(first, asyncio.CancelledError)
    assert (second, endpoint.calls) == ("Where?", 2)
