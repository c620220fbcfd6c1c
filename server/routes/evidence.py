"""The subgraph behind an answer, and the facts among chosen entities, for drawing a map."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from ...graph_store.graph.knowledge_graph import EdgeKey
from ...graph_store.knowledge_base import KnowledgeBase
from ...schemas.documents import Chunk, Span
from ...schemas.naming import entity_id, triple_id
from ..answers import Edge, Subgraph
from ..parameters import errors
from ..security.access import may
from .graph import Seen

router = APIRouter(prefix="/api/knowledge-bases/{kb}", tags=["graph"], dependencies=[may("read")])
_MOST = 500


class CitedSpan(BaseModel):
    """Words of a document that an answer quotes: its characters `start` to `end`."""

    model_config = ConfigDict(extra="forbid")

    document: str = Field(min_length=1, max_length=1000)
    start: int = Field(ge=0, le=2**31)
    end: int = Field(ge=0, le=2**31)


class Cited(BaseModel):
    """The citations of an answer."""

    model_config = ConfigDict(extra="forbid")

    citations: list[CitedSpan] = Field(min_length=1, max_length=100)


@router.post("/graph/evidence", responses=errors(404))
def evidence(seen: Seen, cited: Cited) -> Subgraph:
    """The facts that the cited words state, their entities, and others that these words name."""
    kb, view = seen
    facts: set[EdgeKey] = set()
    named: set[str] = set()
    for chunk, spans in _cited_chunks(kb, cited.citations):
        contribution = kb.extractions.contribution(chunk.id)
        for fact in contribution.facts if contribution else ():
            if _overlaps(chunk, fact.span, spans):
                facts.add((kb.graph.canonical(entity_id(fact.head, fact.head_type)), fact.relation,
                           kb.graph.canonical(entity_id(fact.tail, fact.tail_type))))
        for mention in contribution.mentions if contribution else ():
            if _overlaps(chunk, mention.span, spans):
                named.add(kb.graph.canonical(entity_id(mention.name, mention.type)))
    known = sorted(key for key in facts if kb.graph.network.has_edge(key[0], key[2], key[1]))
    nodes = view.known(named | {end for head, _, tail in known for end in (head, tail)})[:_MOST]
    shown = {node.id for node in nodes}
    return Subgraph(nodes=nodes, total=len(nodes), edges=[
        Edge(id=triple_id(*key), source=key[0], target=key[2], relation=key[1]) for key in known
        if key[0] in shown and key[2] in shown])


def _cited_chunks(kb: KnowledgeBase, citations: Sequence[CitedSpan]) -> Iterator[tuple[Chunk, list[CitedSpan]]]:
    """The chunks that hold cited words, each with the citations of its document."""
    of: dict[str, list[CitedSpan]] = {}
    for citation in citations:
        of.setdefault(citation.document, []).append(citation)
    ids = sorted(chunk for chunk, document in kb.documents.of_chunks().items() if document in of)
    for chunk in kb.documents.chunks(ids):
        spans = of[chunk.document_id]
        if any(span.start < chunk.end and span.end > chunk.start for span in spans):
            yield chunk, spans


def _overlaps(chunk: Chunk, span: Span, cited: Iterable[CitedSpan]) -> bool:
    """Whether a span of a chunk lies in cited words, at least in part."""
    start, end = chunk.start + span.start, chunk.start + span.end
    return any(citation.start < end and citation.end > start for citation in cited)


@router.get("/graph/among", responses=errors(404))
def among(seen: Seen, entities: Annotated[list[Annotated[str, Query(max_length=200)]],
                                          Query(alias="id", max_length=_MOST)]) -> Subgraph:
    """Some entities and the facts among them."""
    nodes = seen.view.known(dict.fromkeys(entities))
    return Subgraph(nodes=nodes, edges=seen.view.among(nodes), total=len(nodes))
