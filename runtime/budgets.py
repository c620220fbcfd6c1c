"""What model calls cost: prices from the user's file, budgets, and the accounts that calls are charged to."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Annotated, Protocol

from pydantic import Field, TypeAdapter, ValidationError

from ..schemas.documents import Frozen
from ..schemas.errors import BanyanError

PER = 1_000_000  # the number of tokens that a price is for
BATCHED, _BATCH_SHARE = " (batch)", 0.5
"""What accounts and price files add to a model's name for calls answered in batches, and the price of these."""
_EXAMPLE = '{"gpt-4o-mini": {"prompt": 0.15, "cached": 0.075, "completion": 0.6}}'  # of a price file

_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class PricesError(BanyanError):
    """The price file cannot be used, or a required price is missing."""


class Price(Frozen):
    """The price of a model per million tokens, in any one currency."""

    prompt: _Amount
    completion: _Amount
    cached: _Amount | None = None
    """The price of prompt tokens from the endpoint's cache; None means the same as for others."""


_FILE = TypeAdapter(dict[str, Price])


class Prices(dict[str, Price]):
    """Prices by model name."""

    def cost(self, model: str, prompt: int, completion: int, cached: int = 0) -> float | None:
        """Return the cost of tokens (`prompt` includes `cached`) of a model; None if its price is unknown."""
        if not prompt and not completion:  # free, even if the price is unknown
            return 0.0
        price, share = self.get(model), 1.0
        if price is None and model.endswith(BATCHED):  # the file has no price of its own for these calls
            price, share = self.get(model.removesuffix(BATCHED)), _BATCH_SHARE
        if price is None:
            return None
        cached_price = price.prompt if price.cached is None else price.cached
        cost = (prompt - cached) * price.prompt + cached * cached_price + completion * price.completion
        return share * cost / PER


def load_prices(path: Path | None) -> Prices:
    """Read a price file: a JSON object from models' names to `prompt`, `completion` and, if it differs, `cached`."""
    if path is None:
        return Prices({})
    try:
        return Prices(_FILE.validate_json(path.read_bytes()))
    except (OSError, ValidationError) as error:
        if isinstance(error, OSError):
            cause = str(error.strerror)
        else:
            first = error.errors()[0]
            cause = f"{'.'.join(map(str, first['loc'])) or 'the file'}: {first['msg']}"
        raise PricesError(f"the price file {path} (BANYAN_PRICES) cannot be used ({cause}): it should look like "
                          f"{_EXAMPLE}, prices per million tokens") from error


class BudgetExceeded(BanyanError):
    """The budget is reached, so no further call is made. Progress so far is saved."""


class CallLedger(Protocol):
    """A store of responses and token counts. Safe to call from several threads."""

    def lookup(self, key: str) -> str | None:
        """Return the response recorded under a key, or None."""

    def record(self, *, key: str, step: str, response: str, prompt_tokens: int, completion_tokens: int,
               cached_tokens: int = 0, wasted: bool = False, model: str = "") -> None:
        """Save a paid call's response and count its tokens, in one transaction. May wait for a disk.

        Tokens are counted by step, and by the build and documents that `charge_calls` sets. `prompt_tokens` include
        `cached_tokens`, which the endpoint read from its cache. `wasted`: the answer was unusable.
        """

    def check_budget(self) -> None:
        """Raise BudgetExceeded if no further call may be paid."""

    def spend(self, model: str, prompt_tokens: int, completion_tokens: int, cached_tokens: int) -> None:
        """Subtract a paid call from the budget, as soon as it is answered and before the next call is checked."""


