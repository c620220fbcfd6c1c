"""The models of a process: embedding, reranking, and reasoners with their accounts, prices and budgets."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from ..config import AskStep, LlmStep, Settings
from ..graph_store.ledger.database import Database
from ..graph_store.ledger.token_accounts import Calls
from ..models.embedding.embedder import Embedder
from ..models.embedding.embedding_models import EmbeddingModels, default_name, load_embedder
from ..models.embedding.unbundled import Reranker, load_reranker
from ..models.parsing.parser import Parser
from ..models.reasoner import Reasoner
from ..runtime.budgets import Budget, Prices, PricesError, load_prices

if TYPE_CHECKING:
    from ..models.llm.batches import BatchedReasoner
    from ..models.llm.llm_reasoner import SchemaWriter
    from ..models.rules.rules_reasoner import Answers

_RULES_AT_ONCE = 2  # chunks that the rules extract at once
STANDALONE_LEDGER = "calls.sqlite"  # of calls that belong to no knowledge base; none can have this name
_BUILDING_STEPS: tuple[LlmStep, ...] = ("extract", "resolve", "summarise")
_Choices = tuple[tuple[str, str], ...]  # steps, each with the model that a question chooses for it


class ProcessModels(ABC):
    """The models of a process, shared by its threads; each, and its slow module, is loaded when first needed."""

    def __init__(self, settings: Settings, embedder: Embedder | None, reranker: Reranker | None) -> None:
        """Prepare, without loading a model yet."""
        self.settings = settings
        self._embedder, self._reranker = embedder, reranker
        self._models = EmbeddingModels(settings, self._load_embedder)
        self.own_embedder = embedder is not None  # given by the program, so other processes cannot load it
        self._parser = Parser(settings.spacy_pipelines)
        self._start_without_open_bases()

    def _start_without_open_bases(self) -> None:
        """Start without reasoners; called again in a forked child, which must not use its parent's connections."""
        self._lock = threading.RLock()
        self._reasoners: dict[str, dict[tuple[Calls | None, _Choices], Reasoner]] = {}
        """The reasoners of each knowledge base, by the arguments of `_make_reasoner`."""

    @abstractmethod
    def accounts(self, name: str) -> Calls:
        """Return the accounts of a knowledge base."""

    @property
    def embedder(self) -> Embedder:
        """The embedding model for texts that belong to no knowledge base."""
        return self._embedder or self._models.load(default_name(self.settings))

    @property
    def embedding(self) -> Embedder | EmbeddingModels:
        """The embedding model given to this process, or those of the settings, of which each knowledge base has one."""
        return self._embedder or self._models

    def _load_embedder(self, settings: Settings) -> Embedder:
        """Load the model that the settings name; a subclass may return another kind of embedder."""
        return load_embedder(settings)

    @property
    def reranker(self) -> Reranker | None:
        """The model that reranks passages (a cross-encoder), or None if the settings name none."""
        with self._lock:
            self._reranker = self._reranker or load_reranker(self.settings)
            return self._reranker

    @property
    def extractions_at_once(self) -> int:
        """How many chunks of a build are extracted at once."""
        # With a model a whole batch: its client limits the calls at once. With the rules each keeps a core busy.
        return self.settings.batch_size if self.settings.uses_llm else _RULES_AT_ONCE

    def reasoner(self, name: str, models: Mapping[AskStep, str] | None = None, calls: Calls | None = None) -> Reasoner:
        """Return a base's reasoner, with other `models` for some steps; `calls` defaults to the base's accounts."""
        # The rules make no calls, so they have no accounts.
        accounts = (calls or self.accounts(name)) if self.settings.uses_llm else None
        key = accounts, tuple(sorted((models or {}).items()))
        with self._lock:
            reasoners = self._reasoners.setdefault(name, {})
            if key not in reasoners:
                reasoners[key] = self._make_reasoner(*key)
            return reasoners[key]

    def _make_reasoner(self, calls: Calls | None, models: Sequence[tuple[str, str]] = ()) -> Reasoner:
        """Make a language model's reasoner, with `models` for some of its steps; the rules if there are no accounts."""
        if calls is not None:
            from ..models.llm.llm_reasoner import LlmReasoner  # noqa: PLC0415

            choices = {f"llm_model_{step}": model for step, model in models}
            return LlmReasoner(self.settings.model_copy(update=choices), calls)
        from ..models.rules.rules_reasoner import RulesReasoner  # noqa: PLC0415

        return RulesReasoner(self._parser)

    def _forget_reasoners(self, name: str) -> None:
        """Drop the reasoners of a knowledge base, because the connection of their accounts is closed."""
        with self._lock:
            self._reasoners.pop(name, None)

    def schema_writer(self, name: str) -> "SchemaWriter | None":
        """Return the writer that proposes schemas and groups labels; None if no model is set."""
        if not self.settings.uses_llm:
            return None
        from ..models.llm.llm_reasoner import SchemaWriter  # noqa: PLC0415

        return SchemaWriter(self.settings, self.accounts(name))

    def batched_reasoner(self, name: str) -> "BatchedReasoner":
        """Return a reasoner that extracts through the endpoint's batches."""
        from ..models.llm.batches import BatchedReasoner  # noqa: PLC0415

        return BatchedReasoner(self.settings, self.accounts(name))

    @cached_property
    def finder(self) -> "Answers":
        """The rules that find the closest quotes when a model found no answer."""
        from ..models.rules.rules_reasoner import Answers  # noqa: PLC0415

        return Answers(self._parser)

    @contextmanager
    def standalone_calls(self, token_limit: int | None = None) -> Iterator[Calls]:
        """Yield accounts for calls that belong to no knowledge base, with a limit; the home folder has their ledger."""
        self.settings.home.mkdir(parents=True, exist_ok=True)
        with closing(Database(self.settings.home / STANDALONE_LEDGER)) as database:
            yield Calls(database, None if token_limit is None else Budget(token_limit))


