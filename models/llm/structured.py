"""One typed answer from an endpoint: looked up, paid for, checked, and repaired once."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from copy import copy
from typing import TypeVar

from ...prompts import Language, Prompt, render
from ...runtime.budgets import CallLedger
from ...schemas.naming import content_id
from ...text.cleaning import clean_text
from ..reasoner import ReasonerError
from .answers import Declined, read_kept, read_reply
from .breaker import EndpointDown, EndpointFailed
from .endpoint import Endpoint, Messages, Reply
from .observing import observed_step
from .parsing import UnusableAnswer
from .wire import Shape

T = TypeVar("T")

_ATTEMPTS = 2
_USELESS = 10_000
"""The most characters stored of a reply that could not be used."""


class StructuredChat:
    """Answers of a given shape, each paid once. Used only on the process's event loop.

    Args:
        model: the model's name, part of what identifies a call.
        endpoint: where calls go.
        ledger: the response cache, the token accounts and the budget. It may wait for a disk, so it is called in
            threads.
    """

    def __init__(self, model: str, endpoint: Endpoint, ledger: CallLedger) -> None:
        self._model = model
        self._endpoint = endpoint
        self._ledger = ledger
        self._under_way: dict[str, asyncio.Future[ReasonerError | None]] = {}

    async def ask(self, step: str, prompt: Prompt, shape: Shape[T], language: Language) -> T:
        """Return the model's answer to a prompt, from the ledger if it was paid before.

        An answer that does not fit is sent back once with what is wrong with it. Only an answer that fits is cached
        for the prompt, so asking again after a failure pays again. Of equal concurrent prompts only one is paid.

        Raises:
            ReasonerError: the endpoint failed, or the repaired answer does not fit either; `EndpointFailed` if it was
                not the request's fault, `EndpointDown` if the endpoint was not called.
            BudgetExceeded: the call would exceed the budget.
        """
        messages = [("system", prompt.system), ("user", prompt.user)]
        key = content_id(self._model, json.dumps(messages), json.dumps(shape.json_schema))
        with observed_step(step, self._model):
            return await self._once(key, lambda: self._cached_or_call(key, step, messages, shape, language))

    async def _once(self, key: str, make: Callable[[], Awaitable[T]]) -> T:
        """Make a call after waiting for equal calls in progress.

        The answer of an equal call is then in the ledger, and its failure is raised here too. What is not the call's
        failure is not raised: a budget, a cancellation, an endpoint that was down.
        """
        while (other := self._under_way.get(key)) is not None:
            failure = await asyncio.shield(other)
            if failure is not None:
                raise copy(failure) from failure
        mine = self._under_way[key] = asyncio.get_running_loop().create_future()
        failed: ReasonerError | None = None
        try:
            return await make()
        except EndpointDown:
            raise
        except ReasonerError as error:
            failed = error
            raise
        finally:
            del self._under_way[key]
            mine.set_result(failed)

    async def _cached_or_call(self, key: str, step: str, messages: list[tuple[str, str]], shape: Shape[T],
                              language: Language) -> T:
        kept = await asyncio.to_thread(self._ledger.lookup, key)
        if kept is not None:
            try:
                return read_kept(kept, shape)
            except ValueError:
                kept = None  # cached under older rules: pay for one that fits the present ones
        return await self._call_model(key, step, messages, shape, language)

    async def _call_model(self, key: str, step: str, messages: list[tuple[str, str]], shape: Shape[T],
                          language: Language) -> T:
        wrong = ""
        for _ in range(_ATTEMPTS):
            reply = await self._send(step, messages, shape)
            try:
                answer = read_reply(reply, shape)
            except UnusableAnswer as error:
                wrong = str(error)
                # A refusal is about the content and does not count against the form of request.
                if not isinstance(error, Declined):
                    reply.judged(False)
            else:
                reply.judged(True)
                await self._record(key, step, reply)
                return answer
            # Under a key that is never looked up: accounted and visible, but not replayed.
            await self._record(content_id("unusable", key, reply.text), step, reply, wasted=True)
            self._raise_if_filtered(step, reply)
            repair = (await asyncio.to_thread(render, "repair", language, error=wrong)).user
            messages = [*messages, ("assistant", _unusable_text(reply) or "-"), ("user", repair)]
        raise ReasonerError(f"{step}: model {self._model!r} gave no usable answer in {_ATTEMPTS} attempts: "
                            f"{wrong}. Try again, or set another model (BANYAN_LLM_MODEL)")

    async def _send(self, step: str, messages: Messages, shape: Shape[T]) -> Reply:
        try:
            reply = await self._endpoint.send(messages, shape.json_schema, self._ledger.check_budget)
        except EndpointDown:  # no call was sent, so no step has failed
            raise
        except EndpointFailed as error:
            raise EndpointFailed(f"{step}: {error}", certain=error.certain) from error
        except ReasonerError as error:
            raise ReasonerError(f"{step}: {error}") from error
        # No await since the call's slot became free: the next call sees what this one spent.
        self._ledger.spend(self._model, reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens)
        return reply

    def _raise_if_filtered(self, step: str, reply: Reply) -> None:
        """Raise ReasonerError if a content filter stopped the answer, because asking again would repeat the text."""
        if reply.finish == "content_filter":
            raise ReasonerError(f"{step}: model {self._model!r}: its content filter stopped the answer; use another "
                                "model (BANYAN_LLM_MODEL) for this text")

    async def _record(self, key: str, step: str, reply: Reply, *, wasted: bool = False) -> None:
        # A thread runs to its end even if this task is cancelled: what was paid is stored.
        await asyncio.to_thread(
            self._ledger.record, key=key, step=step,
            response=_unusable_text(reply) if wasted else clean_text(reply.text),
            prompt_tokens=reply.prompt_tokens, completion_tokens=reply.completion_tokens,
            cached_tokens=reply.cached_tokens, wasted=wasted, model=self._model)


def _unusable_text(reply: Reply) -> str:
    """Return the text of an unusable reply, cut if it is long, to store and to show to the model."""
    text = clean_text(reply.text or reply.refusal)
    return text if len(text) <= _USELESS else f"{text[:_USELESS]}..."
