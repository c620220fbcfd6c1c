"""Typed calls to the models that the settings name for each step: from the cache or paid, checked, repaired once."""

import asyncio
import json
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from itertools import chain
from time import monotonic
from typing import Any, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from ...config import LLM_STEPS, Settings
from ...prompts.rendering import Language, Prompt, render, text_language
from ...runtime.budgets import BATCHED, CallLedger
from ...runtime.threads import in_parallel, run
from ...schemas.naming import content_id
from ...text.cleaning import clean_text
from ..reasoner import ReasonerError
from .endpoint import Capability, EndpointDown, Filtered, Messages, Reply, TooLong, chosen_parameters, name_of
from .limits import LOG, LimitedEndpoint, SendIn, calls_of_step
from .wire import Shape, UnusableAnswer, read_reply, read_text

_I = TypeVar("_I")
_T = TypeVar("_T")
_ATTEMPTS = 2  # the call and one repair
_LONGEST_UNUSABLE = 10_000  # characters that are stored of a reply that could not be used
_TRIAL_ANSWER = {"numbers": [*range(1, 31)]}
_TRIAL_SCHEMA: dict[str, Any] = {
    "title": "Trial", "type": "object", "properties": {"numbers": {"type": "array", "items": {"type": "integer"}}},
    "required": ["numbers"], "additionalProperties": False}
_TRIAL_SECONDS = 20.0  # a person waits for the trial


class Target(NamedTuple):
    """Where a step's calls go; `options` are the parameters that the user has set, as JSON, if there are any."""

    model: str
    options: tuple[str, ...]
    endpoint: LimitedEndpoint

    def key(self, messages: Messages, shape: Shape[Any]) -> str:
        """Return the key under which the ledger has the answer to messages."""
        return content_id(self.model, json.dumps(messages), json.dumps(shape.json_schema), *self.options)


