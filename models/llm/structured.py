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
"""Characters that are kept of a reply that could not be used."""


class StructuredChat:
    """Answers of a given shape, each paid once. Used on the process's event loop alone.

    Args:
        model: the model's name, part of what identifies a call.
        endpoint: where calls go.
        ledger: the response cache, the token accounts and the budget. It may wait for a disk, so that it is asked in
            threads.
    """

    def __init__(self, model: str, endpoint: Endpoint, ledger: CallLedger) -> None:
        self._model = model
        self._endpoint = endpoint
        self._ledger = ledger
        self._under_way: dict[str, asyncio.Future[ReasonerError | None]] = {}

    async def ask(self, step: str, prompt: Prompt, shape: Shape[T], language: Language) -> T:
        """The model's answer to a prompt, from the ledger where it has been paid before.

        An answer that does not fit goes back once with what is wrong with it. Only an answer that
        fits is kept for the prompt, so that asking again after a failure pays again. Of equal prompts
        asked at the same time one is paid for.

        Raises:
            ReasonerError: the endpoint failed, or the repaired answer does not fit either; `EndpointFailed` where
                it was not the request's fault, `EndpointDown` where it was not asked.
            BudgetExceeded: the call would be paid beyond the budget.
        """
        messages = [("system", prompt.system), ("user", prompt.user)]
        key = content_id(self._model, json.dumps(messages), json.dumps(shape.json_schema))
        with observed_step(step, self._model):
            return await self._once(key, lambda: self._kept_or_paid(key, step, messages, shape, language))

    async def _once(self, key: str, make: Callable[[], Awaitable[T]]) -> T:
        """Make a call when no equal call is under way.

        What an equal call came to is in the ledger then, or its failure is raised here as well; but not what is no
        failure of the call: a budget of its own, a cancellation, an endpoint that was down.
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

    async def _kept_or_paid(self, key: str, step: str, messages: list[tuple[str, str]], shape: Shape[T],
                            language: Language) -> T:
        kept = await asyncio.to_thread(self._ledger.lookup, key)
        if kept is not None:
            try:
                return read_kept(kept, shape)
            except ValueError:
                kept = None  # kept under older rules: pay for one that fits the present ones
        return await self._pay(key, step, messages, shape, language)

    async def _pay(self, key: str, step: str, messages: list[tuple[str, str]], shape: Shape[T],
                   language: Language) -> T:
        wrong = ""
        for _ in range(_ATTEMPTS):
            reply = await self._send(step, messages, shape)
            try:
                answer = read_reply(reply, shape)
            except UnusableAnswer as error:
                wrong = str(error)
                # A refusal is about what was asked; it says nothing of the form that was asked for.
                if not isinstance(error, Declined):
                    reply.judged(False)
            else:
                reply.judged(True)
                await self._record(key, step, reply)
                return answer
            # Under a key that is never asked for: accounted, there to be looked at, not replayed.
            await self._record(content_id("unusable", key, reply.text), step, reply, wasted=True)
            self._raise_if_filtered(step, reply)
            repair = (await asyncio.to_thread(render, "repair", language, error=wrong)).user
            messages = [*messages, ("assistant", _useless(reply) or "-"), ("user", repair)]
        raise ReasonerError(f"{step}: model {self._model!r} gave no usable answer in {_ATTEMPTS} attempts: "
                            f"{wrong}. Try again, or set another model (BANYAN_LLM_MODEL)")

    async def _send(self, step: str, messages: Messages, shape: Shape[T]) -> Reply:
        try:
            reply = await self._endpoint.send(messages, shape.json_schema, self._ledger.check_budget)
        except EndpointDown:  # nothing was asked, so no step has failed
            raise
        except EndpointFailed as error:
            raise EndpointFailed(f"{step}: {error}", certain=error.certain) from error
        except ReasonerError as error:
            raise ReasonerError(f"{step}: {error}") from error
        # The loop has not gone on since the call's slot is free: whoever waits for it sees what this one took.
        self._ledger.spend(self._model, reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens)
        return reply

    def _raise_if_filtered(self, step: str, reply: Reply) -> None:
        """A filter judges the text, which a second turn would only repeat."""
        if reply.finish == "content_filter":
            raise ReasonerError(f"{step}: model {self._model!r}: its content filter stopped the answer; use another "
                                "model (BANYAN_LLM_MODEL) for this text")

    async def _record(self, key: str, step: str, reply: Reply, *, wasted: bool = False) -> None:
        # A thread ends whatever becomes of this task: what was paid is stored.
        await asyncio.to_thread(
            self._ledger.record, key=key, step=step,
            response=_useless(reply) if wasted else clean_text(reply.text),
            prompt_tokens=reply.prompt_tokens, completion_tokens=reply.completion_tokens,
            cached_tokens=reply.cached_tokens, wasted=wasted, model=self._model)


def _useless(reply: Reply) -> str:
    """What is kept of a reply that could not be used, and is shown to the model again: not whole if it is long."""
    text = clean_text(reply.text or reply.refusal)
    return text if len(text) <= _USELESS else f"{text[:_USELESS]}..."
