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
    """The statements of cited text: sorted keys of facts, and ids of the entities named there."""

    facts: list[EdgeKey]
    entities: set[str]


def stated_by(index: RetrievalIndex, cited: Sequence[Cited]) -> CitedFacts:
    """Return the facts that the cited text states, and the entities that it names."""
    facts: set[EdgeKey] = set()
    named: set[str] = set()
    for chunk, spans in _cited_chunks(index.store, cited):
        facts.update(fact for fact, *place in index.graph.stated_in(chunk.id) if _overlaps(chunk, place, spans))
        named.update(entity for entity, _, *place in index.graph.mentioned_in(chunk.id)
                     if _overlaps(chunk, place, spans))
    return CitedFacts(sorted(facts), named)


def _cited_chunks(kb: KnowledgeBase, cited: Sequence[Cited]) -> Iterator[tuple[Chunk, list[Cited]]]:
    """Yield the chunks that contain cited text, each with the citations of its document."""
    of: dict[str, list[Cited]] = {}
    for place in cited:
        of.setdefault(place.document, []).append(place)
    for chunk in kb.documents.chunks_of(of):
        spans = of[chunk.document_id]
        if any(span.start < chunk.end and span.end > chunk.start for span in spans):
            yield chunk, spans


def _overlaps(chunk: Chunk, place: Sequence[int], cited: Iterable[Cited]) -> bool:
    """Return True if a place in a chunk, from its start to its end, overlaps cited text."""
    start, end = (chunk.start + character for character in place)
    return any(citation.start < end and citation.end > start for citation in cited)
