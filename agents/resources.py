"""The resources of a process, which the nodes of both graphs use: settings, models and open knowledge bases."""

import atexit
import math
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar
from weakref import WeakSet

from ..config import AskStep, Settings
from ..graph_store.derive import derive, refresh_graph_and_vectors, reindex, support_in, thresholds_in
from ..graph_store.evolution.control import Policy, decisions_to
from ..graph_store.graph_edits import GraphEditor
from ..graph_store.knowledge_base import KnowledgeBase, drop_base, rename_base
from ..graph_store.layout import Layout, knowledge_bases
from ..graph_store.ledger.database import Database
from ..graph_store.ledger.notes import Purpose, check_instructions
from ..graph_store.ledger.token_accounts import Calls
from ..graph_store.sql.engine import SqlEngine
from ..ingest.reading import MEGABYTE, Limits
from ..models.embedding.embedder import Embedder
from ..models.embedding.embedding_models import EmbeddingModels, default_name, load_embedder
from ..models.embedding.unbundled import Reranker, load_reranker
from ..models.parsing.parser import Parser
from ..models.reasoner import Reasoner
from ..runtime import audit
from ..runtime.budgets import Budget, charge_calls
from ..runtime.threads import once
from ..schemas.delta import Decision
from ..schemas.documents import EVERYTHING, Document, Scope
from ..schemas.errors import BanyanError
from ..schemas.graph_schema import GraphSchema
from ..tools.retriever import RankingModels
from ..tools.several_bases import Retrievers, open_tables
from .snapshots import JoinedSnapshots, Snapshot, Snapshots
from .writers import Spending, Writers

if TYPE_CHECKING:
    from ..ingest.folder_files import OnFailure
    from ..models.llm.batches import BatchedReasoner
    from ..models.llm.llm_reasoner import SchemaWriter
    from ..models.rules.rules_reasoner import RulesReasoner

_Edited = TypeVar("_Edited")
_RERANKED_PASSAGES = 30  # the best passages that a cross-encoder reorders
_RULES_AT_ONCE = 2  # chunks that the rules extract at once
STANDALONE_LEDGER = "calls.sqlite"  # of calls that belong to no knowledge base; none can have this name


