"""The calls of an evaluation: judging a prediction against gold answers."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from ...prompts import render
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
        """The share of the gold answer's statements that the prediction makes; 1 if it is correct and there is one."""
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
