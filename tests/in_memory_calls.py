"""A ledger of calls for tests that need none on a disk."""

from collections import Counter
from threading import Lock

from banyan.runtime.budgets import Budget


class InMemoryCalls:
    """A `CallLedger` that lasts as long as the process; its counters count what was paid, by step."""

    def __init__(self, max_tokens: int | None = None) -> None:
        self._budget = Budget(max_tokens)
        self.calls: Counter[str] = Counter()
        self.prompt_tokens: Counter[str] = Counter()
        self.completion_tokens: Counter[str] = Counter()
        self.cached_tokens: Counter[str] = Counter()
        self.wasted_tokens: Counter[str] = Counter()
        self._responses: dict[str, str] = {}
        self._lock = Lock()

    def lookup(self, key: str) -> str | None:
        return self._responses.get(key)

    def record(self, *, key: str, step: str, response: str, prompt_tokens: int, completion_tokens: int,
               cached_tokens: int = 0, wasted: bool = False, model: str = "") -> None:
        with self._lock:
            self._responses[key] = response
            self.calls[step] += 1
            self.prompt_tokens[step] += prompt_tokens
            self.completion_tokens[step] += completion_tokens
            self.cached_tokens[step] += cached_tokens
            self.wasted_tokens[step] += wasted * (prompt_tokens + completion_tokens)

    def spend(self, model: str, prompt_tokens: int, completion_tokens: int, cached_tokens: int) -> None:
        self._budget.add(model, prompt_tokens, completion_tokens, cached_tokens)

    def check_budget(self) -> None:
        self._budget.check()
