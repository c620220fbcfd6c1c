"""The derive pass: what follows from the ledger's rows, in one sequence.

Builds, deletions, edits, and decisions on the schema or on entities differ in what they write to the ledger. What is
derived follows here for all of them: schema growth, the graph, several names of one entity, vectors, communities with
their reports, `graph.json`, and the index that retrieval reads. Each part says which state of the ledger it reflects,
so what is up to date is left alone, and a pass that was killed is finished by the next one.
"""

from collections.abc import Callable
from functools import partial

from ..models.reasoner import Reasoner, ReasonerError
from ..runtime.budgets import BudgetExceeded
from ..runtime.event_loop import run
from .evolution.growth import Thresholds
from .knowledge_base import KnowledgeBase


def derive(kb: KnowledgeBase, reasoner: Reasoner, thresholds: Thresholds | None = None, *,
           of_all: bool = True) -> None:
    """Derive all that follows from the ledger's rows, and write what readers map.

    Args:
        kb: what is being written to.
        reasoner: compares doubtful entities, if it can, and describes communities.
        thresholds: let the schema grow by them first, where it grows by itself; None leaves it as it is.
        of_all: the ledger has all documents. Where it has some of another one's, the model's verdicts came with it and
            may rest on the others.

    Raises:
        BudgetExceeded, ReasonerError: the reasoner could not be asked about everything; graph and vectors are up to
            date, and what it answered until then is stored.
    """
    if kb.written_index() is None:  # there is something to derive, for which vectors are read
        kb.vector_synchroniser.clear_if_unreadable()
    if of_all:
        kb.schema_control.drop_outdated_verdicts()
    _change_schema(kb, thresholds)
    kb.refresh()
    if of_all:
        kb.resolution.drop_outdated_verdicts()
    if not reasoner.resolves:  # one sync then embeds the facts that merging makes, too
        _resolve(kb, reasoner)
    kb.sync_vectors()
    try:
        if kb.tree.is_behind():
            kb.reliability.measure()
        if reasoner.resolves:  # it is asked about entities with similar vectors
            try:
                _resolve(kb, reasoner)
            finally:
                kb.sync_vectors()
        _describe(kb, reasoner)
    except (BudgetExceeded, ReasonerError):
        kb.save_graph()  # what is done by then is whole
        raise
    kb.save_graph()
    kb.save_index()
    kb.vectors.release()
    if kb.documents.is_deleting():
        kb.printed.keep_only({entry.id for entry in kb.documents.entries()})
    kb.documents.finish_deletion()


def refresh_graph_and_vectors(kb: KnowledgeBase) -> None:
    """Bring the graph and its vectors up to the ledger's rows, and leave entities and tree as they are."""
    kb.refresh()
    kb.vector_synchroniser.sync()


def reindex(kb: KnowledgeBase, reasoner: Reasoner, *, fresh_verdicts: bool = False,
            progress: Callable[[int, int], None] = lambda _done, _total: None) -> None:
    """Derive everything anew: rows from the extractions, graph, entities, vectors, tree.

    Args:
        kb: what is being written to.
        reasoner: describes communities.
        fresh_verdicts: forget its verdicts on entities, and ask it again.
        progress: called before each step and at the end with the number of finished steps, and of all.
    """
    steps: list[Callable[[], object]] = [
        kb.schema_control.drop_outdated_verdicts, kb.schema_control.write_all, kb.refresh,
        partial(kb.resolution.drop_outdated_verdicts, all_of_them=fresh_verdicts), kb.resolution.resolve,
        kb.vector_synchroniser.rebuild, kb.reliability.measure,
        partial(kb.tree.build, partial(run, reasoner.summarise), whole=True), kb.save_graph, kb.save_index]
    if fresh_verdicts:
        steps[-3:-3] = [partial(_resolve, kb, reasoner), kb.vector_synchroniser.sync]
    for done, step in enumerate(steps):
        progress(done, len(steps))
        step()
    progress(len(steps), len(steps))


def _change_schema(kb: KnowledgeBase, thresholds: Thresholds | None) -> None:
    """Let the schema grow, where it grows by itself; what only deleted documents brought leaves it and its history."""
    if kb.documents.is_deleting():
        kb.schema_control.forget_unused_proposals()
    if thresholds is not None and kb.schema_control.policy == "auto":
        kb.schema_control.grow(thresholds)
    if kb.documents.is_deleting():
        kb.schema_control.redact_history()


def _describe(kb: KnowledgeBase, reasoner: Reasoner) -> None:
    if kb.documents.is_deleting():
        kb.tree.forget_outdated_reports()
    kb.tree.update(partial(run, reasoner.summarise))


def _resolve(kb: KnowledgeBase, reasoner: Reasoner) -> None:
    """Make one node of each entity that has several names, if the ledger has moved on since that was last done."""
    ask, fingerprint = (partial(run, reasoner.resolve), reasoner.fingerprint) if reasoner.resolves else (None, "")
    if kb.resolution.is_behind(fingerprint):
        kb.resolution.resolve(ask, fingerprint)
