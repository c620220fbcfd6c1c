"""The models of a process: embedding, reranking, and reasoners with the accounts of their calls."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from ..config import AskStep, Settings
from ..graph_store.bounding.labels import Bounds
from ..graph_store.bounding.similar_labels import SimilarLabels
from ..graph_store.ledger.database import Database
from ..graph_store.ledger.token_accounts import Calls
from ..models.embedding.embedder import Embedder
from ..models.embedding.embedding_models import EmbeddingModels, chooses, default_name, load_embedder
from ..models.parsing.parser import Parser
from ..models.reasoner import Reasoner
from ..models.reranking.reranker import Reranker, load_reranker
from ..runtime.budgets import Budget
from ..schemas.graph_schema import GraphSchema

if TYPE_CHECKING:
    from ..models.llm.batch_endpoint import BatchEndpoint
    from ..models.llm.batched_extraction import BatchedExtraction
    from ..models.llm.inferring import SchemaWriter
    from ..models.rules.answers import Answers

_RULES_AT_ONCE = 2
STANDALONE_LEDGER = "calls.sqlite"
"""Where calls are stored that belong to no knowledge base; no knowledge base can be called so."""


class ProcessModels(ABC):
    """Loaded once for a process and shared by its threads; everything is made when first needed."""

    def __init__(self, settings: Settings, embedder: Embedder | None, reranker: Reranker | None) -> None:
        """Load nothing yet.

        Args:
            settings: which models there are.
            embedder: replaces the one that the settings name.
            reranker: replaces the one that the settings name.
        """
        self.settings = settings
        self._embedder = embedder
        self._models = EmbeddingModels(settings, self._load_embedder)
        self.own_embedder = embedder is not None
        self._reranker = reranker
        self._parser = Parser(settings.spacy_pipelines)
        self._begin()

    def _begin(self) -> None:
        """Begin without reasoners, also in a forked child, which cannot use its parent's connections."""
        self._lock = threading.RLock()
        self._reasoners: dict[str, dict[tuple[Calls | None, tuple[tuple[str, str], ...]], Reasoner]] = {}
        """Of each knowledge base, by where calls are accounted and (step, model) of steps that ask another model."""

    @abstractmethod
    def _calls(self, name: str) -> Calls:
        """Return the accounts of a knowledge base."""

    @property
    def embedder(self) -> Embedder:
        """The embedding model of what belongs to no knowledge base."""
        return self._embedder or self._models.load(default_name(self.settings))

    @property
    def embedding(self) -> Embedder | EmbeddingModels:
        """The embedding model of all knowledge bases; with `auto` those of which each has its own."""
        return self._models if chooses(self.settings) and self._embedder is None else self.embedder

    def _load_embedder(self, settings: Settings) -> Embedder:
        return load_embedder(settings)

    @property
    def reranker(self) -> Reranker | None:
        """The cross-encoder, or None if the settings name no model for it.

        Raises:
            RerankerError: the model in the settings cannot be used.
        """
        with self._lock:
            if self._reranker is None:
                self._reranker = load_reranker(self.settings)
            return self._reranker

    @property
    def extractions_at_once(self) -> int:
        """How many chunks of a build are extracted at once.

        The rules keep a core busy. Calls to an endpoint have limits of their own: all of a batch wait for their turn.
        """
        return self.settings.batch_size if self.settings.uses_llm else _RULES_AT_ONCE

    def bounds(self, schema: GraphSchema) -> Bounds:
        """Return a schema prepared for bounding as in a build, outside any knowledge base."""
        return Bounds(schema, SimilarLabels(self.embedder, schema))

    def reasoner(self, name: str, models: Mapping[AskStep, str] | None = None, calls: Calls | None = None) -> Reasoner:
        """Return the reasoner of the settings: an LLM where an endpoint is set, else the rules.

        Args:
            name: the knowledge base in whose ledger calls are accounted.
            models: of steps that ask another model than the settings name (see `run_checks`).
            calls: the accounts, as of a leased snapshot; None means the writer's, where there is one.
        """
        # The rules call nothing.
        accounts = (calls or self._calls(name)) if self.settings.uses_llm else None
        chosen = accounts, tuple(sorted((models or {}).items()))
        with self._lock:
            made = self._reasoners.setdefault(name, {})
            if chosen not in made:
                made[chosen] = self._make_reasoner(*chosen)
            return made[chosen]

    def _forget_reasoners(self, name: str) -> None:
        """Let go of the reasoners of a knowledge base, whose accounts' connection is closed."""
        with self._lock:
            self._reasoners.pop(name, None)

    def schema_writer(self, name: str) -> "SchemaWriter | None":
        """Return the writer that proposes schemas and groups labels; None if no model is set."""
        if not self.settings.uses_llm:
            return None
        from ..models.llm.inferring import SchemaWriter  # noqa: PLC0415 - a second of imports

        return SchemaWriter(self.settings, self._calls(name))

    def batched_extraction(self, name: str) -> "BatchedExtraction":
        """Return what makes the extraction calls of a knowledge base as requests of a batch."""
        from ..models.llm.batched_extraction import BatchedExtraction  # noqa: PLC0415 - a second of imports

        return BatchedExtraction(self.settings, self._calls(name))

    def batch_endpoint(self) -> "BatchEndpoint":
        """Return the batches of the endpoint of extraction.

        Raises:
            ReasonerError: it cannot have any, or is not set up.
        """
        from ..models.llm.batch_endpoint import BatchEndpoint  # noqa: PLC0415 - a second of imports

        return BatchEndpoint(self.settings.for_step("extract"))

    @cached_property
    def finder(self) -> "Answers":
        """What finds the closest quotes where a model found no answer."""
        from ..models.rules.answers import Answers  # noqa: PLC0415 - a second of imports that most answers do without

        return Answers(self._parser)

    def _make_reasoner(self, calls: Calls | None, models: Sequence[tuple[str, str]] = ()) -> Reasoner:
        # Either implementation is a second of imports that the other has no use for.
        if calls is not None and self.settings.uses_llm:
            from ..models.llm.llm_reasoner import LlmReasoner  # noqa: PLC0415

            return LlmReasoner(self.settings.model_copy(
                update={f"llm_model_{step}": model for step, model in models}), calls)
        from ..models.rules.rules_reasoner import RulesReasoner  # noqa: PLC0415

        return RulesReasoner(self._parser)

    @contextmanager
    def standalone_reasoner(self, token_limit: int | None = None) -> Iterator[tuple[Reasoner, Calls]]:
        """Yield a reasoner outside any knowledge base, and the accounts of its calls.

        Responses are stored in a separate ledger in the home folder, so nothing is paid twice.

        Args:
            token_limit: no further call is paid once this many tokens were, from now on; none: unlimited.
        """
        with self.standalone_calls(token_limit) as calls:
            yield self._make_reasoner(calls), calls

    @contextmanager
    def standalone_calls(self, token_limit: int | None = None) -> Iterator[Calls]:
        """Yield the accounts of calls outside any knowledge base; as for `standalone_reasoner`."""
        self.settings.home.mkdir(parents=True, exist_ok=True)
        with closing(Database(self.settings.home / STANDALONE_LEDGER)) as database:
            yield Calls(database, None if token_limit is None else Budget(token_limit))
