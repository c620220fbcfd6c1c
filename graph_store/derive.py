"""The derive pass: bring everything that is derived from the ledger's rows up to date, in one sequence.

It runs after whatever changes rows, decisions or edits. Each part stores the state of the ledger that it shows: parts
that are up to date are skipped, and a pass that was killed is finished by the next one.
"""

from collections.abc import Callable
from functools import partial

from ..config import Settings
from ..models.reasoner import Reasoner, ReasonerError
from ..runtime.budgets import BudgetExceeded
from ..runtime.threads import run
from .evolution.growth import Thresholds
from .knowledge_base import KnowledgeBase

_SMALL_CORPUS = 50  # with fewer documents, few labels occur in two: one document is enough to support a new element


def derive(kb: KnowledgeBase, reasoner: Reasoner, thresholds: Thresholds | None = None, *, of_all: bool = True) -> None:
    """Bring everything derived from the ledger's rows up to date, and write the files that readers map.

    With `thresholds`, the schema may grow by itself. `of_all` is False if the ledger has a copy of only some documents:
    then verdicts of models are kept, as they may rest on the others.

    Raises BudgetExceeded or ReasonerError if the reasoner could not be asked about all; the graph is then up to date.
    """
    is_deleting = kb.documents.is_deleting()
    if of_all:  # before the schema grows, which may rest on these verdicts
        kb.schema_control.drop_outdated_verdicts()
    if is_deleting:
        kb.schema_control.forget_unused_proposals()
    if thresholds is not None and kb.schema_control.policy == "auto":
        kb.schema_control.grow(thresholds)
    if is_deleting:
        kb.schema_control.redact_history()  # after growing, which may take back what deleted documents supported
    kb.refresh()
    if of_all:
        kb.resolution.drop_outdated_verdicts()
    try:
        try:
            _merge_same_entities(kb, reasoner)
        except (BudgetExceeded, ReasonerError):
            _sync_vectors(kb)  # what was decided so far has changed the graph, too
            raise
        _sync_vectors(kb)
        if is_deleting:  # reports may have deleted text
            kb.tree.forget_outdated_reports()
        kb.tree.update(partial(run, reasoner.summarise))
    except (BudgetExceeded, ReasonerError):
        # The graph is complete, only descriptions or merges are missing; whoever opens it next makes the index.
        kb.save_graph()
        raise
    kb.save_graph()
    kb.save_index()
    if is_deleting:
        kb.printed.keep_only(set(kb.documents.titles()))
    kb.documents.finish_deletion()  # last, so that a pass that was killed does all this again


def _sync_vectors(kb: KnowledgeBase) -> None:
    """Bring the vectors up to date with the graph; if the index is, they are, as it is written after them."""
    if kb.written_index() is None:
        kb.vector_synchroniser.sync()


def refresh_graph_and_vectors(kb: KnowledgeBase) -> None:
    """Bring the graph and its vectors up to date with the ledger's rows; aliases and communities stay unchanged."""
    kb.refresh()
    kb.vector_synchroniser.sync()


def reindex(kb: KnowledgeBase, reasoner: Reasoner, *, fresh_verdicts: bool = False,
            progress: Callable[[int, int], None] = lambda _done, _total: None) -> None:
    """Derive everything anew: the admitted rows from the extractions, then graph, entities, vectors and tree.

    With `fresh_verdicts`, a model decides again which entities are the same. `progress` gets the steps done, and all.
    """
    steps: list[Callable[[], object]] = [
        kb.schema_control.drop_outdated_verdicts, kb.schema_control.write_all, kb.refresh,
        partial(kb.resolution.drop_outdated_verdicts, all_of_them=fresh_verdicts), kb.resolution.resolve,
        kb.vector_synchroniser.rebuild]
    if fresh_verdicts:  # merging changes what has to have a vector
        steps += [partial(_merge_same_entities, kb, reasoner), kb.vector_synchroniser.sync]
    steps += [partial(kb.tree.build, partial(run, reasoner.summarise), whole=True), kb.save_graph, kb.save_index]
    for done, step in enumerate(steps):
        progress(done, len(steps))
        step()
    progress(len(steps), len(steps))


def _merge_same_entities(kb: KnowledgeBase, reasoner: Reasoner) -> None:
    """Merge entities that are the same, unless that was done for the current rows; ask the reasoner if it can tell."""
    fingerprint = reasoner.fingerprint if reasoner.resolves else ""
    if kb.resolution.is_behind(fingerprint):
        kb.resolution.resolve(partial(run, reasoner.resolve) if reasoner.resolves else None, fingerprint)


def support_in(kb: KnowledgeBase, settings: Settings) -> int:
    """Return how many documents must support a candidate: the setting, else 2, or 1 in a small corpus."""
    is_small = kb.documents.count_documents() < _SMALL_CORPUS
    return settings.schema_support or (1 if is_small else 2)


def thresholds_in(kb: KnowledgeBase, settings: Settings) -> Thresholds:
    """Return the thresholds at which a candidate joins the schema of a knowledge base without a person's decision."""
    return Thresholds(confidence=settings.schema_confidence, support=support_in(kb, settings),
                      growth=settings.schema_growth)
