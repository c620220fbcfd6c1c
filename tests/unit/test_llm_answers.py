"""From a reply to a typed answer, or to the words that say what is wrong; equal calls at a time are made once."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from banyan.models.llm import BudgetExceeded
from banyan.models.llm.answers import Declined, read_reply
from banyan.models.llm.breaker import EndpointDown, EndpointFailed
from banyan.models.llm.endpoint import Reply
from banyan.models.llm.inflight import InFlight
from banyan.models.llm.parsing import UnusableAnswer
from banyan.models.llm.wire import standalone_question, summaries

SHAPE = standalone_question()
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


def test_an_answer_under_the_name_of_its_form_is_found() -> None:
    inner = {"communities": [{"id": 1, "name": "n", "summary": "s"}]}
    (one,) = read_reply(Reply(json.dumps({"summaries": inner}), 1, 1), summaries(1))
    assert one.name == "n"


@pytest.mark.parametrize("echo", [
    SHAPE.json_schema, {"type": "object", "properties": {"question": {"type": "string"}}},
    {"required": ["question"], "properties": {"question": {"type": "string"}}}])
def test_a_schema_is_no_answer(echo: Any) -> None:
    with pytest.raises(UnusableAnswer, match="it is the JSON schema itself"):
        read(echo)


@pytest.mark.parametrize(("answer", "more", "words"), [
    ("", {}, "begins: nothing"), ("Sorry.", {}, "begins: Sorry"),
    ({"question": ["Where?"]}, {}, "question: Input should"),
    ({"question": None, "arguments": "no JSON"}, {}, "question: Input should"),
    ('{"question": "Wh', {"finish": "length"}, "cut off at the length limit; there is no complete JSON"),
    ({}, {}, "question: Field required")])
def test_what_is_wrong_is_said(answer: Any, more: dict[str, Any], words: str) -> None:
    with pytest.raises(UnusableAnswer, match=words):
        read(answer, **more)


def test_a_whole_answer_is_used_although_the_limit_was_hit() -> None:
    assert read(FOUND, finish="length") == "Where?"


def test_a_refusal_is_named() -> None:
    with pytest.raises(Declined, match="the model refused to answer: I can't do that"):
        read("", refusal="I can't\ndo that.")


# Equal calls

class Watched:
    """A call under way that tells when somebody waits for it."""

    def __init__(self, future: Any, waited_for: threading.Event) -> None:
        self.future = future
        self.waited_for = waited_for

    def exception(self) -> BaseException | None:
        self.waited_for.set()
        found: BaseException | None = self.future.exception()
        return found


class Leader:
    """A call that does not end before somebody else waits for it; counts how often it is made."""

    def __init__(self, error: Exception | None = None) -> None:
        self.calls = InFlight()
        self.made = 0
        self.error = error
        self.begun, self.waited_for = threading.Event(), threading.Event()

    def __call__(self) -> int:
        self.made += 1
        if self.made == 1:
            self.calls._calls["key"] = Watched(self.calls._calls["key"], self.waited_for)  # type: ignore[assignment]
            self.begun.set()
            assert self.waited_for.wait(30)
            if self.error is not None:
                raise self.error
        return self.made

    def lead(self) -> int | None:
        return self.calls.lead("key", self)


def test_who_comes_second_waits_and_is_told_to_look_again() -> None:
    leader = Leader()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(leader.lead)
        assert leader.begun.wait(30)
        assert leader.lead() is None
        assert first.result() == leader.made == 1
    assert leader.lead() == 2, "it is under way no more"


def test_a_failure_is_everyones_and_keeps_its_kind() -> None:
    leader = Leader(EndpointFailed("it failed", certain=True))
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(leader.lead)
        assert leader.begun.wait(30)
        with pytest.raises(EndpointFailed, match="it failed") as caught:
            leader.lead()
        assert caught.value.certain
        assert caught.value is not first.exception(), "an exception's traceback belongs to one thread"
    assert leader.made == 1


@pytest.mark.parametrize("error", [BudgetExceeded("mine is spent"), EndpointDown("down"), KeyError("x")])
def test_what_is_no_failure_of_the_call_is_not_shared(error: Exception) -> None:
    leader = Leader(error)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(leader.lead)
        assert leader.begun.wait(30)
        assert leader.lead() is None
        assert first.exception() is error
    assert leader.lead() == 2, "the next one leads"


def test_other_keys_do_not_wait() -> None:
    leader = Leader()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(leader.lead)
        assert leader.begun.wait(30)
        assert leader.calls.lead("another", lambda: "other") == "other"
        leader.waited_for.set()
        assert first.result() == 1
