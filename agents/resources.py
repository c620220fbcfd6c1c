"""What the nodes of both graphs work with: settings, models and open knowledge bases of this process."""

import atexit
import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar
from weakref import WeakSet

from ..config import Settings
from ..graph_store import moving
from ..graph_store.derive import derive, refresh_graph_and_vectors, reindex
from ..graph_store.evolution.control import Policy
from ..graph_store.evolution.elements import DecisionError, decisions_to
from ..graph_store.graph_edits import GraphEditor
from ..graph_store.knowledge_base import KnowledgeBase
from ..graph_store.layout import Layout, knowledge_bases
from ..graph_store.ledger.notes import Purpose, check_instructions
from ..graph_store.ledger.token_accounts import Calls
from ..graph_store.tree.community_digests import digests
from ..ingest.reading import MEGABYTE, Limits
from ..models.embedding.embedder import Embedder
from ..models.reranking.reranker import Reranker
from ..runtime import audit
from ..runtime.budgets import Allowance, Budget
from ..runtime.event_loop import run
from ..runtime.threads import once
from ..schemas.delta import Decision
from ..schemas.documents import EVERYTHING, Document, Scope
from ..schemas.graph_schema import GraphSchema
from ..tools.retriever import RankingModels, Retriever
from ..tools.surveys import described_groups
from .process_models import ProcessModels
from .snapshots import Snapshot, Snapshots
from .spending import Spending
from .thresholds import support_in, thresholds_in
from .writers import Writers

if TYPE_CHECKING:
    from ..ingest.fetching import Address
    from ..ingest.loaders import OnFailure

_Edited = TypeVar("_Edited")



