"""The facts of the graph that the words of an answer's citations state."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from ..graph_store.graph.knowledge_graph import EdgeKey
from ..graph_store.knowledge_base import KnowledgeBase
from ..schemas.documents import Chunk, Span
from ..schemas.naming import entity_id


class Cited(Protocol):
    """Words of a document that an answer quotes: its characters `start` to `end`."""

    @property
    def document(self) -> str:
        """The document's id."""
        ...

    @property
    def start(self) -> int:
        """The first character."""
        ...

    @property
    def end(self) -> int:
        """The character after the last."""
        ...


class Resolved(Protocol):
    """What documents state, as it is in the graph: a `ResolvedGraph`, or the index of one."""

    def canonical(self, entity: str, /) -> str:
        """The entity that one is part of."""
        ...

    def edge_of(self, fact: EdgeKey, /) -> EdgeKey | None:
        """The triple that a fact belongs to; None: there is none."""
        ...


class Stated(NamedTuple):
    """What cited words state: keys of facts, sorted, and ids of the entities that they name."""

    facts: list[EdgeKey]
    entities: set[str]


def stated_by(kb: KnowledgeBase, graph: Resolved, citations: Sequence[Cited]) -> Stated:
    """The facts that cited words state, and the entities that these words name.

    Args:
        kb: has what each chunk states.
        graph: its graph or its index.
        citations: the cited words.
    """
    facts: set[EdgeKey] = set()
    named: set[str] = set()
    for chunk, spans in _cited_chunks(kb, citations):
        contribution = kb.extractions.admitted.contribution(chunk)
        for fact in contribution.facts:
            said = entity_id(fact.head, fact.head_type), fact.relation, entity_id(fact.tail, fact.tail_type)
            if _overlaps(chunk, fact.span, spans) and (edge := graph.edge_of(said)):
                facts.add(edge)
        for mention in contribution.mentions:
            if _overlaps(chunk, mention.span, spans):
                named.add(graph.canonical(entity_id(mention.name, mention.type)))
    return Stated(sorted(facts), named)


def _cited_chunks(kb: KnowledgeBase, citations: Sequence[Cited]) -> Iterator[tuple[Chunk, list[Cited]]]:
    """The chunks that hold cited words, each with the citations of its document."""
    of: dict[str, list[Cited]] = {}
    for citation in citations:
        of.setdefault(citation.document, []).append(citation)
    ids = sorted(chunk for chunk, document in kb.documents.of_chunks().items() if document in of)
    for chunk in kb.documents.chunks(ids):
        spans = of[chunk.document_id]
        if any(span.start < chunk.end and span.end > chunk.start for span in spans):
            yield chunk, spans


def _overlaps(chunk: Chunk, span: Span, cited: Iterable[Cited]) -> bool:
    """Whether a span of a chunk lies in cited words, at least in part."""
    start, end = chunk.start + span.start, chunk.start + span.end
    return any(citation.start < end and citation.end > start for citation in cited)
