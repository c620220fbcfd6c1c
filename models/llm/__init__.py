"""The Reasoner over any OpenAI-compatible endpoint."""

from .accounts import BudgetExceeded, CallLedger
from .reasoner import LlmReasoner

__all__ = ["BudgetExceeded", "CallLedger", "LlmReasoner"]
