"""Knowledge bases of only some documents, which a scope names: a copy of their rows, derived without a model."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from fnmatch import fnmatchcase

from ..models.rules.rules_reasoner import RulesReasoner
from ..schemas.documents import Scope
from ..schemas.errors import BanyanError
from ..schemas.naming import normalise
from .derive import derive
from .evolution.growth import Thresholds
from .index.index_file import read_vectors
from .knowledge_base import KnowledgeBase
from .layout import Layout
from .ledger.database import Database
from .ledger.document_rows import Documents
from .ledger.tables import CHUNKS, METADATA, among, quote_names

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