class Resources(AbstractContextManager["Resources"]):
    """The settings, models and open knowledge bases of a process, each loaded or opened when it is first needed."""

    def __init__(self, settings: Settings | None = None, embedder: Embedder | None = None,
                 reranker: Reranker | None = None) -> None:
        """Prepare, without opening anything yet; the given models replace those that the settings name."""
        self.settings = settings or Settings()
        self.own_embedder, self._reranker = embedder, reranker
        self._models = EmbeddingModels(self.settings, self._load_embedder)
        self._parser = Parser(self.settings.spacy_pipelines)
        self.spending = Spending(lambda: self.settings)
        self._start_without_open_bases()
        _ALIVE.add(self)

    def _start_without_open_bases(self) -> None:
        """Start without reasoners, snapshots and writers; called again in a forked child."""
        self._lock = threading.RLock()
        self._reasoners: dict[str, dict[tuple[Calls | None, tuple[tuple[str, str], ...]], Reasoner]] = {}
        """The reasoners of each knowledge base, by the arguments of `_make_reasoner`."""
        self.snapshots = Snapshots(self.settings, lambda: self.embedding, self._forget_reasoners, RankingModels(
            self._parser, lambda: self.reranker, _RERANKED_PASSAGES))
        self.writers = Writers(self._open_writer, self.spending.forget, self.settings.open_bases,
                               self._forget_reasoners)

    @property
    def embedder(self) -> Embedder:
        """The embedding model for texts that belong to no knowledge base."""
        return self.own_embedder or self._models.load(default_name(self.settings))

    @property
    def embedding(self) -> Embedder | EmbeddingModels:
        """The embedding model given to this process, or those of the settings, of which each knowledge base has one."""
        return self.own_embedder or self._models

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
    def finder(self) -> "RulesReasoner":
        """The rules that find the closest quotes when a model found no answer."""
        from ..models.rules.rules_reasoner import RulesReasoner  # noqa: PLC0415

        return RulesReasoner(self._parser)

    @contextmanager
    def standalone_calls(self, token_limit: int | None = None) -> Iterator[Calls]:
        """Yield accounts for calls that belong to no knowledge base, with a limit; the home folder has their ledger."""
        self.settings.home.mkdir(parents=True, exist_ok=True)
        budget = None if token_limit is None else Budget(token_limit)
        with closing(Database(self.settings.home / STANDALONE_LEDGER)) as database, charge_calls(budget=budget):
            yield Calls(database)

    @property
    def limits(self) -> Limits:
        """The limits for reading files and folders, from the settings."""
        return Limits(file_bytes=math.ceil(self.settings.max_file_mb * MEGABYTE),
                      seconds=self.settings.max_file_seconds, ocr=self.settings.ocr)

    def read(self, paths: "Sequence[Path]", on_failure: "OnFailure",
             on_file: Callable[[str], None]) -> Iterator[Document]:
        """Yield the documents in files and folders (see `load_documents`)."""
        from ..ingest.loaders import load_documents  # noqa: PLC0415 - 100 modules that no question needs

        return load_documents(paths, on_failure=on_failure, limits=self.limits, on_file=on_file)

    def use_settings(self, settings: Settings) -> None:
        """Use another language model from now on; calls under way end with the model that they began with."""
        self.settings = settings
        self._reasoners.clear()

    def snapshot(self, name: str, scope: Scope = EVERYTHING) -> AbstractContextManager[Snapshot]:
        """Return a context that leases the newest snapshot of a knowledge base or a scope (see `Snapshots.lease`)."""
        return self.snapshots.lease(name, scope)

    def snapshots_of(self, names: str, scope: Scope = EVERYTHING) -> AbstractContextManager[JoinedSnapshots]:
        """Return a context that leases the newest snapshots of knowledge bases (see `Snapshots.lease_together`)."""
        return self.snapshots.lease_together(names, scope)

    @contextmanager
    def retrievers(self, names: str) -> Iterator[Retrievers]:
        """Yield the retrievers of the newest snapshots of knowledge bases, leased in the block."""
        with self.snapshots_of(names) as snapshots:
            yield snapshots.retrievers

    @contextmanager
    def tables_of(self, names: str, scope: Scope = EVERYTHING) -> Iterator[SqlEngine]:
        """Yield an engine for SQL over the tables of knowledge bases, those of several called BASE.TABLE."""
        with self.snapshots_of(names, scope) as snapshots, open_tables(snapshots.retrievers) as engine:
            yield engine

    def _open_writer(self, name: str, *, create: bool, any_embedding: bool) -> KnowledgeBase:
        """Open a knowledge base for writing; `Writers.step` describes the options."""
        layout = Layout.by(self.settings, name)
        return KnowledgeBase(layout if create else layout.require(), self.embedding, create=create,
                             any_embedding=any_embedding)

    def accounts(self, name: str) -> Calls:
        """Return the accounts of a knowledge base."""
        writer = self.writers.knowledge_base(name)  # another connection would wait for the writer's transaction
        return writer.calls if writer else self.snapshots.ledger(name).calls

    # Changes. Each is a run of one step, which also derives what follows from the change.

    @contextmanager
    def _change_and_derive(self, name: str, *, grows: bool = False) -> Iterator[KnowledgeBase]:
        """Yield a knowledge base for a change, and derive what follows from it; with `grows`, let the schema grow."""
        # What follows is derived also if the change is refused: an earlier command that was killed may have made the
        # change already, and derived nothing from it.
        with self.writers.single_step(name) as kb:
            try:
                yield kb
            except BanyanError:
                derive(kb, self.reasoner(name))
                kb.publish()  # here, because `single_step` publishes nothing when its block raises
                raise
            derive(kb, self.reasoner(name), thresholds_in(kb, self.settings) if grows else None)

    def _audit(self, action: audit.Action, name: str, what: str = "") -> None:
        audit.record(self.settings.home, action, name, what)

    def delete_documents(self, name: str, document_ids: Sequence[str], *, missing_ok: bool = False) -> None:
        """Delete all of some documents, and everything that only they support; none if one is not there."""
        # All are deleted or none, so after a crash the caller can repeat the call with the same ids.
        with self._change_and_derive(name, grows=True) as kb:
            kb.documents.delete(*document_ids, missing_ok=missing_ok)
            plural = "s" * (len(document_ids) != 1)
            self._audit("delete", name, f"{len(document_ids)} document{plural}: {', '.join(document_ids)}")
        self.snapshots.settle(name)

    def decide_entities(self, name: str, verdict: Literal["merge", "split"], names: tuple[str, str], who: str,
                        why: str = "") -> None:
        """Merge or split two entities, given by their names, or raise EntityDecisionError; `who` is the person."""
        with self._change_and_derive(name) as kb:
            kb.resolution.decide(verdict, names, who, why)
            self._audit("decide", name, f"{verdict} two entities")

    def edit(self, name: str, change: Callable[[GraphEditor], _Edited]) -> _Edited:
        """Apply a change such as `lambda edits: edits.rename(...)`; return its number. Raises EntityDecisionError."""
        with self._change_and_derive(name) as kb:
            number = change(kb.edits)
            self._audit("edit", name, "" if number is None else f"number {number}")  # None: it undid an edit
        return number

    def decide(self, name: str, decisions: Sequence[Decision], who: str) -> bool:
        """Apply a person's decisions on the schema, all or none; True if it changed. Call `update_tree` afterwards."""
        with self.writers.single_step(name) as kb:
            changed = kb.schema_control.decide(decisions, who, support_in(kb, self.settings))
            self._audit("decide", name, f"{len(decisions)} on the schema")
            refresh_graph_and_vectors(kb)  # entities and tree stay as they are, as further decisions usually follow
            return changed

    def set_schema(self, name: str, schema: GraphSchema, who: str) -> bool:
        """Replace the schema of a knowledge base, created if needed, as `decide` does; return True if it changed."""
        if name not in knowledge_bases(self.settings):
            with self.writers.single_step(name, create=True) as kb:
                kb.schemas.append(schema, (), "seed")
                self._audit("schema", name)
                return True
        with self.snapshot(name) as base:
            decisions = decisions_to(base.kb.schemas.current(), schema)
        return self.decide(name, decisions, who)

    def configure(self, name: str, growth: Policy, *, resolve: bool) -> None:
        """Set how the schema grows ("auto", "review" by a person, "off") and whether an entity's names are merged."""
        with self._change_and_derive(name, grows=True) as kb:
            kb.schema_control.set_policy(growth)
            kb.entities.set_active(active=resolve)
            self._audit("settings", name, f"growth {growth}, resolve {resolve}")

    def instruct(self, name: str, instructions: str, purpose: Purpose = "answers") -> None:
        """Set the instructions for answers, or for extraction from now on and with `reread`; "" removes them."""
        check_instructions(instructions)
        # Instructions for extraction may come before the first document, which is extracted by them.
        may_create = purpose == "extraction" and bool(instructions.strip())
        with self.writers.single_step(name, create=may_create) as kb:
            stored = kb.instructions if purpose == "answers" else kb.extraction_instructions
            stored.set(instructions)
            self._audit("instructions", name, "" if purpose == "answers" else purpose)

    def update_tree(self, name: str) -> None:
        """Bring entities and tree up to date with the facts."""
        with self.writers.single_step(name) as kb:
            derive(kb, self.reasoner(name))

    def reindex(self, name: str, *, fresh_verdicts: bool = False,
                progress: Callable[[int, int], None] = lambda _done, _total: None) -> None:
        """Derive everything from the ledger again, with the embedding model that the settings name or `auto` chooses.

        With `fresh_verdicts` a model judges labels and entities again. `progress` gets the steps done, and all.
        """
        from .construction.inputs import check_model  # noqa: PLC0415 - the loaders with it
        from .schema_proposal import group_labels  # noqa: PLC0415 - the extraction by a model with it

        check_model(fresh_verdicts=fresh_verdicts, uses_llm=self.settings.uses_llm)
        self.writers.forget(name)  # an open writer still uses the earlier embedding model
        try:
            with self.writers.single_step(name, any_embedding=True) as kb:
                if fresh_verdicts:
                    kb.schema_control.forget_growth()
                    writer = self.schema_writer(name)
                    # A schema that a person reviews, or that does not grow, stays without the forgotten elements.
                    if writer and kb.schema_control.policy == "auto":
                        group_labels(kb, writer, support_in(kb, self.settings))
                        kb.schema_control.grow(thresholds_in(kb, self.settings))
                reindex(kb, self.reasoner(name), fresh_verdicts=fresh_verdicts, progress=progress)
        except BaseException:
            self.writers.forget(name)  # it is open with another embedding model than the recorded one
            raise

    def drop(self, name: str) -> None:
        """Delete a knowledge base and everything that is stored for it (see `drop_base`)."""
        self._close_base(name)
        drop_base(Layout.by(self.settings, name))

    def rename(self, old: str, new: str) -> None:
        """Give a knowledge base another name (see `rename_base`)."""
        self._close_base(old)
        rename_base(Layout.by(self.settings, old), new)

    def _close_base(self, name: str) -> None:
        """Close what this process has open of a knowledge base, before its files are moved or deleted."""
        self.snapshots.forget(name)
        self.writers.forget(name)

    def close(self) -> None:
        """Close every knowledge base."""
        self.snapshots.close()
        self.writers.close()
        self._reasoners.clear()

    def __exit__(self, *_: object) -> None:
        self.close()


_ALIVE: WeakSet[Resources] = WeakSet()
_INHERITED: list[object] = []
"""The open objects that a forked child has inherited. Closing them would release the parent's locks and files."""


def _start_anew_in_child() -> None:
    """Start all resources anew in a forked child, and keep what they had open from being closed by their deletion."""
    for resources in list(_ALIVE):
        _INHERITED.append((resources.snapshots, resources.writers, resources._reasoners))  # noqa: SLF001
        resources._start_without_open_bases()  # noqa: SLF001


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew_in_child)


@atexit.register
def _close_at_exit() -> None:
    for resources in list(_ALIVE):
        resources.close()


@once
def default_resources() -> Resources:
    """Return the resources of this process with the environment's settings; the first call creates them."""
    return Resources()
