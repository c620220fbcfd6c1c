"""Judging a prediction against gold answers, with a model of the judge's own."""

import asyncio
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from ...config import Settings
from ...prompts import render
from ...runtime.budgets import CallLedger
from ...runtime.event_loop import process_loop
from ...text.tokens import first_tokens
from . import wire
from .endpoint import Endpoint
from .reasoner import limited_endpoint, prompt_language
from .structured import StructuredChat

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


class Judge:
    """Asks a model for verdicts; safe to use from several threads.

    Question, gold answers and prediction are fenced data in the prompt, so a prediction cannot speak to the model
    outside its place.

    Args:
        settings: the endpoint and the prompts' language.
        model: the judge's model.
        ledger: response cache, accounts and budget.
        endpoint: where calls go; none: the settings' endpoint.
    """

    def __init__(self, settings: Settings, model: str, ledger: CallLedger, endpoint: Endpoint | None = None) -> None:
        self.model = model
        self._settings = settings
        self._chat = StructuredChat(model, endpoint or limited_endpoint(settings, model), ledger)

    def judge(self, question: str, gold: Sequence[str], prediction: str) -> Verdict:
        """Judge one prediction.

        Args:
            question: as it was asked; its language is the prompt's.
            gold: the accepted answers.
            prediction: what was answered; only its first `PREDICTION_TOKENS` are read.

        Raises:
            ReasonerError: the endpoint failed, or gave no verdict.
            BudgetExceeded: the call would be paid beyond the budget.
        """
        return process_loop().run(self._judge(question, gold, prediction))

    async def _judge(self, question: str, gold: Sequence[str], prediction: str) -> Verdict:
        language = prompt_language(self._settings, question)
        prompt = await asyncio.to_thread(
            render, "judge", language, question=question, gold="\n".join(f"- {answer}" for answer in gold),
            prediction=prediction[:first_tokens(prediction, PREDICTION_TOKENS)])
        return await self._chat.ask("judge", prompt, wire.verdict(Verdict))
