"""The calls of an evaluation: judging a prediction against gold answers, and retelling facts in passages."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from ...prompts import Prompt, render
from ...runtime.event_loop import in_parallel
from ...text.tokens import first_tokens
from . import wire
from .model_calls import ModelCalls, prompt_language

PREDICTION_TOKENS = 1500
"""What is read of a prediction: an answer is shorter, and a longer text would bury the gold answer."""


class Verdict(BaseModel):
    """Whether a prediction is right, why, and how many of the gold answer's statements it makes."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    reason: str
    correct: bool
    statements: int = Field(1, ge=1)
    stated: int = Field(0, ge=0)

    @property
    def coverage(self) -> float:
        """The share of the gold answer's statements that the prediction makes, from 0 to 1."""
        return max(float(self.correct and self.statements == 1), min(1.0, self.stated / self.statements))


class Judge(ModelCalls):
    """Asks a model for verdicts.

    Question, gold answers and prediction are fenced data in the prompt, so a prediction cannot speak to the model
    outside its place.
    """

    async def judge(self, question: str, gold: Sequence[str], prediction: str) -> Verdict:
        """Judge one prediction.

        Args:
            question: as it was asked; its language is the prompt's.
            gold: the accepted answers.
            prediction: what was answered; only its first `PREDICTION_TOKENS` are read.

        Raises:
            ReasonerError: the endpoint failed, or gave no verdict.
            BudgetExceeded: the call would exceed the budget.
        """
        return await self._ask("judge", lambda: (
            render("judge", prompt_language(self._settings, question), question=question,
                   gold="\n".join(f"- {answer}" for answer in gold),
                   prediction=prediction[:first_tokens(prediction, PREDICTION_TOKENS)]),
            wire.verdict(Verdict)))


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

        return await in_parallel(lambda facts: self._ask("retell", lambda: make(facts)), groups,
                                 self._settings.llm_concurrency)
