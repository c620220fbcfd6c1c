"""The Reasoner over any OpenAI-compatible endpoint."""

from ...runtime.budgets import BudgetExceeded, CallLedger
from .reasoner import LlmReasoner

__all__ = ["BudgetExceeded", "CallLedger", "LlmReasoner"]