class Budget:
    """A spending limit and the spending so far. Safe to use from several threads; calls in flight may exceed it."""

    def __init__(self, max_tokens: int | None = None, max_cost: float | None = None,
                 prices: Prices | None = None) -> None:
        """Start with nothing spent; None means unlimited, and a limit of costs needs the prices of all models."""
        self._max_tokens, self._max_cost, self._prices = max_tokens, max_cost, prices or Prices({})
        self._spent = defaultdict[str, list[int]](lambda: [0, 0, 0])  # prompt, completion and cached tokens by model
        self._lock = Lock()

    def add(self, model: str, prompt: int, completion: int, cached: int = 0) -> None:
        """Count the tokens of a paid call to a model."""
        with self._lock:
            self._spent[model] = [spent + new for spent, new in zip(
                self._spent[model], (prompt, completion, cached), strict=True)]

    def check(self) -> None:
        """Raise BudgetExceeded if the budget is reached, or a cost limit cannot be checked without a model's price."""
        with self._lock:
            spent = sorted(self._spent.items())
        tokens = sum(prompt + completion for _, (prompt, completion, _) in spent)
        if self._max_tokens is not None and tokens >= self._max_tokens:
            raise BudgetExceeded(f"the token budget is reached ({tokens} tokens spent of {self._max_tokens}). Progress "
                                 "is saved: to resume, run the command again with a --max-tokens for the rest")
        if self._max_cost is None:
            return
        cost = 0.0
        for model, amounts in spent:
            model_cost = self._prices.cost(model, *amounts)
            if model_cost is None:
                raise BudgetExceeded(f"the model {model!r} has no known price, so --max-cost cannot be checked: add it "
                                     "to the price file (BANYAN_PRICES), or run the command again without --max-cost")
            cost += model_cost
        if cost >= self._max_cost:
            raise BudgetExceeded(f"the cost budget is reached ({cost:.6g} spent of {self._max_cost:g}). Progress "
                                 "is saved: to resume, run the command again with a --max-cost for the rest")

    def check_ahead(self, model: str, prompt: int, completion: int) -> None:
        """Raise BudgetExceeded if a batch of calls with these estimated tokens would probably exceed the budget."""
        ahead = Budget(self._max_tokens, self._max_cost, self._prices)
        with self._lock:
            ahead._spent.update(self._spent)  # `add` replaces the list of a model, so this budget's stays as it is
        ahead.add(model, prompt, completion)
        try:
            ahead.check()
        except BudgetExceeded:
            raise BudgetExceeded(f"the batch would take about {prompt + completion} tokens, more than the budget "
                                 "leaves. Nothing was submitted: run the command again with a larger --max-tokens or "
                                 "--max-cost, or without --batch") from None


Account = Callable[[str, str, int, int], None]  # records calls: the step, the model, their number, the prompt tokens


@dataclass(frozen=True)
class Charge:
    """The accounts to which calls are charged, and the budget that limits them."""

    build: str = ""
    """The run that makes the calls; empty for a question."""
    documents: Mapping[str, int] = field(default_factory=dict)
    """The documents being read, by how much of each a call reads; empty for the knowledge base as a whole."""
    budget: Budget | None = None
    on_call: Callable[[int, int], None] | None = None
    """Called with the prompt and completion tokens of every call, including calls answered from the cache."""
    account: Account | None = None
    """Records calls of models whose responses are not cached."""

    def check(self) -> None:
        """Raise BudgetExceeded if the budget is reached."""
        if self.budget is not None:
            self.budget.check()


_CHARGE: ContextVar[Charge] = ContextVar("banyan_charge", default=Charge())  # noqa: B039  (frozen)


def charge() -> Charge:
    """Return the accounts to which calls in the current context are charged."""
    return _CHARGE.get()


@contextmanager
def charge_calls(*, build: str = "", documents: Mapping[str, int] | None = None, budget: Budget | None = None,
            on_call: Callable[[int, int], None] | None = None, account: Account | None = None) -> Iterator[None]:
    """Set the accounts and the budget (`Charge`) for calls in a block, also in threads that inherit its context.

    Arguments that are not given keep the value that applies outside the block.
    """
    outer = charge()
    token = _CHARGE.set(Charge(build or outer.build, documents or outer.documents, budget or outer.budget,
                               on_call or outer.on_call, account or outer.account))
    try:
        yield
    finally:
        _CHARGE.reset(token)
