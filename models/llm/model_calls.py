"""Typed calls to the models that the settings name for each step."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from ...config import LLM_STEPS, Settings
from ...prompts import Language, Prompt, language_of
from ...runtime.budgets import CallLedger
from ...runtime.event_loop import in_parallel, process_loop
from .endpoint import Endpoint, SendIn, open_client
from .limits import LimitedEndpoint
from .structured import StructuredChat
from .wire import Shape

_I = TypeVar("_I")
_T = TypeVar("_T")

MakeCall = Callable[[], tuple[Prompt, Shape[_T]]]
"""Returns a prompt and the shape of its answer. It is called in a thread, as it may read the prompt from a file."""


class ModelCalls:
    """Makes calls to models on the process's event loop. Safe to use from several threads.

    Args:
        settings: the endpoint, its limits, the model of each step and the prompts' language.
        ledger: response cache, token accounts and budget.
        endpoint_of: returns where calls to a model go, by its name; None means the settings' endpoint.
    """

    def __init__(self, settings: Settings, ledger: CallLedger,
                 endpoint_of: Callable[[str], Endpoint] | None = None) -> None:
        self._settings = settings
        self._models: dict[str, str] = {step: settings.model_of(step) for step in LLM_STEPS}
        endpoint_of = endpoint_of or partial(limited_endpoint, settings)
        self._chats = {model: StructuredChat(model, endpoint_of(model), ledger)
                       for model in {settings.llm_model, *self._models.values()}}

    def _run(self, step: str, make: MakeCall[_T]) -> _T:
        return process_loop().run(self._ask(step, make))

    async def _ask(self, step: str, make: MakeCall[_T]) -> _T:
        """Return a model's answer without holding a thread while the endpoint works."""
        prompt, shape = await asyncio.to_thread(make)
        model = self._models.get(step, self._settings.llm_model)
        return await process_loop().arun(self._chats[model].ask(step, prompt, shape))

    def _run_each(self, step: str, make: Callable[[_I], tuple[Prompt, Shape[_T]]], items: Sequence[_I]) -> list[_T]:
        """Return the answers to all items, in order; after the first failure, no further call starts."""
        async def ask(item: _I) -> _T:
            return await self._ask(step, lambda: make(item))

        return process_loop().run(in_parallel(ask, items, self._settings.llm_concurrency))


def limited_endpoint(settings: Settings, model: str, client: Callable[[Settings], SendIn] = open_client) -> Endpoint:
    """Return the settings' endpoint, asked for a model, within its limits.

    Args:
        settings: the endpoint and its limits.
        model: the model's name.
        client: makes what sends the calls.
    """
    settings = settings.model_copy(update={"llm_model": model})
    return LimitedEndpoint(lambda: client(settings), settings)


def prompt_language(settings: Settings, text: str) -> Language:
    """Return the language of the prompts for a text: that of the settings, or the text's own."""
    return language_of(text) if settings.language == "auto" else settings.language
