"""The Reasoner over any OpenAI-compatible endpoint."""

from .accounts import BudgetExceeded, CallLedger, InMemoryCalls
from .reasoner import LlmReasoner

__all__ = ["BudgetExceeded", "CallLedger", "InMemoryCalls", "LlmReasoner"]
