"""What the nodes of both graphs work with: settings, models and open knowledge bases of this process."""

import math
import threading
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cache
from typing import Literal

from langgraph.errors import GraphBubbleUp

from ..config import Settings
from ..graph_store.bounding.labels import Bounds
from ..graph_store.bounding.similar_labels import SimilarLabels
from ..graph_store.errors import WriterBusyError
from ..graph_store.evolution.editing import KIND_NAMES
from ..graph_store.evolution.growth import Thresholds
from ..graph_store.knowledge_base import KnowledgeBase
from ..graph_store.layout import Layout, check_name
from ..graph_store.ledger.accounts import Calls
from ..graph_store.ledger.communities import Community
from ..graph_store.ledger.database import Database
from ..graph_store.ledger.version import published
from ..graph_store.tree.view_spec import parse_view
from ..ingest.limits import MEGABYTE, Limits
from ..models.embedding.embedder import Embedder, load_embedder
from ..models.reasoner import Reasoner
from ..models.reranking.reranker import Reranker, load_reranker
from ..runtime.budgets import Budget
from ..runtime.cancellation import current
from ..schemas.delta import Decision
from ..schemas.graph_schema import GraphSchema
from ..schemas.prices import Prices
from ..tools.retriever import Retriever
from .model_choice import AskStep
from .spending import Spending

STANDALONE_LEDGER = "calls.sqlite"
"""Where calls are kept that belong to no knowledge base; no knowledge base can be called so."""


