"""The retriever: embeds sub-queries together, runs routes, fuses; long-lived and read-only."""

from collections.abc import Collection, Sequence

import numpy as np

from ..graph_store.store import KnowledgeBase
from ..models.embedding import RememberingEmbedder
from ..schemas.retrieval import ROUTES, Evidence, Passage, Route, SubQuery
from . import community_route, dfs_route, entity_route, fusion, triple_route
from .index import RetrievalIndex
from .query import Query

# Evidence of one route for one sub-query.
_EVIDENCE = 20
# Of the latest sub-queries: more than all open questions of a busy server ask at once, and 1.5 MB.
_VECTORS_KEPT = 1000


class Retriever:
    """Evidence and ranked passages for sub-queries, over one state of a knowledge base."""

    def __init__(self, knowledge_base: KnowledgeBase) -> None:
        """Read the knowledge base into memory."""
        self.version = knowledge_base.version()
        self.index = RetrievalIndex(knowledge_base)
        # Each route and each fusion asks for the same few vectors.
        self._embedder = RememberingEmbedder(knowledge_base.embedder, _VECTORS_KEPT)

    def queries(self, sub_queries: Sequence[SubQuery]) -> list[Query]:
        """The sub-queries with their vectors; those not seen lately are embedded in one batch."""
        texts = [sub_query.question for sub_query in sub_queries]
        vectors = self._embedder.encode(texts)
        return [Query(sub_query, vector, self.index.reliability.of(text))
                for sub_query, vector, text in zip(sub_queries, vectors, texts, strict=True)]

    def search(self, route: Route, query: Query, limit: int = _EVIDENCE) -> list[Evidence]:
        """What one route finds for a query, best first."""
        if route == "entity":
            return entity_route.search(self.index, query, limit)
        if route == "triple":
            return triple_route.search(self.index, query, limit)
        if route == "community":
            return community_route.search(self.index, query, limit)
        starts = [one for found in (entity_route.search(self.index, query, limit),
                                    triple_route.search(self.index, query, limit))
                  for evidence in found[:2] for one in evidence.entity_ids]
        return dfs_route.search(self.index, query, limit, starts)

    def evidence(self, query: Query, routes: Collection[Route] = ROUTES) -> list[Evidence]:
        """What the routes find that a query asks for and that are switched on."""
        return [found for route in ROUTES if route in routes and route in query.sub_query.routes
                for found in self.search(route, query)]

    def rank(self, queries: Sequence[Query], evidence: Sequence[Sequence[Evidence]]) -> fusion.Scores:
        """The chunks' weights for several sub-queries: the best weight of each chunk, shape (chunks,).

        Each sub-query's weights are scaled to its best chunk first, so that each brings its own.
        """
        total = np.zeros(len(self.index.chunks), np.float32)
        for query, found in zip(queries, evidence, strict=True):
            weights = fusion.rank(self.index, query, found)
            best = float(weights.max(initial=0.0))
            if best > 0:
                total = np.maximum(total, weights / best)
        return total

    def ranking(self, scores: fusion.Scores, limit: int) -> list[tuple[str, float]]:
        """The best chunks as (id, weight), best first; chunks of no weight are left out."""
        order = [int(row) for row in np.argsort(-scores, kind="stable")[:limit] if scores[row] > 0]
        return [(self.index.chunks[row].id, float(scores[row])) for row in order]

    def passage(self, chunk_id: str, score: float) -> Passage:
        """A ranked chunk with its text."""
        chunk = self.index.chunks[self.index.chunk_row[chunk_id]]
        return Passage(chunk_id=chunk.id, document=chunk.document_id, title=chunk.title, text=chunk.text,
                       start=chunk.start, score=score)
