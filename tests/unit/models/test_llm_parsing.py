"""From a reply to a typed answer: the JSON object in what a model wrote, what is nearly JSON, what is wrong with it."""

import asyncio
import contextlib
import json
import time
from typing import Any

import pytest
from banyan.config import Settings
from banyan.models.llm.endpoint import Reply
from banyan.models.llm.llm_reasoner import LlmReasoner
from banyan.models.llm.wire import UnusableAnswer, json_objects
from banyan.text.cleaning import clean_json
from hypothesis import given, settings
from hypothesis import strategies as st

from ...in_memory_calls import InMemoryCalls
from ...scripted_endpoint import ScriptedEndpoint
from ...waiting import wait_in_loop_for


def first(text, names=("a",)):
    return json_objects(text, names)[0]


@pytest.mark.parametrize("text", ["", "no", "[1, 2]", '{"a": [1, 2', "{" * 5000, '{"a":' * 3000, "<think>{",
                                  "{'a': 1}", '{"a": "', "{a: 1}", '{"a": 1]', "{,}"])
def test_what_is_no_whole_object_is_refused(text):
    with pytest.raises(UnusableAnswer, match="no complete JSON object"):
        first(text)


@pytest.mark.parametrize("text", [
    "{" * 500_000, "{'" * 250_000, '{"a":' * 100_000, "{[" * 250_000, '{"b":' * 900 + "[" + "1," * 250_000,
    '{"a": 1}' * 20_000 + "{}" * 150_000, "{'a': [" + "{}," * 150_000,
    '{"\\' * 100_000, '{"a": "' + '\\"' * 200_000])
def test_a_reply_of_braces_and_quotes_is_read_in_linear_time(text):
    begun = time.thread_time()
    with contextlib.suppress(UnusableAnswer):
        assert len(json_objects(text, ("a",))) < 1000
    assert time.thread_time() - begun < 3


_JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(),
                     lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


@settings(deadline=None)
@given(value=st.dictionaries(st.text(), _JSON, min_size=1), ascii_only=st.booleans())
def test_every_object_survives_its_wrapping(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert first(text, value) == clean_json(value)
    assert first(f"<think>{{}} hm</think>\nSure:\n```json\n{text}\n```", value) == clean_json(value)


def test_what_cannot_be_stored_is_taken_out_of_every_text():
    assert first(r'{"a\u0000": ["b\ud800c\u0000", {"d": "\ud83d\ude00 e\r\nf"}], "n": 1}') == {
        "a": ["b\ufffdc", {"d": "\U0001f600 e\nf"}], "n": 1}


def test_a_text_of_endless_length_is_refused():
    with pytest.raises(UnusableAnswer, match="at most 1,000,000 are read"):
        first('{"a": 1}' + " " * 1_000_000)


ASKED = {"question": "Where?"}


class Endpoint(ScriptedEndpoint):
    """Answers when it may go on."""

    def __init__(self, *answers: Any) -> None:
        super().__init__(answers)
        self.go = asyncio.Event()

    async def send(self, *request: Any) -> Reply:
        reply = await super().send(*request)
        await self.go.wait()
        return reply


def asked_twice(endpoint: Endpoint, *, cancelled: bool = False) -> list[Any]:
    async def ask() -> list[Any]:
        llm = LlmReasoner(Settings(_env_file=None), InMemoryCalls(), lambda _: endpoint)
        tasks = [asyncio.create_task(llm.condense("It?", [("user", "Ulm")])) for _ in range(2)]
        await wait_in_loop_for(lambda: endpoint.sent)
        if cancelled:
            tasks[0].cancel()
        endpoint.go.set()
        return await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 30)

    return asyncio.run(ask())


def test_equal_calls_at_a_time_are_made_once_and_again_for_who_still_waits_if_one_is_cancelled() -> None:
    endpoint = Endpoint(ASKED, {"question": "Paid again?"})
    assert asked_twice(endpoint) == ["Where?", "Where?"]
    assert len(endpoint.sent) == 1
    endpoint = Endpoint(ASKED, ASKED)
    first, second = asked_twice(endpoint, cancelled=True)
    assert isinstance(first, asyncio.CancelledError)
    assert (second, len(endpoint.sent)) == ("Where?", 2)