class ModelCalls:
    """Makes calls on any event loop, each answer paid once; the ledger is response cache, accounts and budget."""

    def __init__(self, settings: Settings, ledger: CallLedger,
                 endpoint_of: Callable[[Settings], LimitedEndpoint] | None = None) -> None:
        self._settings, self._ledger = settings, ledger
        self._in_progress: WeakValueDictionary[tuple[int, str], asyncio.Lock] = WeakValueDictionary()
        targets = dict[Hashable, Target]()  # steps with the same model, endpoint and options share one

        def target_of(step_settings: Settings) -> Target:
            chosen = chosen_parameters(step_settings)
            options = (json.dumps(chosen, sort_keys=True),) if chosen else ()
            key = step_settings.llm_model, step_settings.llm_base_url, step_settings.llm_api_key, options
            if key not in targets:
                endpoint = (endpoint_of(step_settings) if endpoint_of
                            else LimitedEndpoint(lambda: open_client(step_settings), step_settings))
                targets[key] = Target(step_settings.llm_model, options, endpoint)
            return targets[key]

        self._targets: dict[str, Target] = {step: target_of(settings.for_step(step)) for step in LLM_STEPS}
        self._targets |= dict.fromkeys(("infer", "group"), self._targets["schema"])  # the two prompts about schemas
        self._other_target = target_of(settings)  # of steps for which no model can be set, such as "condense"

    async def _ask(self, step: str, make_call: Callable[[], tuple[Prompt, Shape[_T]]]) -> _T:
        """Return the model's answer to a prompt, from the ledger if it was paid before; no thread waits for it.

        `step` names the model and the account. `make_call` returns prompt and shape; it is called in a thread. Only a
        fitting answer is cached. Raises ReasonerError and BudgetExceeded.
        """
        prompt, shape = await asyncio.to_thread(make_call)
        target = self._targets.get(step, self._other_target)
        key = target.key(prompt.messages, shape)
        # Of equal calls on an event loop, the later ones wait for the first and find its answer in the ledger.
        lock = self._in_progress.setdefault((id(asyncio.get_running_loop()), key), asyncio.Lock())
        async with lock:
            cached = await asyncio.to_thread(self._ledger.lookup, key)
            if cached is not None:
                with suppress(ValueError):  # cached under older rules: pay for one that fits the present ones
                    return await asyncio.to_thread(read_text, cached, shape)
            with calls_of_step(step):
                return await self._call_model(key, step, target, prompt, shape)

    async def _call_model(self, key: str, step: str, target: Target, prompt: Prompt, shape: Shape[_T]) -> _T:
        """Pay for an answer, check it, and ask for a repair if it does not fit; see `_ask`."""
        messages, problem = prompt.messages, ""
        for _ in range(_ATTEMPTS):
            reply = await self._send_once(step, target, messages, shape)
            try:
                answer = await asyncio.to_thread(read_reply, reply, shape)  # in a thread: a useless one takes a second
            except UnusableAnswer as error:
                problem = str(error)
            else:
                await self._record(key, step, reply, target.model, clean_text(reply.text))
                return answer
            unusable = clean_text(reply.text or reply.refusal)
            if len(unusable) > _LONGEST_UNUSABLE:
                unusable = f"{unusable[:_LONGEST_UNUSABLE]}..."
            # Under a key that is never looked up: its tokens are counted, but no later call takes it as its answer.
            unused_key = content_id("unusable", key, reply.text)
            await self._record(unused_key, step, reply, target.model, unusable, wasted=True)
            if reply.finish == "content_filter":  # asking again would repeat the text
                raise Filtered(f"{step}: model {target.model!r}: its content filter stopped the answer; use "
                               "another model (BANYAN_LLM_MODEL) for this text")
            repair = (await asyncio.to_thread(render, "repair", prompt.language, error=problem)).user
            messages = [*messages, ("assistant", unusable or "-"), ("user", repair)]
        failed = f"{step}: model {target.model!r} gave no usable answer in {_ATTEMPTS} attempts: {problem}. "
        if reply.finish == "length":
            raise TooLong(failed + "Raise BANYAN_LLM_REPLY_TOKENS or the endpoint's own limit, let it think less "
                                   "(BANYAN_LLM_REASONING_EFFORT), or lower BANYAN_CHUNK_TOKENS")
        raise ReasonerError(failed + "Try again, or set another model (BANYAN_LLM_MODEL)")

    async def _send_once(self, step: str, target: Target, messages: Messages, shape: Shape[_T]) -> Reply:
        """Make one call and charge its tokens to the budget; put the step's name before an error's message."""
        try:
            reply = await target.endpoint.send(messages, shape.json_schema, self._ledger.check_budget)
        except EndpointDown:  # no call was sent, so no step has failed
            raise
        except ReasonerError as error:
            error.args = (f"{step}: {error}",)
            raise
        # No await since the call's slot became free: the next call sees what this one spent.
        self._ledger.spend(target.model, reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens)
        return reply

    async def _record(self, key: str, step: str, reply: Reply, model: str, text: str, *, wasted: bool = False) -> None:
        """Store a reply's text and tokens in the ledger; `wasted` marks one that cannot be used."""
        # A thread runs to its end even if this task is cancelled: what was paid is stored.
        await asyncio.to_thread(
            self._ledger.record, key=key, step=step, model=model + BATCHED if reply.batched else model, wasted=wasted,
            response=text, prompt_tokens=reply.prompt_tokens, completion_tokens=reply.completion_tokens,
            cached_tokens=reply.cached_tokens)

    async def _ask_batches(self, step: str, make_call: Callable[[Sequence[_I]], tuple[Prompt, Shape[list[_T]]]],
                           batches: Sequence[Sequence[_I]], otherwise: Callable[[_I], _T]) -> list[_T]:
        """Return the answers to all items in order; `otherwise` answers one that a filter stops. May raise TooLong."""
        async def ask(batch: Sequence[_I]) -> list[_T]:
            """Return the answers to a batch, in two calls if it cannot be asked as a whole."""
            try:
                return await self._ask(step, lambda: make_call(batch))
            except (TooLong, Filtered) as error:  # its halves may fit, and halving finds the item that a filter stops
                if len(batch) == 1 and isinstance(error, TooLong):
                    raise
                if len(batch) == 1:
                    LOG.warning("%s", error)
                    return [otherwise(batch[0])]
            middle = len(batch) // 2
            return [*await ask(batch[:middle]), *await ask(batch[middle:])]

        return [*chain.from_iterable(await in_parallel(ask, batches, self._settings.llm_concurrency))]


def open_client(settings: Settings) -> SendIn:
    """Open a client for the settings' model, and return its function to send calls."""
    from .chat_model import ChatClient  # noqa: PLC0415  (a second of imports, only for what makes a call)

    return ChatClient(settings).send


def prompt_language(settings: Settings, text: str) -> Language:
    """Return the language of the prompts for a text: that of the settings, or the text's own."""
    return text_language(text) if settings.language == "auto" else settings.language


class Trial(NamedTuple):
    """What a call of `try_out` took, and whether the reply was JSON of the shape that was asked for."""

    seconds: float
    tokens: int
    completion_tokens: int = 0
    is_json: bool = True


def try_out(settings: Settings) -> Trial:
    """Ask the settings' model once, without retries, for a JSON object, to see how fast and how well it writes."""
    settings = settings.model_copy(update={"llm_retries": 0, "llm_timeout": min(settings.llm_timeout, _TRIAL_SECONDS)})
    question = [("user", f"Reply with this JSON object and nothing else: {json.dumps(_TRIAL_ANSWER)}")]
    started = monotonic()
    # Its own client neither opens the circuit breaker nor changes what the process has learnt of the endpoint.
    reply = run(open_client(settings), question, _TRIAL_SCHEMA, Capability(name_of(settings)))
    seconds = monotonic() - started
    try:
        is_json = json.loads(reply.text) == _TRIAL_ANSWER
    except ValueError:
        is_json = False
    return Trial(seconds, reply.prompt_tokens + reply.completion_tokens, reply.completion_tokens, is_json)
