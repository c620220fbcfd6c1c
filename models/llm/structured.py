"""Typed answers from an endpoint: from the cache or by a paid call, checked, and repaired once."""

import asyncio
import json
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from pydantic import ValidationError

from ...prompts import Prompt, render
from ...runtime.budgets import CallLedger, batched
from ...schemas.naming import content_id
from ...text.cleaning import clean_json, clean_text
from ..reasoner import ReasonerError
from .endpoint import Endpoint, Messages, Reply
from .failures import EndpointDown, Filtered, TooLong
from .limits import observed_step
from .wire import Shape

_DECODER = json.JSONDecoder(strict=False)  # line breaks within strings are a common and harmless slip
# Some servers' chat templates open the block in the prompt, so the answer has only its end.
_THOUGHT_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_MOST_BROKEN_OBJECTS = 1000
"""The number of braces that open no readable object after which the search ends."""
_MOST_OBJECTS = 100
"""Objects that are yielded, the likeliest ones: each is checked, and a useless reply may have a hundred thousand."""
_MOST_READ_AGAIN = 100_000
"""The most characters that are read a second time, after such braces or commas, so that reading stays linear."""
_CHARACTERS_SHOWN = 80
_STRING_OR_LAST_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+")|,(?=\s*+[}\]])', re.DOTALL)
MAX_ANSWER = 1_000_000
"""The most characters of an answer that is read: ten times the longest reply of today's models."""
T = TypeVar("T")

_REFUSAL_SHOWN = 200
_ERRORS_SHOWN = 3
# Models may wrap an answer in these fields if it was requested as a function's arguments or by its JSON schema.
_WRAPPERS = ("arguments", "parameters", "properties")
_ATTEMPTS = 2
_LONGEST_UNUSABLE = 10_000
"""The most characters stored of a reply that could not be used."""


class UnusableAnswer(ValueError):
    """An answer is no JSON object or has the wrong shape; the text says what is wrong."""


