"""What the calls to an endpoint leave behind: responses that are not paid twice, tokens, a budget."""

from collections import Counter
from threading import Lock
from typing import Protocol

from ...schemas.errors import BanyanError


class BudgetExceeded(BanyanError):
    """The hard token budget is reached: no further call is paid. What was done so far stands."""


class CallLedger(Protocol):
    """Keeps responses and accounts. Safe to call from several threads."""

    def lookup(self, key: str) -> str | None:
        """The response recorded under a key, or None."""

    def record(self, *, key: str, step: str, response: str, prompt_tokens: int,
               completion_tokens: int) -> None:
        """Keep a paid call's response and add its tokens to the step's account, in one transaction."""

    def check_budget(self) -> None:
        """Called before a call is paid.

        Raises:
            BudgetExceeded: the accounts have reached the budget.
        """


class InMemoryCalls:
    """A `CallLedger` that lasts as long as the process.

    `calls`, `prompt_tokens` and `completion_tokens` count what was paid, by step.

    Args:
        max_tokens: the budget, prompt and completion together; none: unlimited.
    """

    def __init__(self, max_tokens: int | None = None) -> None:
        self.max_tokens = max_tokens
        self.calls: Counter[str] = Counter()
        self.prompt_tokens: Counter[str] = Counter()
        self.completion_tokens: Counter[str] = Counter()
        self._responses: dict[str, str] = {}
        self._lock = Lock()

    def lookup(self, key: str) -> str | None:
        """The response recorded under a key, or None."""
        return self._responses.get(key)

    def record(self, *, key: str, step: str, response: str, prompt_tokens: int,
               completion_tokens: int) -> None:
        """Keep a paid call's response and add its tokens to the step's account."""
        with self._lock:
            self._responses[key] = response
            self.calls[step] += 1
            self.prompt_tokens[step] += prompt_tokens
            self.completion_tokens[step] += completion_tokens

    def check_budget(self) -> None:
        """Refuse further calls once the budget is reached.

        Raises:
            BudgetExceeded: names the budget, what was spent, and the mend.
        """
        with self._lock:
            spent = self.prompt_tokens.total() + self.completion_tokens.total()
        if self.max_tokens is not None and spent >= self.max_tokens:
            raise BudgetExceeded(f"the budget of {self.max_tokens} tokens is reached ({spent} spent): raise "
                                 "it (--max-tokens) and run again to go on from here")