class Resources:
    """Opened once for a process and shared by its threads; everything is made when first needed."""

    def __init__(self, settings: Settings | None = None, embedder: Embedder | None = None,
                 reranker: Reranker | None = None) -> None:
        """Remember the settings; `embedder` and `reranker` replace those that they name."""
        self.settings = settings or Settings()
        self._embedder = embedder
        self._reranker = reranker
        self._readers: dict[str, KnowledgeBase] = {}
        self._writers: dict[str, KnowledgeBase] = {}
        # Readers are frozen: what is new is seen, and what questions cost is written, through these.
        self._ledgers: dict[str, Database] = {}
        self._retrievers: dict[str, Retriever] = {}
        self._reasoners: dict[str, dict[tuple[tuple[str, str], ...], Reasoner]] = {}
        self._spending = Spending(self.settings)
        self._runs: dict[str, str] = {}
        self._failed: dict[str, str] = {}
        self._steps: dict[str, Counter[str]] = {}
        self._lock = threading.RLock()

    @property
    def embedder(self) -> Embedder:
        """The embedding model."""
        with self._lock:
            if self._embedder is None:
                self._embedder = load_embedder(self.settings)
            return self._embedder

    @property
    def reranker(self) -> Reranker | None:
        """The cross-encoder; None where none is set.

        Raises:
            RerankerError: the one that is set cannot be used.
        """
        with self._lock:
            if self._reranker is None:
                self._reranker = load_reranker(self.settings)
            return self._reranker

    @property
    def thresholds(self) -> Thresholds:
        """When a schema candidate is accepted without a person."""
        settings = self.settings
        return Thresholds(confidence=settings.schema_confidence, support=settings.schema_support,
                          consistency=settings.schema_consistency,
                          growth=dict.fromkeys(KIND_NAMES, settings.schema_growth))

    @property
    def limits(self) -> Limits:
        """How much of files and folders is read."""
        settings = self.settings
        return Limits(file_bytes=math.ceil(settings.max_file_mb * MEGABYTE), documents=settings.max_documents,
                      json_depth=settings.max_json_depth, folder_depth=settings.max_folder_depth)

    def bounds(self, schema: GraphSchema) -> Bounds:
        """A schema prepared for bounding as in a build, outside any knowledge base."""
        return Bounds(schema, SimilarLabels(self.embedder, schema))

    def knowledge_base(self, name: str) -> KnowledgeBase:
        """A knowledge base for reading, as its ledger has it now.

        What a caller holds never changes under its hands, and all of it is of one moment: when a run
        that wrote has ended, the next caller gets another one, and this one goes when its last reader
        lets go of it.

        Raises:
            UnknownKnowledgeBaseError: there is none of that name.
        """
        with self._lock:
            opened = self._readers.get(check_name(name))
            if (opened is None or opened.vectors.generation.lost
                    or published(opened.database) != published(self._ledger(name))):
                self._readers[name] = opened = KnowledgeBase.open(self.settings.home, name, self.embedder,
                                                                  server=self.settings.chroma_server)
                opened.freeze()
            return opened

    def _ledger(self, name: str) -> Database:
        """The ledger of an existing knowledge base as it is at any moment."""
        if name not in self._ledgers:
            self._ledgers[name] = Database(Layout.of(self.settings.home, name).require().ledger)
        return self._ledgers[name]

    def _writer(self, name: str) -> KnowledgeBase:
        """The knowledge base that this process writes to, made if there is none of that name."""
        if name not in self._writers:
            self._writers[name] = KnowledgeBase.create(self.settings.home, name, self.embedder,
                                                       server=self.settings.chroma_server)
        return self._writers[name]

    @contextmanager
    def writer(self, name: str, run: str) -> Iterator[KnowledgeBase]:
        """The knowledge base for a step of a writing run.

        The run stays its one writer from its first step to `finish`, or to a step that raises or is cancelled: an
        interrupt for a person's decision may last for days, and must not keep others out. Steps that run
        beside the one that failed end first, and such as only then begin are writers for themselves alone:
        nobody would end the run again.

        Args:
            name: the knowledge base.
            run: identifies the run.

        Raises:
            WriterBusyError: another run or process is writing to it.
            CallCancelled: the run was cancelled before this step.
        """
        knowledge_base = self._begin_step(name, run)
        try:
            current().check()  # it may have been cancelled between two steps, where nobody heard of it
            yield knowledge_base
        except BaseException as error:
            with self._lock:
                if not isinstance(error, GraphBubbleUp):
                    self._failed[name] = run
                self._end(name, run)
            raise
        else:
            if current().cancelled:  # no further step will come, nor `finish`
                with self._lock:
                    self._failed[name] = run
                    self._end(name, run)
        finally:
            with self._lock:
                self._steps[name] -= Counter([run])
                knowledge_base.release()

    def _begin_step(self, name: str, run: str) -> KnowledgeBase:
        with self._lock:
            knowledge_base, steps = self._writer(name), self._steps.setdefault(name, Counter())
            if self._runs.get(name, run) != run or steps.keys() - {run}:
                raise WriterBusyError(f"another run is writing to {name!r}; wait until it has ended")
            knowledge_base.acquire()
            if name not in self._runs and self._failed.get(name) != run:
                knowledge_base.acquire()
                self._runs[name] = run
            steps[run] += 1
            return knowledge_base

    @contextmanager
    def _whole_run(self, name: str) -> Iterator[KnowledgeBase]:
        """A writing run of a single step."""
        run = uuid.uuid4().hex
        with self.writer(name, run) as knowledge_base:
            yield knowledge_base
        self.finish(name, run)

    def finish(self, name: str, run: str) -> None:
        """End a writing run that did all it had to, if it is still the writer; readers go on to what it wrote."""
        with self._lock:
            if self._runs.get(name) == run:
                self._writers[name].publish()
                self._end(name, run)

    def abandon(self, name: str, run: str) -> None:
        """End a run that goes no further. Steps of it that are still at work keep other writers out until they end."""
        with self._lock:
            self._failed[name] = run
            self._end(name, run)

    def _end(self, name: str, run: str) -> None:
        self._spending.forget(run)
        if self._runs.get(name) == run:
            del self._runs[name]
            self._writers[name].release()

    def retriever(self, name: str) -> Retriever:
        """The retriever of a knowledge base, made again only when the knowledge base has changed."""
        with self._lock:
            knowledge_base = self.knowledge_base(name)
            made = self._retrievers.get(name)
            if made is None or made.version != knowledge_base.version():
                self._retrievers[name] = Retriever(knowledge_base)
            return self._retrievers[name]

    @property
    def prices(self) -> Prices:
        """What models cost, as the price file says.

        Raises:
            PricesError: it cannot be used.
        """
        return self._spending.prices

    def check_prices(self, max_cost: float | None) -> None:
        """Called before anything is paid: prices can be read, and are known where a cost is not to be exceeded.

        Raises:
            PricesError: they are not; names the model and the fix.
        """
        self._spending.check_prices(max_cost)

    def budget(self, name: str, run: str, max_tokens: int | None, max_cost: float | None) -> Budget | None:
        """What a run may spend, less what it has spent; None: any amount.

        Args:
            name: the knowledge base that the run writes to.
            run: identifies the run, whose parts may be in several processes.
            max_tokens: prompt and completion together.
            max_cost: in the currency of the price file.
        """
        with self._lock:
            return self._spending.budget(run, max_tokens, max_cost, lambda: self._writer(name).calls)

    def reasoner(self, name: str, models: Mapping[AskStep, str] | None = None) -> Reasoner:
        """The reasoner of the settings: an LLM where an endpoint is set, else the rules.

        Args:
            name: the knowledge base in whose ledger calls are accounted.
            models: of steps that ask another model than the settings name (see `model_choice`).
        """
        chosen = tuple(sorted((models or {}).items()))
        with self._lock:
            made = self._reasoners.setdefault(name, {})
            if chosen not in made:
                accounts = self._writers[name].calls if name in self._writers else Calls(self._ledger(name))
                made[chosen] = self._make_reasoner(accounts, chosen)
            return made[chosen]

    def _make_reasoner(self, calls: Calls, models: Sequence[tuple[str, str]] = ()) -> Reasoner:
        # Either implementation is a second of imports that the other has no use for.
        if self.settings.llm_base_url:
            from ..models.llm.reasoner import LlmReasoner  # noqa: PLC0415

            return LlmReasoner(self.settings.model_copy(
                update={f"llm_model_{step}": model for step, model in models}), calls)
        from ..models.rules.reasoner import RulesReasoner  # noqa: PLC0415

        return RulesReasoner(self.embedder)

    @contextmanager
    def standalone_reasoner(self, token_limit: int | None = None) -> Iterator[tuple[Reasoner, Calls]]:
        """A reasoner outside any knowledge base, and the accounts of its calls.

        Responses are kept in a ledger of their own in the home folder, so that nothing is paid twice.

        Args:
            token_limit: no further call is paid once this many tokens were, from now on; none: unlimited.
        """
        self.settings.home.mkdir(parents=True, exist_ok=True)
        with closing(Database(self.settings.home / STANDALONE_LEDGER)) as database:
            calls = Calls(database, None if token_limit is None else Budget(token_limit))
            yield self._make_reasoner(calls), calls

    def delete_document(self, name: str, document_id: str) -> None:
        """Delete a document, and bring the tree up to what is left.

        Raises:
            UnknownDocumentError: there is none of that id.
        """
        self.knowledge_base(name)
        with self._whole_run(name) as knowledge_base:
            knowledge_base.delete_document(document_id)
            if knowledge_base.schema_control.policy == "auto":
                knowledge_base.grow_schema(self.thresholds)
            knowledge_base.measure_reliability()
            self.resolve_entities(knowledge_base)
            knowledge_base.build_tree(self.reasoner(name).summarise)
            knowledge_base.save_graph()
            knowledge_base.settle()

    def resolve_entities(self, knowledge_base: KnowledgeBase) -> None:
        """Make one node of each thing that has several names, where the ledger has moved on since it was last done.

        Raises:
            BudgetExceeded, ReasonerError: the reasoner could not be asked about all doubtful pairs; what is
                certain, and what it said until then, counts.
        """
        reasoner = self.reasoner(knowledge_base.layout.name)
        ask, asked = (reasoner.resolve, reasoner.fingerprint) if reasoner.resolves else (None, "")
        if knowledge_base.resolution_behind(asked):
            try:
                knowledge_base.resolve_entities(ask, asked)
            finally:
                knowledge_base.sync_vectors()

    def decide_entities(self, name: str, verdict: Literal["merge", "split"], names: tuple[str, str], who: str,
                        why: str = "") -> None:
        """Carry out a person's decision on two entities, and bring the tree up to it.

        Raises:
            EntityDecisionError: it cannot be carried out; says why, and nothing has changed.
        """
        self.knowledge_base(name)
        with self._whole_run(name) as knowledge_base:
            knowledge_base.decide_entities(verdict, names, who, why)
            knowledge_base.sync_vectors()
            knowledge_base.update_tree(self.reasoner(name).summarise)
            knowledge_base.save_graph()
            knowledge_base.settle()

    def decide(self, name: str, decisions: Sequence[Decision], who: str) -> bool:
        """Carry out a person's decisions on the schema; returns whether it changed.

        The tree is left as it is: several decisions follow each other, and `update_tree` comes after.

        Raises:
            DecisionError: one of them cannot be carried out; none was.
        """
        self.knowledge_base(name)
        with self._whole_run(name) as knowledge_base:
            changed = knowledge_base.decide(decisions, who, self.settings.schema_support)
            knowledge_base.sync_vectors()
            return changed

    def update_tree(self, name: str) -> None:
        """Bring the tree up to the facts, where it is behind."""
        with self._whole_run(name) as knowledge_base:
            knowledge_base.update_tree(self.reasoner(name).summarise)
            knowledge_base.save_graph()

    def build_view(self, name: str, view: str) -> list[Community]:
        """Build a view of the graph beside the default tree, by its specification (see `graph_store.view_spec`).

        Raises:
            ViewError: there is no such view of this graph; names what there is.
        """
        stored = self.knowledge_base(name)
        spec = parse_view(view, stored.schemas.current(), stored.graph)
        with self._whole_run(name) as knowledge_base:
            return knowledge_base.build_view(spec)

    def reindex(self, name: str) -> None:
        """Make all that is derived anew, with the embedding model in use."""
        with self._lock:
            if name not in self._writers:
                self._writers[name] = KnowledgeBase.open(self.settings.home, name, self.embedder, any_embedding=True,
                                                         server=self.settings.chroma_server)
        try:
            with self._whole_run(name) as knowledge_base:
                knowledge_base.reindex(self.reasoner(name).summarise)
        except BaseException:
            # It may have been opened although its vectors are of another model, which they still are.
            with self._lock:
                if name not in self._runs:
                    self._writers.pop(name).close()
                    self._reasoners.pop(name, None)
            raise

    def close(self) -> None:
        """Close every knowledge base."""
        with self._lock:
            for knowledge_base in (*self._readers.values(), *self._writers.values()):
                knowledge_base.close()
            for ledger in self._ledgers.values():
                ledger.close()
            self._readers.clear()
            self._ledgers.clear()
            self._writers.clear()
            self._retrievers.clear()
            self._reasoners.clear()
            self._runs.clear()
            self._failed.clear()
            self._steps.clear()

    def __enter__(self) -> "Resources":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@cache
def default_resources() -> Resources:
    """The resources of this process, by the settings of its environment; made at the first call."""
    return Resources()
