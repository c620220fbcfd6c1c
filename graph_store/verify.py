"""Checking a knowledge base against its invariants."""

from collections.abc import Iterator

from ..schemas.documents import Frozen, Span
from ..schemas.naming import triple_id
from .extractions import Contribution
from .graph import KnowledgeGraph
from .store import KnowledgeBase
from .tree import relation_id
from .vectors import Kind


class Problem(Frozen):
    """Something that is not as it should be, and what mends it."""

    what: str
    mend: str


_REINDEX = "run `banyan reindex`"
_RESTORE = "restore the knowledge base from a copy, or build it anew"


def verify(knowledge_base: KnowledgeBase) -> list[Problem]:
    """Check a knowledge base as it is on disk.

    Returns:
        What is wrong: with the ledger's file; facts whose span does not quote its source or that do
        not fit the schema in force; a graph, vectors or tree that are not what the ledger gives.
        Empty when all is well.
    """
    return [*_ledger(knowledge_base), *_facts(knowledge_base), *_graph(knowledge_base),
            *_vectors(knowledge_base), *_tree(knowledge_base)]


def _ledger(kb: KnowledgeBase) -> Iterator[Problem]:
    for line in kb.database.integrity_problems():
        yield Problem(what=f"the ledger: {line}", mend=_RESTORE)


def _facts(kb: KnowledgeBase) -> Iterator[Problem]:
    schema = kb.schemas.current() if kb.schemas.version() else None
    for chunk in kb.documents.chunks():
        found = kb.extractions.contribution(chunk.id) or Contribution()
        where = f"document {chunk.document_id!r}, chunk {chunk.ordinal}"
        spans: list[Span] = [*(item.span for item in found.mentions), *(item.span for item in found.facts),
                             *(item.span for item in found.attributes)]
        for span in spans:
            if chunk.text[span.start:span.end] != span.quote:
                yield Problem(what=f"{where}: {span.quote!r} does not stand at {span.start}..{span.end}",
                              mend=_RESTORE)
        for fact in found.facts:
            if schema is None or not schema.fits(fact.head_type, fact.relation, fact.tail_type):
                yield Problem(what=f"{where}: ({fact.head}; {fact.relation}; {fact.tail}) does not fit the schema",
                              mend=_REINDEX)
        for value in found.attributes:
            if schema is None or not schema.fits_attribute(value.entity_type, value.attribute):
                yield Problem(what=f"{where}: ({value.entity}; {value.attribute}) does not fit the schema",
                              mend=_REINDEX)


def _graph(kb: KnowledgeBase) -> Iterator[Problem]:
    fresh = KnowledgeGraph()
    for chunk_id, contribution in kb.extractions.contributions():
        fresh.replace(chunk_id, contribution)
    if fresh.dump() != kb.graph.dump():
        yield Problem(what="the graph is not what the ledger's facts give", mend=_REINDEX)


def _vectors(kb: KnowledgeBase) -> Iterator[Problem]:
    edges = kb.graph.edges()
    wanted: dict[Kind, set[str]] = {
        "entities": set(kb.graph.entity_ids()), "triples": {triple_id(*edge) for edge in edges},
        "relations": {relation_id(relation) for _, relation, _ in edges},
        "chunks": {chunk.id for chunk in kb.documents.chunks()
                   if kb.documents.status(chunk.id) == "done"},
        "communities": {community.id for community in kb.communities.searchable()}}
    for kind, ids in wanted.items():
        there = kb.vectors.ids(kind)
        # A relation's vector outlives its last triple until the next reindex; it does no harm.
        extra = set() if kind == "relations" else there - ids
        if ids - there or extra:
            yield Problem(what=f"the vectors of the {kind}: {len(ids - there)} missing, {len(extra)} left over",
                          mend=_REINDEX)


def _tree(kb: KnowledgeBase) -> Iterator[Problem]:
    if kb.tree_behind():
        return  # no community claims to describe the graph as it is now
    members = [one for community in kb.communities.all() for one in community.members]
    if sorted(members) != kb.graph.entity_ids():
        yield Problem(what="the communities do not partition the entities", mend=_REINDEX)
