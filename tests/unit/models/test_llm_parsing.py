"""Finding the JSON object in what a model wrote."""

import contextlib
import json
import threading
import time

import pytest
from banyan.models.llm import structured
from banyan.models.llm.parsing import UnusableAnswer, json_objects
from banyan.text.cleaning import clean_json
from hypothesis import given, settings
from hypothesis import strategies as st

from ...scripted_endpoint import FOUND, REQUEST, SCHEMA, ScriptedEndpoint, reasoner


def first(text, names=("a",)):
    return next(json_objects(text, names))


@pytest.mark.parametrize("text", [
    '{"a": {"b": 1}}',
    '  {"a": {"b": 1}}\n',
    '```json\n{"a": {"b": 1}}\n```',
    'Here {it} is: {"a": {"b": 1}} and {"c": 2}.',
    '<think>maybe {"a": 2, "long": "longer than the answer itself"}</think>{"a": {"b": 1}}',
    'the start of the block was in the prompt {"a": 2, "long": "aaaaaaaaaa"}</think>\n{"a": {"b": 1}}',
])
def test_the_object_is_found_in_what_stands_around_it(text):
    assert first(text) == {"a": {"b": 1}}


@pytest.mark.parametrize("text", ["", "no", "[1, 2]", '{"a": [1, 2', "{" * 5000, '{"a":' * 3000, "<think>{"])
def test_what_is_no_whole_object_is_refused(text):
    with pytest.raises(UnusableAnswer, match="no complete JSON object"):
        first(text)


@pytest.mark.parametrize("text", [
    "{" * 500_000, "{'" * 250_000, '{"a":' * 100_000, "{[" * 250_000, '{"b":' * 900 + "[" + "1," * 250_000,
    '{"a": 1}' * 20_000 + "{}" * 150_000, "{'a': [" + "{}," * 150_000])
def test_a_reply_of_braces_is_read_in_linear_time(text):
    begun = time.thread_time()
    with contextlib.suppress(UnusableAnswer):
        assert len(list(json_objects(text, ("a",)))) < 1000
    assert time.thread_time() - begun < 3


def test_replies_are_read_off_the_event_loop(monkeypatch):
    """Reading a useless reply of a million characters takes a second, in which all other questions would wait."""
    threads, read_reply = [], structured.read_reply

    def read(reply, shape):
        threads.append(threading.current_thread().name)
        return read_reply(reply, shape)

    monkeypatch.setattr(structured, "read_reply", read)
    reasoner(ScriptedEndpoint([FOUND])).extract(REQUEST, SCHEMA)
    assert threads
    assert "banyan-event-loop" not in threads


_JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(),
                     lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


@settings(deadline=None)
@given(value=st.dictionaries(st.text(), _JSON, min_size=1), ascii_only=st.booleans())
def test_every_object_survives_its_wrapping(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert first(text) == clean_json(value)
    assert first(f"<think>{{}} hm</think>\nSure:\n```json\n{text}\n```") == clean_json(value)


@settings(deadline=None)
@given(text=st.text(alphabet='{}[]":,a1 \\<think>/'))
def test_any_text_gives_an_object_or_the_one_error(text):
    with contextlib.suppress(UnusableAnswer):
        assert isinstance(first(text), dict)


def test_what_cannot_be_stored_is_taken_out_of_every_text():
    assert first(r'{"a\u0000": ["b\ud800c\u0000", {"d": "\ud83d\ude00 e\r\nf"}], "n": 1}') == {
        "a": ["b\ufffdc", {"d": "\U0001f600 e\nf"}], "n": 1}


def test_a_text_of_endless_length_is_refused():
    with pytest.raises(UnusableAnswer, match="at most 1,000,000 are read"):
        first('{"a": 1}' + " " * 1_000_000)
