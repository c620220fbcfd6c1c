"""What the calls to an endpoint leave behind: responses that are not paid twice, tokens, a budget."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from typing import Protocol

from ..schemas.errors import BanyanError
from ..schemas.prices import Prices


class BudgetExceeded(BanyanError):
    """The hard budget is reached: no further call is paid. What was done so far stands."""


class AllowanceSpent(BudgetExceeded):
    """A client has spent what it may for now; `seconds` says for how long."""

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


class Allowance(Protocol):
    """What a client may spend in some time, by all that it asks for. Safe to use from several threads."""

    def check(self) -> None:
        """Called before a call is paid; asks nobody, and waits for nothing.

        Raises:
            AllowanceSpent: all is spent, as far as this process knows.
        """

    def look(self) -> None:
        """Called before there is work: see what other processes have counted, too. May wait for a database."""

    def spend(self, tokens: int) -> None:
        """Count what was paid, before another call is checked; waits for nothing."""

    def keep(self, tokens: int) -> None:
        """Keep what was counted, for other processes and restarts. May wait for a database."""


class CallLedger(Protocol):
    """Keeps responses and accounts. Safe to call from several threads."""

    def lookup(self, key: str) -> str | None:
        """The response recorded under a key, or None."""

    def record(self, *, key: str, step: str, response: str, prompt_tokens: int, completion_tokens: int,
               cached_tokens: int = 0, wasted: bool = False, model: str = "") -> None:
        """Keep a paid call's response and add its tokens to the accounts, in one transaction. May wait for a disk.

        Args:
            key: identifies the call.
            step: the account the tokens go to, within the build and document that `charged` names.
            response: the answer's text.
            prompt_tokens: all that were read, those from the endpoint's cache among them.
            completion_tokens: all that were written.
            cached_tokens: how many of the prompt's the endpoint says it had in its cache.
            wasted: the answer was paid and could not be used.
            model: who answered, which says what it cost.
        """

    def check_budget(self) -> None:
        """Called before a call is paid."""

    def spend(self, model: str, prompt_tokens: int, completion_tokens: int, cached_tokens: int) -> None:
        """Take a paid call from the budget: called as soon as it is answered, before another one is checked."""


class Budget:
    """What may be spent, and what was. Safe to use from several threads; calls in flight may exceed it.

    Args:
        max_tokens: prompt and completion together; none: unlimited.
        max_cost: in the prices' currency; none: unlimited.
        prices: of the models that will be asked; needed for `max_cost`.
    """

    def __init__(self, max_tokens: int | None = None, max_cost: float | None = None,
                 prices: Prices | None = None) -> None:
        self._max_tokens = max_tokens
        self._max_cost = max_cost
        self._prices = prices or Prices({})
        self._prompt: Counter[str] = Counter()
        self._cached: Counter[str] = Counter()
        self._completion: Counter[str] = Counter()
        self._lock = Lock()

    def add(self, model: str, prompt: int, completion: int, cached: int = 0) -> None:
        """Count what was paid to a model."""
        with self._lock:
            self._prompt[model] += prompt
            self._completion[model] += completion
            self._cached[model] += cached

    @property
    def tokens_left(self) -> int | None:
        """How many more tokens may be spent; None: any number."""
        with self._lock:
            spent = self._prompt.total() + self._completion.total()
        return None if self._max_tokens is None else max(0, self._max_tokens - spent)

    def check(self) -> None:
        """Refuse further calls once the budget is reached.

        Raises:
            BudgetExceeded: names what was spent, and the fix.
        """
        with self._lock:
            tokens = self._prompt.total() + self._completion.total()
            costs = [self._prices.cost(model, self._prompt[model], self._completion[model], self._cached[model])
                     for model in sorted(self._prompt)]
        if self._max_tokens is not None and tokens >= self._max_tokens:
            raise BudgetExceeded(f"the token budget is reached ({tokens} tokens spent of {self._max_tokens}); run the "
                                 "command again to go on from here, with a --max-tokens for what is left")
        if self._max_cost is None:
            return
        known = [cost for cost in costs if cost is not None]
        if len(known) < len(costs):
            raise BudgetExceeded("what was spent has no known price, so --max-cost cannot be kept: add the model to "
                                 "the price file (BANYAN_PRICES), or run the command again without --max-cost")
        if sum(known) >= self._max_cost:
            raise BudgetExceeded(f"the cost budget is reached ({sum(known):.6g} spent of {self._max_cost:g}); run the "
                                 "command again to go on from here, with a --max-cost for what is left")


class Usage:
    """What a block's calls take, whether they are paid for now or were before. Safe to use from several threads."""

    def __init__(self) -> None:
        self.calls = self.prompt = self.completion = 0
        self._lock = Lock()

    def add(self, prompt: int, completion: int) -> None:
        """Count a call."""
        with self._lock:
            self.calls += 1
            self.prompt += prompt
            self.completion += completion


Account = Callable[[str, str, int, int], None]
"""Puts down calls of a step to a model: the step, the model, how many calls, and the tokens that they read."""


@dataclass(frozen=True)
class Charge:
    """Where paid calls are put down, and the budget they are taken from."""

    build: str = ""
    """The run that asked; empty: none, as for a question."""
    document: str = ""
    """The document that was read; empty: the knowledge base as a whole."""
    budget: Budget | None = None
    usage: Usage | None = None
    """Told of every call, those among them that were paid before."""
    account: Account | None = None
    """Where calls of models that keep no responses are put down."""
    allowance: Allowance | None = None
    """That of the client that asked."""

    def look(self) -> None:
        """Called before there is work: see what of the client's allowance is spent. May wait for a database."""
        if self.allowance is not None:
            self.allowance.look()

    def check(self) -> None:
        """Called before a call is paid.

        Raises:
            BudgetExceeded: the budget is reached, or the client's allowance spent.
        """
        if self.allowance is not None:
            self.allowance.check()
        if self.budget is not None:
            self.budget.check()


_CHARGE: ContextVar[Charge] = ContextVar("banyan_charge", default=Charge())  # noqa: B039  (frozen)


def charge() -> Charge:
    """Where calls of this thread, or of the one that handed on its context, are put down."""
    return _CHARGE.get()


@contextmanager
def charged(*, build: str = "", document: str = "", budget: Budget | None = None,
            usage: Usage | None = None, account: Account | None = None,
            allowance: Allowance | None = None) -> Iterator[None]:
    """Put down the calls of a block, and of the threads that it hands its context to, to a build and a document.

    What is not given stays as it is around the block.
    """
    around = charge()
    token = _CHARGE.set(Charge(build or around.build, document or around.document, budget or around.budget,
                               usage or around.usage, account or around.account, allowance or around.allowance))
    try:
        yield
    finally:
        _CHARGE.reset(token)
