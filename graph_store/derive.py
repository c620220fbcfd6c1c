"""The derive pass: bring everything that is derived from the ledger's rows up to date, in one sequence.

It runs after whatever changes rows, decisions or edits. Each part stores the state of the ledger that it shows: parts
that are up to date are skipped, and a pass that was killed is finished by the next one. As all is derived from rows, a
knowledge base of only some documents, which a scope names, takes a copy of their rows and no model.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from fnmatch import fnmatchcase
from functools import partial

from ..config import Settings
from ..models.reasoner import Reasoner, ReasonerError
from ..models.rules.rules_reasoner import RulesReasoner
from ..runtime.budgets import BudgetExceeded
from ..runtime.threads import run
from ..schemas.documents import Scope
from ..schemas.errors import BanyanError
from ..schemas.naming import normalise
from .evolution.growth import Thresholds
from .index.index_file import read_vectors
from .knowledge_base import KnowledgeBase
from .layout import Layout
from .ledger.database import Database
from .ledger.document_rows import Documents
from .ledger.tables import CHUNKS, METADATA, among, quote_names

_SMALL_CORPUS = 50  # with fewer documents, few labels occur in two: one document is enough to support a new element
_LISTED = 12  # names listed in a message
_IN_SERVICE = f"revision = 0 AND {among('document')}"  # the chunks of the chosen documents, without new content
_ROWS: Mapping[str, str] = {
    "documents": among("id"), "chunks": _IN_SERVICE, "meta": "key IN ('settings', 'label_verdicts')",
    # Decisions, and answers that were paid for, belong to no single document.
    **dict.fromkeys(("schema_versions", "declined", "entity_decisions", "entity_verdicts", "edits", "summaries"),
                    "1 = 1"),
    **{table.name: f"chunk IN (SELECT id FROM chunks WHERE {_IN_SERVICE})" for table in METADATA.sorted_tables  # noqa: S608
       if any(key.column.table is CHUNKS for key in table.foreign_keys)}}
"""The tables whose rows are copied, each with the SQL condition of these."""


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


class ScopeError(BanyanError):
    """A scope names no documents, or asks for metadata that no document has."""


def make_scope(base: KnowledgeBase, documents: Sequence[str], layout: Layout,
               thresholds: Callable[[KnowledgeBase], Thresholds]) -> KnowledgeBase:
    """Make and open the knowledge base of some documents of a frozen one; `thresholds` says when its schema grows."""
    layout.root.mkdir()
    with closing(Database(layout.ledger)) as ledger, ledger.transaction():
        for table in (table for table in METADATA.sorted_tables if table.name in _ROWS):
            condition, columns = _ROWS[table.name], quote_names(table.columns.keys())
            ledger.insert(table, base.database.rows(
                f"SELECT {columns} FROM {table.name} WHERE {condition}",  # noqa: S608
                **({"among": documents} if ":among" in condition else {})))  # only those conditions have this parameter
    index = base.index()
    with KnowledgeBase(layout, base.embedder) as scope, scope.writing():
        scope.vector_synchroniser.recall = lambda kind, ids: read_vectors(index, kind, ids)
        derive(scope, RulesReasoner(), thresholds(scope), of_all=False)
    return KnowledgeBase(layout, base.embedder)  # opened again, to read it without the writer's lock


def documents_in(documents: Documents, scope: Scope) -> list[str]:
    """Return the sorted ids of the documents of a scope, or raise ScopeError if it asks for what is not there."""
    names, metadata = dict[str, set[str]](), dict[str, dict[str, str]]()
    for one in documents.about():
        names[one.id] = {normalise(one.id), normalise(one.title), normalise(one.source)} - {""}
        metadata[one.id] = {normalise(key): value for key, value in one.metadata.items()}
    chosen = set(names)
    if scope.documents:
        chosen = set[str]().union(*(_match_name(names, name) for name in scope.documents))
    keys = set[str]().union(*metadata.values())
    for key, value in scope.where:
        if normalise(key) not in keys:
            raise ScopeError(f"no document has the metadata {key!r}; there are: {_list_names(keys)}")
        values = {document: metadata[document].get(normalise(key), "") for document in chosen}
        wanted = normalise(value)
        chosen = {document for document, known in values.items()
                  if known and (normalise(known) == wanted or fnmatchcase(normalise(known), wanted))}
        if not chosen:
            raise ScopeError(f"none of the {len(values)} documents has {key} = {value!r}; there are: "
                             f"{_list_names({*values.values()} - {''})}")
    return sorted(chosen)


def _match_name(names: Mapping[str, Collection[str]], name: str) -> set[str]:
    """Return the documents with a name, or else those with one, or the end of a path, that fits it as a pattern."""
    wanted = normalise(name)
    matches = {document for document, known in names.items() if wanted in known}
    matches = matches or {document for document, known in names.items() for one in known
                          if one.endswith(f"/{wanted}") or fnmatchcase(one, wanted) or fnmatchcase(one, f"*/{wanted}")}
    if not matches:
        raise ScopeError(f"no document is called {name!r}; `banyan documents` lists them")
    return matches


def _list_names(names: Collection[str]) -> str:
    """Return names for a message: the first in order, and how many more there are."""
    shown = ", ".join(sorted(names)[:_LISTED]) or "none"
    return f"{shown} and {len(names) - _LISTED} more" if len(names) > _LISTED else shown
