"""What the runs of this process may spend, and what models cost."""

from collections.abc import Callable
from threading import RLock

from ..config import LlmStep, Settings
from ..graph_store.ledger.token_accounts import Calls
from ..runtime.budgets import Budget
from ..schemas.prices import Prices, PricesError, load_prices

_BUILDING_STEPS: tuple[LlmStep, ...] = ("extract", "resolve", "summarise")


class Spending:
    """The models' prices and the budgets of runs, read when they are first needed. Safe to use from several threads.

    Args:
        settings: name the price file and the models.
    """

    def __init__(self, settings: Settings) -> None:
        """Start without budgets; the price file is read when it is first needed."""
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
            PricesError: the price file cannot be read or is invalid.
        """
        with self._lock:
            if self._prices is None:
                self._prices = load_prices(self._settings.prices)
            return self._prices

    def check_prices(self, max_cost: float | None) -> None:
        """Check, before anything is paid, that the price file can be read and has the prices that a cost limit needs.

        Raises:
            PricesError: the file cannot be read, or the price of a model is missing.
        """
        prices, settings = self.prices, self._settings
        if max_cost is None or not settings.uses_llm:
            return
        for model in sorted({settings.model_of(step) for step in _BUILDING_STEPS}):
            if model not in prices:
                cause = f"{settings.prices} has no price" if settings.prices else "no price file is set"
                raise PricesError(f"--max-cost cannot be enforced, as the price of the model {model!r} is unknown "
                                  f"({cause}): set BANYAN_PRICES to a JSON file with it, or give --max-tokens instead")

    def budget(self, run: str, max_tokens: int | None, max_cost: float | None, calls: Callable[[], Calls],
               ) -> Budget | None:
        """Return a run's budget, or None if it has no limit.

        What the run has spent already, perhaps in another process, is charged to the budget.
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
