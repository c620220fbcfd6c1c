"""What has to happen after the ledger has changed.

Builds, deletions, and decisions on the schema or on entities differ in what they write to the ledger. Everything that
is derived from it is brought up to date here, in one sequence for all of them. It needs no state of its own: the ledger
says how far each part has come, so a sequence that was killed is taken up by the next one, whatever that is part of.
"""

from ..models.reasoner import Reasoner, ReasonerError
from ..runtime.budgets import BudgetExceeded
from .evolution.growth import Thresholds
from .knowledge_base import KnowledgeBase


def follow_facts(kb: KnowledgeBase) -> None:
    """Bring the graph and its vectors up to the ledger's facts: all that readers and the next batch of a build need."""
    kb.refresh()
    kb.vector_synchroniser.sync()


def bring_up_to_date(kb: KnowledgeBase, reasoner: Reasoner, thresholds: Thresholds | None = None) -> None:
    """Bring up all that is derived from the ledger: schema, graph, vectors, entities, tree.

    Args:
        kb: what is being written to.
        reasoner: compares doubtful entities, if it can, and describes communities.
        thresholds: let the schema grow by them first, where it grows by itself; None: it stays as it is.

    Raises:
        BudgetExceeded, ReasonerError: the reasoner could not be asked about everything; graph, vectors and snapshot
            are up to date, and what it answered until then is kept.
    """
    if thresholds is not None and kb.schema_control.policy == "auto":
        kb.schema_control.grow(thresholds)
    kb.refresh()
    if not reasoner.resolves:  # then names that become aliases are never embedded
        _resolve(kb, reasoner)
    kb.vector_synchroniser.sync()
    try:
        _follow_graph(kb, reasoner)
    except (BudgetExceeded, ReasonerError):
        kb.save_graph()  # what is done by then is whole
        raise
    # Not before the vectors: those that are older than the snapshot have to be compared with the whole graph.
    kb.save_graph()
    kb.save_index()


def _follow_graph(kb: KnowledgeBase, reasoner: Reasoner) -> None:
    """Bring up entities and tree, whose vectors are there."""
    if kb.tree.is_behind():
        kb.reliability.measure()
    if reasoner.resolves:  # it is asked about entities with similar vectors
        try:
            _resolve(kb, reasoner)
        finally:
            kb.vector_synchroniser.sync()
    kb.tree.update(reasoner.summarise)


def reindex(kb: KnowledgeBase, reasoner: Reasoner) -> None:
    """Derive everything from the ledger again: contributions, graph, entities, vectors, tree.

    The old vectors stay in service until the new ones are complete, and open for their readers for a while longer.
    """
    kb.schema_control.write_all()
    kb.graph_synchroniser.clear()
    kb.refresh()
    kb.resolution.resolve()
    kb.vector_synchroniser.rebuild()
    kb.reliability.measure()
    kb.tree.build(reasoner.summarise)
    kb.save_graph()
    kb.save_index()


def _resolve(kb: KnowledgeBase, reasoner: Reasoner) -> None:
    """Make one node of each entity that has several names, if the ledger has moved on since that was last done."""
    ask, fingerprint = (reasoner.resolve, reasoner.fingerprint) if reasoner.resolves else (None, "")
    if kb.resolution.is_behind(fingerprint):
        kb.resolution.resolve(ask, fingerprint)
