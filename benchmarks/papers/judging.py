"""Let a model judge predictions against gold answers."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from string import Template

from banyan.models.llm.model_calls import ModelCalls, prompt_language
from banyan.models.llm.wire import Shape
from banyan.prompts.rendering import Language, Prompt, fence
from banyan.text.scripts import first_tokens
from pydantic import BaseModel, ConfigDict, Field

PREDICTION_TOKENS = 1500
"""The most tokens of a prediction that are judged: answers are shorter, and a long text would hide the gold answer."""


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


_KINDS = {"reason": "string", "correct": "boolean", "statements": "integer", "stated": "integer"}
_SHAPE = Shape({"title": "judgement", "type": "object", "additionalProperties": False, "required": list(_KINDS),
                "properties": {name: {"type": kind} for name, kind in _KINDS.items()}}, Verdict.model_validate)


@cache
def _template(language: Language) -> tuple[str, Template]:
    system, _, user = Path(__file__).with_name(f"judge_{language}.txt").read_text("utf-8").partition("=== user ===\n")
    return system.strip(), Template(user.strip())


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
        language = prompt_language(self._settings, question)
        system, user = _template(language)
        text = user.substitute(question=fence(question), gold=fence("\n".join(f"- {answer}" for answer in gold)),
                               prediction=fence(prediction[:first_tokens(prediction, PREDICTION_TOKENS)]))
        return await self._ask("judge", lambda: (Prompt(system, text, language), _SHAPE))
