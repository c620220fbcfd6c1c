"""Models that run on workers, behind the same interfaces as local ones."""

from collections.abc import Sequence

import numpy as np

from ...models.embedding.embedder import Embedder, Vectors, WrappedEmbedder, as_queries, encode_distinct
from ...models.parsing.parser import Parser
from ...models.rules.rules_reasoner import RulesReasoner
from ...schemas.extraction import Extraction, ExtractionRequest
from ...schemas.graph_schema import GraphSchema
from .ray_workers import Workers

_FEWEST = 64
"""The fewest texts that are worth sending to a worker: fewer are encoded faster here."""
_MOST = 512
"""The most texts that a worker gets at once."""


class ClusterRulesReasoner(RulesReasoner):
    """The rules reasoner, with extraction done by workers."""

    def __init__(self, workers: Workers, parser: Parser) -> None:
        super().__init__(parser)
        self._workers = workers

    async def extract(self, requests: Sequence[ExtractionRequest], schema: GraphSchema) -> list[Extraction]:
        """Extract facts on workers; see `RulesReasoner.extract`."""
        found: list[Extraction] = await self._workers.compute("extract", requests, schema)
        return found


class ClusterEmbedder(WrappedEmbedder):
    """An `Embedder` whose large requests are divided among workers that have the same model.

    Args:
        embedder: the model in this process.
        workers: workers that have the same model.
    """

    def __init__(self, embedder: Embedder, workers: Workers) -> None:
        super().__init__(embedder)
        self._workers = workers

    def encode(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.encode`."""
        if len(texts) < _FEWEST:
            return self._embedder.encode(texts)
        return encode_distinct(texts, self._encode)

    @property
    def queries(self) -> Embedder:
        """The embedder of questions, which are few and encoded in this process."""
        return as_queries(self._embedder)

    def _encode(self, texts: list[str]) -> Vectors:
        # Texts of similar length are encoded fastest together.
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
        size = min(_MOST, max(_FEWEST, -(-len(texts) // self._workers.at_once)))
        parts = [order[start:start + size] for start in range(0, len(order), size)]
        vectors = np.empty((len(texts), self.dimension), np.float32)
        encoded = self._workers.ahead(self._workers.start("encode", self.name, self.fingerprint,
                                                          [texts[row] for row in part]) for part in parts)
        for part, rows in zip(parts, encoded, strict=True):
            vectors[part] = rows
        return vectors