def json_objects(text: str, names: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in an answer, the likeliest one first.

    Drafts come before the final answer: the last object is the likeliest. Thoughts, code fences and words around the
    objects are ignored. The text is never completed: a truncated object is an error, because what is missing is
    unknown.

    Args:
        text: the answer.
        names: fields of the expected object. Objects without any of them come last, and not at all if they are parts
            of an object that cannot be read.

    Yields:
        The objects, without characters that cannot be stored (`clean_json`).

    Raises:
        UnusableAnswer: there is no complete object, or the text is too long.
    """
    if len(text) > MAX_ANSWER:
        raise UnusableAnswer(f"it has {len(text):,} characters, at most {MAX_ANSWER:,} are read")
    answer = text[max((thought.end() for thought in _THOUGHT_END.finditer(text)), default=0):]
    has_any = False
    try:
        for value in _find_objects(text.strip(), answer, names):
            yield clean_json(value)
            has_any = True
    except RecursionError:
        raise UnusableAnswer("it is nested too deeply") from None
    if not has_any:
        shown = answer.strip()[:_CHARACTERS_SHOWN] or "nothing"
        raise UnusableAnswer(f"there is no complete JSON object in it{_why_unreadable(answer)}; it begins: {shown}")


def _why_unreadable(answer: str) -> str:
    """Return why the text from an answer's first brace is no JSON, in brackets; "" if there is none."""
    start = answer.find("{")
    if start < 0:
        return ""
    try:
        json.loads(answer[start:], strict=False)
    except RecursionError:
        return " (it is nested too deeply)"
    except ValueError as error:
        return f" ({error})"
    return ""


def _find_objects(text: str, answer: str, names: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield the objects in a text, whose part behind the thoughts is the answer; see `json_objects`."""
    whole, end = _decode_object(text, 0)
    if whole is not None and end == len(text):
        yield whole
        return
    objects, first_broken = _scan_objects(answer)
    objects = objects[-_MOST_OBJECTS:]
    fitting = [value for value, _ in objects if not names or not value.keys().isdisjoint(names)]
    yield from reversed(fitting)
    for value, start in reversed(objects):
        # An object behind the first unreadable one may be a part of that.
        if start < first_broken and value not in fitting:
            yield value
    # An object may be unreadable only because of a comma before a closing bracket.
    nearly_object = answer[answer.find("{"):answer.rfind("}") + 1]
    if first_broken < len(answer) and len(nearly_object) <= _MOST_READ_AGAIN:
        repaired = _STRING_OR_LAST_COMMA.sub(r"\1", nearly_object)
        value_or_none, end = _decode_object(repaired, 0)
        if value_or_none and end == len(repaired):
            yield value_or_none


def _scan_objects(text: str) -> tuple[list[tuple[dict[str, Any], int]], int]:
    """Return the JSON objects in a text with their places, and the place of the first brace that opens none."""
    objects = list[tuple[dict[str, Any], int]]()
    first_broken, broken = len(text), 0
    start, characters_left = text.find("{"), _MOST_READ_AGAIN
    while start >= 0 and broken < _MOST_BROKEN_OBJECTS and characters_left > 0:
        value, end = _decode_object(text, start)
        if value is None:
            broken += 1
            characters_left -= end - start
            first_broken, end = min(first_broken, start), start + 1  # there may be readable objects within it
        else:
            objects.append((value, start))
        start = text.find("{", end)
    return objects, first_broken


def _decode_object(text: str, start: int) -> tuple[dict[str, Any] | None, int]:
    """Return the object that starts at a position, or None, and how far the text was read."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        return None, max(error.pos, start + 1)
    except RecursionError:
        return None, min(len(text), start + sys.getrecursionlimit())  # at least a character was read for each level
    return (value if isinstance(value, dict) else None), end


class StructuredChat:
    """Answers of a given shape, each paid once. Safe to use on several event loops."""

    def __init__(self, model: str, endpoint: Endpoint, ledger: CallLedger, options: str = "") -> None:
        self._model = model
        self._options = [options] if options else []
        self._endpoint = endpoint
        self._ledger = ledger
        self._in_progress: WeakValueDictionary[tuple[int, str], asyncio.Lock] = WeakValueDictionary()

    async def ask(self, step: str, prompt: Prompt, shape: Shape[T]) -> T:
        """Return the model's answer to a prompt, from the ledger if it was paid before.

        If an answer does not fit the shape, the model is asked once more, with the answer and its errors. Only an
        answer that fits is cached for the prompt, so asking again after a failure pays again. Of equal concurrent
        prompts only one is paid.

        Raises:
            ReasonerError: the endpoint failed, or the repaired answer does not fit either; `EndpointFailed` if it was
                not the request's fault, `EndpointDown` if the endpoint was not called, `TooLong` if the prompt or the
                answer is longer than the endpoint allows, `Filtered` if a content filter stopped either.
            BudgetExceeded: the call would exceed the budget.
        """
        key = self.key_of(prompt, shape)
        with observed_step(step, self._model):
            # Of equal calls on an event loop, the later ones wait for the first and find its answer in the ledger.
            lock = self._in_progress.setdefault((id(asyncio.get_running_loop()), key), asyncio.Lock())
            async with lock:
                cached = await asyncio.to_thread(self._ledger.lookup, key)
                if cached is not None:
                    with suppress(ValueError):  # cached under older rules: pay for one that fits the present ones
                        return await asyncio.to_thread(read_text, cached, shape)
                return await self._call_model(key, step, prompt, shape)

    def key_of(self, prompt: Prompt, shape: Shape[T]) -> str:
        """Return the key under which the ledger has the answer to a prompt."""
        return content_id(self._model, json.dumps(prompt.messages), json.dumps(shape.json_schema), *self._options)

    async def record_batched(self, key: str, step: str, reply: Reply, shape: Shape[T] | None) -> bool:
        """Record and charge a reply that came in a batch, unless it is recorded already; return whether it can be used.

        The shape is None if the build no longer needs the call.
        """
        usable = not reply.refusal
        if shape is not None:
            try:
                read_reply(reply, shape)
            except UnusableAnswer:
                usable = False
        recorded_as = key if usable else _unusable_key(key, reply)
        if await asyncio.to_thread(self._ledger.lookup, recorded_as) is None:
            model = batched(self._model)
            self._ledger.spend(model, reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens)
            await self._record_reply(recorded_as, step, reply, wasted=not usable, model=model)
        return usable

    async def _call_model(self, key: str, step: str, prompt: Prompt, shape: Shape[T]) -> T:
        """Pay for an answer, check it, and ask for a repair if it does not fit; see `ask`."""
        messages, wrong = prompt.messages, ""
        for _ in range(_ATTEMPTS):
            reply = await self._send_once(step, messages, shape)
            try:
                answer = await asyncio.to_thread(read_reply, reply, shape)  # a useless one may take a second
            except UnusableAnswer as error:
                wrong = str(error)
            else:
                reply.judged(True)
                await self._record_reply(key, step, reply)
                return answer
            # A refusal is about the content and does not count against the form of request.
            if not reply.refusal:
                reply.judged(False)
            # Recorded under a key that is never looked up: its tokens are accounted, but it is not used as a cache.
            await self._record_reply(_unusable_key(key, reply), step, reply, wasted=True)
            if reply.finish == "content_filter":  # asking again would repeat the text
                raise Filtered(f"{step}: model {self._model!r}: its content filter stopped the answer; use "
                               "another model (BANYAN_LLM_MODEL) for this text")
            repair = (await asyncio.to_thread(render, "repair", prompt.language, error=wrong)).user
            messages = [*messages, ("assistant", _unusable_text(reply) or "-"), ("user", repair)]
        failed = f"{step}: model {self._model!r} gave no usable answer in {_ATTEMPTS} attempts: {wrong}. "
        if reply.finish == "length":
            raise TooLong(failed + "Raise BANYAN_LLM_REPLY_TOKENS or the endpoint's own limit, let it think less "
                                   "(BANYAN_LLM_REASONING_EFFORT), or lower BANYAN_CHUNK_TOKENS")
        raise ReasonerError(failed + "Try again, or set another model (BANYAN_LLM_MODEL)")

    async def _send_once(self, step: str, messages: Messages, shape: Shape[T]) -> Reply:
        """Make one call and charge its tokens; errors name the step."""
        try:
            reply = await self._endpoint.send(messages, shape.json_schema, self._ledger.check_budget)
        except EndpointDown:  # no call was sent, so no step has failed
            raise
        except ReasonerError as error:
            error.args = (f"{step}: {error}",)
            raise
        # No await since the call's slot became free: the next call sees what this one spent.
        self._ledger.spend(self._model, reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens)
        return reply

    async def _record_reply(self, key: str, step: str, reply: Reply, *, wasted: bool = False, model: str = "") -> None:
        """Store a reply and its tokens in the ledger; `wasted` marks one that cannot be used."""
        # A thread runs to its end even if this task is cancelled: what was paid is stored.
        await asyncio.to_thread(
            self._ledger.record, key=key, step=step,
            response=_unusable_text(reply) if wasted else clean_text(reply.text),
            prompt_tokens=reply.prompt_tokens, completion_tokens=reply.completion_tokens,
            cached_tokens=reply.cached_tokens, wasted=wasted, model=model or self._model)


def _unusable_key(key: str, reply: Reply) -> str:
    return content_id("unusable", key, reply.text)


def _unusable_text(reply: Reply) -> str:
    """Return the text of an unusable reply, cut if it is long, to store and to show to the model."""
    text = clean_text(reply.text or reply.refusal)
    return text if len(text) <= _LONGEST_UNUSABLE else f"{text[:_LONGEST_UNUSABLE]}..."


def read_reply(reply: Reply, shape: Shape[T]) -> T:
    """Read the typed answer in a reply."""
    if reply.refusal:
        raise UnusableAnswer(f"the model refused to answer: {' '.join(reply.refusal.split())[:_REFUSAL_SHOWN]}")
    try:
        return read_text(reply.text, shape)
    except ValueError as error:
        wrong = str(error)
        if isinstance(error, ValidationError):
            details = error.errors(include_url=False, include_context=False, include_input=False)[:_ERRORS_SHOWN]
            wrong = "; ".join(f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}" for detail in details)
        cut = "the answer was cut off at the length limit; " if reply.finish == "length" else ""
        raise UnusableAnswer(cut + wrong) from error


def read_text(text: str, shape: Shape[T]) -> T:
    """Read the typed answer in a text: its last complete JSON object that fits, or one within it that wraps it."""
    schema = shape.json_schema
    wrappers = (*_WRAPPERS, schema.get("title", ""))
    wrong: ValueError | None = None
    for data in json_objects(text, (*schema.get("properties", ()), *wrappers)):
        for answer in (data, *(data[name] for name in wrappers if isinstance(data.get(name), dict))):
            try:
                return shape.read(_fill_nulls(answer, schema))
            except ValueError as error:  # the outer object's errors say more
                wrong = wrong or error
    assert wrong is not None  # noqa: S101  (without an object, json_objects raises)
    raise wrong


def _fill_nulls(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return an answer with empty lists and texts instead of null, which stays where an enum allows no empty value."""
    if value is None and "enum" not in schema:
        return {"array": (), "string": ""}.get(schema.get("type", ""))
    if isinstance(value, list) and "items" in schema:
        return [_fill_nulls(item, schema["items"]) for item in value]
    if isinstance(value, dict) and "properties" in schema:
        return {name: _fill_nulls(part, schema["properties"].get(name, {})) for name, part in value.items()}
    return value
