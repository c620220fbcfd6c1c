"""Typed calls to the models that the settings name for each step."""

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from pydantic import SecretStr

from ...config import LLM_STEPS, Settings
from ...prompts import Language, Prompt, text_language
from ...runtime.budgets import CallLedger
from ...runtime.event_loop import in_parallel, run
from .endpoint import Capability, Endpoint, Reply, chosen_parameters, name_of
from .failures import Filtered, TooLong
from .limits import LOG, LimitedEndpoint, SendIn
from .structured import StructuredChat
from .wire import Shape

_I = TypeVar("_I")
_T = TypeVar("_T")
_TRIAL_SCHEMA: dict[str, Any] = {"title": "Ready", "type": "object", "properties": {"ready": {"type": "boolean"}},
                                 "required": ["ready"], "additionalProperties": False}
_COUNTING_SCHEMA: dict[str, Any] = {
    "title": "Counted", "type": "object", "properties": {"numbers": {"type": "array", "items": {"type": "integer"}}},
    "required": ["numbers"], "additionalProperties": False}
COUNTING = json.dumps({"numbers": [*range(1, 31)]})
"""An object whose reply is long enough to tell how fast a model writes."""
_TRIAL_SECONDS = 20.0

MakeCall = Callable[[], tuple[Prompt, Shape[_T]]]
"""Returns a prompt and the shape of its answer. It is called in a thread, as it may read the prompt from a file."""


class ModelCalls:
    """Makes calls to models. Safe to use on several event loops.

    Args:
        settings: the endpoint, its limits, the model of each step and the prompts' language.
        ledger: response cache, token accounts and budget.
        endpoint_of: returns where calls go, by the settings of a step (`Settings.for_step`); None means the settings'
            endpoint.
    """

    def __init__(self, settings: Settings, ledger: CallLedger,
                 endpoint_of: Callable[[Settings], Endpoint] | None = None) -> None:
        self._settings = settings
        self._steps: dict[str, Settings] = {step: settings.for_step(step) for step in LLM_STEPS}
        self._steps |= dict.fromkeys(("infer", "group"), self._steps["schema"])
        endpoint_of = endpoint_of or limited_endpoint
        self._chats: dict[_ChatKey, StructuredChat] = {}
        for one in (settings, *self._steps.values()):  # steps with the same model, endpoint and options share a chat
            key = _chat_key(one)
            if key not in self._chats:
                self._chats[key] = StructuredChat(one.llm_model, endpoint_of(one), ledger, key.options)

    async def _ask(self, step: str, make: MakeCall[_T]) -> _T:
        """Return a model's answer without holding a thread while the endpoint works."""
        prompt, shape = await asyncio.to_thread(make)
        return await self._chat_of(step).ask(step, prompt, shape)

    def _chat_of(self, step: str) -> StructuredChat:
        return self._chats[_chat_key(self._steps.get(step, self._settings))]

    async def _ask_batches(self, step: str, make: Callable[[Sequence[_I]], tuple[Prompt, Shape[list[_T]]]],
                           batches: Sequence[Sequence[_I]], otherwise: Callable[[_I], _T]) -> list[_T]:
        """Return the answers to all items of all batches, in order."""
        async def ask(batch: Sequence[_I]) -> list[_T]:
            """Return the answers to a batch, in two calls if it cannot be asked as a whole."""
            try:
                return await self._ask(step, lambda: make(batch))
            except TooLong:
                if len(batch) == 1:
                    raise
            except Filtered as error:
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


def limited_endpoint(settings: Settings) -> Endpoint:
    """Return the settings' endpoint with its limits."""
    return LimitedEndpoint(lambda: open_client(settings), settings)


class _ChatKey(NamedTuple):
    """What tells the chats of steps apart; `options` are the parameters that the user has set, as JSON, or ""."""

    model: str
    address: str | None
    api_key: SecretStr
    options: str


def _chat_key(settings: Settings) -> _ChatKey:
    chosen = chosen_parameters(settings)
    options = json.dumps(chosen, sort_keys=True) if chosen else ""
    return _ChatKey(settings.llm_model, settings.llm_base_url, settings.llm_api_key, options)


def prompt_language(settings: Settings, text: str) -> Language:
    """Return the language of the prompts for a text: that of the settings, or the text's own."""
    return text_language(text) if settings.language == "auto" else settings.language


class Trial(NamedTuple):
    """What a call of `try_out` took, and whether the reply was JSON of the shape that was asked for."""

    seconds: float
    tokens: int
    completion_tokens: int = 0
    is_json: bool = True


def try_out(settings: Settings, wanted: str = '{"ready": true}') -> Trial:
    """Ask the settings' model once for a JSON object, without retries.

    It uses a separate client, so that the trial neither opens the circuit breaker nor changes what the process has
    learnt of the endpoint.
    """
    settings = settings.model_copy(update={"llm_retries": 0, "llm_timeout": min(settings.llm_timeout, _TRIAL_SECONDS)})
    started = monotonic()
    reply = run(partial(_send_trial, settings, wanted))
    seconds = monotonic() - started
    try:
        is_json = json.loads(reply.text) == json.loads(wanted)
    except ValueError:
        is_json = False
    return Trial(seconds, reply.prompt_tokens + reply.completion_tokens, reply.completion_tokens, is_json)


async def _send_trial(settings: Settings, wanted: str) -> Reply:
    schema = _COUNTING_SCHEMA if wanted == COUNTING else _TRIAL_SCHEMA
    return await open_client(settings)([("user", f"Reply with this JSON object and nothing else: {wanted}")],
                                       schema, Capability(name_of(settings)))
