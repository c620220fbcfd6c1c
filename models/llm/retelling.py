"""Passages in a model's own words about facts that it is given."""

import asyncio
from collections.abc import Sequence

from ...config import Settings
from ...prompts import render
from ...runtime.budgets import CallLedger
from ...runtime.event_loop import in_parallel, process_loop
from . import wire
from .endpoint import Endpoint
from .reasoner import limited_endpoint, prompt_language
from .structured import StructuredChat


class Reteller:
    """Asks a model for short passages; safe to use from several threads.

    Args:
        settings: the endpoint, its model and the prompts' language.
        ledger: response cache, accounts and budget.
        endpoint: where calls go; none: the settings' endpoint.
    """

    def __init__(self, settings: Settings, ledger: CallLedger, endpoint: Endpoint | None = None) -> None:
        model = settings.llm_model
        self._settings = settings
        self._chat = StructuredChat(model, endpoint or limited_endpoint(settings, model), ledger)

    def retell(self, groups: Sequence[Sequence[str]]) -> list[str]:
        """Write a passage for each group of facts, in order and in the facts' language.

        Raises:
            ReasonerError: the endpoint failed, or wrote nothing usable.
            BudgetExceeded: a call would be paid beyond the budget.
        """
        return process_loop().run(in_parallel(self._retell, groups, self._settings.llm_concurrency))

    async def _retell(self, facts: Sequence[str]) -> str:
        text = "\n".join(f"- {fact}" for fact in facts)
        prompt = await asyncio.to_thread(render, "retell", prompt_language(self._settings, text), facts=text)
        return await self._chat.ask("retell", prompt, wire.RETELLING)