class Spending:
    """The models' prices and the budgets of runs, read when they are first needed. Safe to use from several threads."""

    def __init__(self, settings: Callable[[], Settings]) -> None:
        """Start without budgets; `settings` returns the current ones."""
        self._settings = settings
        self._prices: Prices | None = None
        self._budgets: dict[str, Budget] = {}
        self._lock = threading.RLock()

    @property
    def prices(self) -> Prices:
        """The models' prices, from the price file."""
        with self._lock:
            if self._prices is None:
                self._prices = load_prices(self._settings().prices)
            return self._prices

    def check_prices(self, max_cost: float | None) -> None:
        """Check, before anything is paid, that the price file can be read and has what a cost limit needs."""
        prices, settings = self.prices, self._settings()
        if max_cost is None or not settings.uses_llm:  # no price is needed, but the file was read
            return
        for model in sorted({settings.model_of(step) for step in _BUILDING_STEPS}):
            if model not in prices:
                cause = f"{settings.prices} has no price" if settings.prices else "no price file is set"
                raise PricesError(f"--max-cost cannot be enforced, as the price of the model {model!r} is unknown "
                                  f"({cause}): set BANYAN_PRICES to a JSON file with it, or give --max-tokens instead")

    def budget(self, run: str, max_tokens: int | None, max_cost: float | None, calls: Callable[[], Calls],
               ) -> Budget | None:
        """Return a run's budget, less what it has spent, perhaps in another process; None if it has no limit."""
        if max_tokens is None and max_cost is None:
            return None
        with self._lock:
            if run not in self._budgets:
                budget = Budget(max_tokens, max_cost, self.prices)
                calls().charge_to(budget, run)  # what it has spent
                self._budgets[run] = budget
            return self._budgets[run]  # the same one in all steps of the run, and for all runs that resume it

    def forget(self, run: str) -> None:
        """Drop the budget of a run that has ended."""
        with self._lock:
            self._budgets.pop(run, None)
