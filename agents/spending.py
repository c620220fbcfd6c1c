"""What the runs of this process may spend, and what models cost."""

from collections.abc import Callable
from threading import RLock

from ..config import LlmStep, Settings
from ..graph_store.ledger.token_accounts import Calls
from ..runtime.budgets import Budget
from ..schemas.prices import Prices, PricesError, load_prices

_BUILDING_STEPS: tuple[LlmStep, ...] = ("extract", "resolve", "summarise")


class Spending:
    """Prices and budgets, read when they are first needed. Safe to use from several threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._prices: Prices | None = None
        self._budgets: dict[str, Budget] = {}
        self._lock = RLock()

    def follow(self, settings: Settings) -> None:
        """Use other settings from now on; budgets and prices stay."""
        with self._lock:
            self._settings = settings

    @property
    def prices(self) -> Prices:
        """The models' prices, from the price file.

        Raises:
            PricesError: it cannot be used.
        """
        with self._lock:
            if self._prices is None:
                self._prices = load_prices(self._settings.prices)
            return self._prices

    def check_prices(self, max_cost: float | None) -> None:
        """Check, before anything is paid, that prices can be read, and are known if there is a limit of costs.

        Raises:
            PricesError: a price is missing, or cannot be read; names the model and the fix.
        """
        prices, settings = self.prices, self._settings
        if max_cost is None or not settings.uses_llm:
            return
        for model in sorted({settings.model_of(step) for step in _BUILDING_STEPS}):
            if model not in prices:
                why = f"{settings.prices} has no price" if settings.prices else "no price file is set"
                raise PricesError(f"--max-cost cannot be enforced, as the price of the model {model!r} is unknown "
                                  f"({why}): set BANYAN_PRICES to a JSON file with it, or give --max-tokens instead")

    def budget(self, run: str, max_tokens: int | None, max_cost: float | None, calls: Callable[[], Calls],
               ) -> Budget | None:
        """Return a run's budget, less what it has spent already, or None if it has no limit.

        Args:
            run: identifies the run, whose parts may be in several processes.
            max_tokens: the limit of prompt and completion tokens together.
            max_cost: the limit in the currency of the price file.
            calls: returns the accounts of the knowledge base that the run writes to.
        """
        if max_tokens is None and max_cost is None:
            return None
        with self._lock:
            if run not in self._budgets:
                budget = Budget(max_tokens, max_cost, self.prices)
                calls().charge_to(budget, run)
                self._budgets[run] = budget
            return self._budgets[run]

    def forget(self, run: str) -> None:
        """Drop the budget of a run that has ended."""
        with self._lock:
            self._budgets.pop(run, None)
