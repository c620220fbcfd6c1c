"""Facts of the graph that support an answer: those stated by its citations."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pydantic import Field

from ..graph_store.graph.knowledge_graph import EdgeKey
from ..graph_store.knowledge_base import KnowledgeBase
from ..schemas.documents import Chunk, Citation, Frozen
from ..tools.index import RetrievalIndex


class CitedPlace(Frozen):
    """A quoted source of an answer: characters `start` to `end` of a document."""

    document: str = Field(min_length=1, max_length=1000)
    start: int = Field(ge=0, le=2**31)
    end: int = Field(ge=0, le=2**31)


Cited = CitedPlace | Citation


class CitedFacts(NamedTuple):
    """What cited text states: the keys of facts, sorted, and the ids of the entities that it names."""

    facts: list[EdgeKey]
    entities: set[str]


def stated_by(index: RetrievalIndex, cited: Sequence[Cited]) -> CitedFacts:
    """Return the facts that the cited text states, and the entities that it names."""
    facts: set[EdgeKey] = set()
    entities: set[str] = set()
    for chunk, citations in _cited_chunks(index.store, cited):
        facts.update(fact for fact, *span in index.graph.stated_in(chunk.id) if _overlaps(chunk, span, citations))
        entities.update(entity for entity, _, *span in index.graph.mentioned_in(chunk.id)
                        if _overlaps(chunk, span, citations))
    return CitedFacts(sorted(facts), entities)


def _cited_chunks(kb: KnowledgeBase, cited: Sequence[Cited]) -> Iterator[tuple[Chunk, list[Cited]]]:
    """Yield the chunks that contain cited text, each with all citations of its document."""
    by_document: dict[str, list[Cited]] = {}
    for citation in cited:
        by_document.setdefault(citation.document, []).append(citation)
    for chunk in kb.documents.chunks_of(by_document):
        citations = by_document[chunk.document_id]
        if any(citation.start < chunk.end and citation.end > chunk.start for citation in citations):
            yield chunk, citations


def _overlaps(chunk: Chunk, span: Sequence[int], cited: Iterable[Cited]) -> bool:
    """Return True if a span of a chunk, (start, end) in the chunk's characters, overlaps cited text."""
    start, end = (chunk.start + offset for offset in span)
    return any(citation.start < end and citation.end > start for citation in cited)