class Resources(ProcessModels):
    """Opened once for a process and shared by its threads; everything is made when first needed."""

    def __init__(self, settings: Settings | None = None, embedder: Embedder | None = None,
                 reranker: Reranker | None = None) -> None:
        """Open nothing yet.

        Args:
            settings: None: those of the environment.
            embedder: replaces the one that the settings name.
            reranker: replaces the one that the settings name.
        """
        self.allowance_of: Callable[[str], Allowance | None] = lambda _: None
        """Of a client that runs come from, by its name; a LangGraph server sets it."""
        settings = settings or Settings()
        self.spending = Spending(settings)
        super().__init__(settings, embedder, reranker)
        _ALIVE.add(self)

    def _begin(self) -> None:
        """Begin with nothing open, also in a forked child, which cannot use its parent's connections and threads."""
        super()._begin()
        self.snapshots = Snapshots(self.settings, lambda: self.embedding, self._forget_reasoners, RankingModels(
            self._parser, lambda: self.reranker, self.settings.rerank_passages))
        self.writers = Writers(self._open_writer, self.spending.forget, self.settings.open_bases,
                               self._forget_reasoners)

    @property
    def limits(self) -> Limits:
        """How much of files and folders is read."""
        settings = self.settings
        return Limits(file_bytes=math.ceil(settings.max_file_mb * MEGABYTE), documents=settings.max_documents,
                      json_depth=settings.max_json_depth, folder_depth=settings.max_folder_depth,
                      seconds=settings.max_file_seconds, memory_mb=settings.max_file_memory_mb, fetch=settings.fetch,
                      ocr=settings.ocr)

    def read(self, paths: "Sequence[Path | Address]", on_failure: "OnFailure") -> Iterator[Document]:
        """Return the documents of files and folders (see `load_documents`)."""
        from ..ingest.loaders import load_documents  # noqa: PLC0415 - 100 modules that no question needs

        return load_documents(paths, on_failure=on_failure, limits=self.limits)

    def use_settings(self, settings: Settings) -> None:
        """Work with another model from now on; calls under way end with the one they began with.

        Args:
            settings: those in use, with another LLM; other differences are not followed everywhere.
        """
        self.settings = settings
        self.spending.follow(settings)
        self._reasoners.clear()

    def snapshot(self, name: str, scope: Scope = EVERYTHING) -> AbstractContextManager[Snapshot]:
        """Lease the newest snapshot of a knowledge base or of some of its documents (see `Snapshots.lease`)."""
        return self.snapshots.lease(name, scope)

    @contextmanager
    def retriever(self, name: str) -> Iterator[Retriever]:
        """Yield the retriever of the newest snapshot of a knowledge base, leased in the block."""
        with self.snapshot(name) as snapshot:
            yield snapshot.retriever

    def _open_writer(self, name: str, *, create: bool, any_embedding: bool) -> KnowledgeBase:
        layout = Layout.by(self.settings, name)
        return KnowledgeBase(layout if create else layout.require(), self.embedding, create=create,
                             any_embedding=any_embedding)

    def budget(self, name: str, run: str, max_tokens: int | None, max_cost: float | None) -> Budget | None:
        """Return the rest of a run's budget; None if it is unlimited."""
        return self.spending.budget(run, max_tokens, max_cost, lambda: self._calls(name))

    def _calls(self, name: str) -> Calls:
        """Return the accounts of a knowledge base: through the connection of its writer, where this process has one."""
        writer = self.writers.knowledge_base(name)
        return writer.calls if writer else self.snapshots.ledger(name).calls

    # Changes, each a run of one step that ends with all that follows from it.

    def delete_documents(self, name: str, document_ids: Sequence[str]) -> None:
        """Delete documents with all that only they support, then derive the rest anew, once for all of them.

        Raises:
            UnknownDocumentError: an id is no document's; none was deleted.
        """
        with self.writers.single_step(name) as kb:
            with kb.database.transaction():  # all or none: after a crash a caller repeats the same ids
                for document_id in document_ids:
                    kb.documents.delete(document_id)
            audit.record(self.settings.home, "delete", name,
                         f"{len(document_ids)} document{'s' * (len(document_ids) != 1)}: {', '.join(document_ids)}")
            derive(kb, self.reasoner(name), thresholds_in(kb, self.settings))
        self.snapshots.settle(name)

    def decide_entities(self, name: str, verdict: Literal["merge", "split"], names: tuple[str, str], who: str,
                        why: str = "") -> None:
        """Carry out a person's decision on two entities.

        Raises:
            EntityDecisionError: it cannot be carried out; says why, and nothing has changed.
        """
        with self.writers.single_step(name) as kb:
            kb.resolution.decide(verdict, names, who, why)
            audit.record(self.settings.home, "decide", name, f"{verdict} two entities")
            derive(kb, self.reasoner(name))

    def edit(self, name: str, change: Callable[[GraphEditor], _Edited]) -> _Edited:
        """Carry out a person's change of the graph, such as `lambda edits: edits.rename(...)`, and what follows.

        Raises:
            EntityDecisionError: it cannot be carried out; says why, and nothing has changed.
        """
        with self.writers.single_step(name) as kb:
            edited = change(kb.edits)
            audit.record(self.settings.home, "edit", name, "" if edited is None else f"number {edited}")
            derive(kb, self.reasoner(name))
            return edited

    def decide(self, name: str, decisions: Sequence[Decision], who: str) -> bool:
        """Carry out a person's decisions on the schema; returns whether it changed.

        Entities and tree are left as they are: several decisions follow each other, and `update_tree` comes after.

        Raises:
            DecisionError: one of them cannot be carried out; none was.
        """
        with self.writers.single_step(name) as kb:
            changed = kb.schema_control.decide(decisions, who, support_in(kb, self.settings))
            audit.record(self.settings.home, "decide", name, f"{len(decisions)} on the schema")
            refresh_graph_and_vectors(kb)
            return changed

    def unlink(self, name: str, field: str, who: str | None) -> None:
        """Keep the values of a field as values, although they are the keys of others; None makes them links again.

        Raises:
            DecisionError: no such values or links are in the graph.
        """
        with self.writers.single_step(name) as kb:
            known = {*kb.graph.relations(), *kb.graph.attribute_names()}
            if field not in known:
                raise DecisionError(f"there is no field {field!r}; there are: {', '.join(sorted(known))}")
            kb.schemas.set_unlinked(field, who)
            audit.record(self.settings.home, "decide", name, f"links of {field}")
            derive(kb, self.reasoner(name))

    def set_schema(self, name: str, schema: GraphSchema, who: str) -> bool:
        """Put a schema in the place of the one in force; a knowledge base is made of it where there is none.

        Returns:
            Whether it changed; entities and tree are left as they are (see `decide`).

        Raises:
            DecisionError: it cannot be put there; nothing has changed.
        """
        if name not in knowledge_bases(self.settings):
            with self.writers.single_step(name, create=True) as kb:
                kb.schemas.append(schema, (), "seed")
                audit.record(self.settings.home, "schema", name)
                return True
        with self.snapshot(name) as base:
            decisions = decisions_to(base.kb.schemas.current(), schema)
        return self.decide(name, decisions, who)

    def configure(self, name: str, growth: Policy, *, resolve: bool) -> None:
        """Set who lets a knowledge base's schema grow, and whether names are resolved, and bring it up to that."""
        with self.writers.single_step(name) as kb:
            kb.schema_control.set_policy(growth)
            kb.entities.set_active(active=resolve)
            audit.record(self.settings.home, "settings", name, f"growth {growth}, resolve {resolve}")
            derive(kb, self.reasoner(name), thresholds_in(kb, self.settings))

    def instruct(self, name: str, instructions: str, purpose: Purpose = "answers") -> None:
        """Set how a model words all answers of a knowledge base, or what it heeds when it extracts.

        Those for extraction create the knowledge base if there is none, so they hold from its first document on. What
        was extracted before stays as it is until a build with `reread`.

        Args:
            name: the knowledge base.
            instructions: the text; an empty one removes the instructions.
            purpose: what they are for.

        Raises:
            InstructionsError: they are too long.
        """
        check_instructions(instructions)
        creates = purpose == "extraction" and bool(instructions.strip())
        with self.writers.single_step(name, create=creates) as kb:
            (kb.instructions if purpose == "answers" else kb.extraction_instructions).set(instructions)
            audit.record(self.settings.home, "instructions", name, "" if purpose == "answers" else purpose)

    def update_tree(self, name: str) -> None:
        """Bring entities and tree up to the facts, where they are behind."""
        with self.writers.single_step(name) as kb:
            derive(kb, self.reasoner(name))

    def describe_groups(self, name: str, by: str, alpha: float | None, most: int) -> int:
        """Write reports on the first groups of a survey, but for those whose members' facts have a report.

        Args:
            name: the knowledge base.
            by: the survey's field or period.
            alpha: see `surveys.survey_by`.
            most: how many groups.

        Returns:
            How many reports were written.

        Raises:
            FieldError: the survey cannot be made.
            ReasonerError: the model could not be asked; what it answered until then is not paid for again.
        """
        with self.snapshot(name) as snapshot, self.writers.single_step(name) as kb:
            known = kb.communities.group_reports()
            groups = described_groups(snapshot.index, kb.schemas.current(), by, alpha, most)
            waiting = [group for group in groups if group.id not in known]
            told = digests(snapshot.index.graph, waiting)
            reports = run(self.reasoner(name).summarise, told) if waiting else []
            kb.communities.describe(
                (group.id, report.model_copy(update={"shown": (*digest.texts, *report.shown)}))
                for group, digest, report in zip(waiting, told, reports, strict=True))
            return len(waiting)

    def reindex(self, name: str, *, fresh_verdicts: bool = False,
                progress: Callable[[int, int], None] = lambda _done, _total: None) -> None:
        """Derive everything from the ledger again, with the embedding model that the settings name.

        With `auto` it is chosen again, by the documents as they are now.

        Args:
            name: the knowledge base.
            fresh_verdicts: let the model judge again which labels and which entities are the same, as if all documents
                had come at once; its extractions stay.
            progress: called with the number of finished steps, and of all.

        Raises:
            NoModelError: verdicts are to be fresh, and no model is set.
            ReasonerError: the model could not be asked about everything; a build asks for the rest.
        """
        from .construction.inputs import check_model  # noqa: PLC0415 - the loaders with it

        check_model(fresh_verdicts=fresh_verdicts, uses_llm=self.settings.uses_llm)
        self.writers.forget(name)  # a writer that is open has the model before
        try:
            with self.writers.single_step(name, any_embedding=True) as kb:
                if fresh_verdicts:
                    self._ask_labels_again(kb)
                reindex(kb, self.reasoner(name), fresh_verdicts=fresh_verdicts, progress=progress)
        except BaseException:
            self._forget_reasoners(name)  # their connection to the ledger is closed
            raise

    def _ask_labels_again(self, kb: KnowledgeBase) -> None:
        from .schema_proposal import group_labels  # noqa: PLC0415 - the extraction by a model with it

        kb.schema_control.forget_growth()
        writer = self.schema_writer(kb.layout.name)
        if writer is not None and kb.schema_control.policy == "auto":
            group_labels(kb, writer, support_in(kb, self.settings))
            kb.schema_control.grow(thresholds_in(kb, self.settings))

    # Whole knowledge bases.

    def drop(self, name: str) -> None:
        """Delete a knowledge base with all that was stored of it.

        Raises:
            UnknownKnowledgeBaseError: there is none of that name.
            WriterBusyError: something is writing to it.
        """
        self._let_go(name)
        moving.drop(Layout.by(self.settings, name))

    def rename(self, old: str, new: str) -> None:
        """Give a knowledge base another name.

        Raises:
            UnknownKnowledgeBaseError: there is none of the old name.
            KnowledgeBaseNameError: the new name is taken, or cannot be one.
            WriterBusyError: something is writing to it.
        """
        self._let_go(old)
        moving.rename(Layout.by(self.settings, old), new)

    def _let_go(self, name: str) -> None:
        self.snapshots.forget(name)
        self.writers.forget(name)

    def close(self) -> None:
        """Close every knowledge base."""
        self.snapshots.close()
        self.writers.close()
        self._reasoners.clear()

    def __enter__(self) -> "Resources":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_ALIVE: WeakSet[Resources] = WeakSet()
_OF_PARENT: list[object] = []
"""What a forked child has from its parent: if it were closed here, the parent's locks and files would suffer."""


def _begin_in_child() -> None:
    for resources in list(_ALIVE):
        _OF_PARENT.append((resources.snapshots, resources.writers, resources._reasoners))  # noqa: SLF001  (see `_begin`)
        resources._begin()  # noqa: SLF001


@atexit.register
def _close_at_exit() -> None:
    for resources in list(_ALIVE):
        resources.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_child)


@once
def default_resources() -> Resources:
    """Return the resources of this process, by the settings of its environment; made at the first call."""
    return Resources()
