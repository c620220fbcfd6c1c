"""Passages in a model's own words about facts that it is given."""

from collections.abc import Sequence

from ...prompts import Prompt, render
from . import wire
from .model_calls import ModelCalls, prompt_language


class Reteller(ModelCalls):
    """Asks a model for short passages."""

    async def retell(self, groups: Sequence[Sequence[str]]) -> list[str]:
        """Write a passage for each group of facts, in order and in the facts' language.

        Raises:
            ReasonerError: the endpoint failed, or wrote nothing usable.
            BudgetExceeded: a call would exceed the budget.
        """
        def make(facts: Sequence[str]) -> tuple[Prompt, wire.Shape[str]]:
            text = "\n".join(f"- {fact}" for fact in facts)
            return render("retell", prompt_language(self._settings, text), facts=text), wire.RETELLING

        return await self._ask_each("retell", make, groups)
