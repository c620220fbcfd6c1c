"""Models that run on workers, behind the same interfaces as local ones."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...config import Settings
from ...models.embedding.embedder import Embedder, Vectors, WrappedEmbedder, as_queries, encode_distinct
from ...models.llm.capability import Form
from ...models.llm.endpoint import Endpoint, Messages, Reply, SendIn
from ...models.llm.model_calls import limited_endpoint
from ...models.parsing.parser import Parser
from ...models.rules.reasoner import RulesReasoner
from ...runtime.event_loop import process_loop
from ...schemas.errors import BanyanError
from ...schemas.extraction import Extraction, ExtractionRequest
from ...schemas.graph_schema import GraphSchema
from .workers import MOST_LOST, WorkerLostError, Workers, lost_too_many

_FEWEST = 64
"""The fewest texts that are worth sending to a worker: fewer are encoded faster here."""
_MOST = 512
"""The most texts that a worker gets at once."""


def cluster_endpoint(workers: Workers, settings: Settings, model: str) -> Endpoint:
    """Return the settings' endpoint, called by workers within the limits of this process.

    Before a worker sends a call, this process looks it up in the cache, checks the budget and waits for a free slot.
    It also stores the reply, so losing a worker loses no reply.
    """
    return _AskedAgain(limited_endpoint(settings, model, lambda settings: _sent_by(workers, settings.llm_model)))


def _sent_by(workers: Workers, model: str) -> SendIn:
    async def send(messages: Messages, json_schema: dict[str, Any], forms: Sequence[Form]) -> Reply:
        reply: Reply = await workers.call("send", model, messages, json_schema, forms)
        return reply

    return send


class _AskedAgain:
    """An `Endpoint` that repeats a call if its worker was lost, within the same limits and budget."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    async def send(self, messages: Messages, json_schema: dict[str, Any], permit: Callable[[], None]) -> Reply:
        for _ in range(MOST_LOST):
            try:
                return await self._endpoint.send(messages, json_schema, permit)
            except WorkerLostError as error:
                lost = error
        raise lost_too_many(lost)


class ClusterRulesReasoner(RulesReasoner):
    """The rules reasoner, with extraction done by workers."""

    def __init__(self, workers: Workers, parser: Parser) -> None:
        super().__init__(parser)
        self._workers = workers

    def extract(self, request: ExtractionRequest, schema: GraphSchema) -> Extraction:
        """Extract a chunk's facts on a worker; see `RulesReasoner.extract`."""
        return process_loop().run(self._extract_on_worker(request, schema))

    async def aextract(self, request: ExtractionRequest, schema: GraphSchema) -> Extraction:
        """Extract a chunk's facts on a worker without blocking a thread; see `extract`."""
        return await process_loop().arun(self._extract_on_worker(request, schema))

    async def _extract_on_worker(self, request: ExtractionRequest, schema: GraphSchema) -> Extraction:
        extraction: Extraction = await self._workers.compute("extract", request, schema)
        return extraction


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
        encoded = self._workers.ahead(([texts[row] for row in part] for part in parts),
                                      partial(self._workers.compute, "encode", self.name, self.fingerprint))
        for part, rows in zip(parts, encoded, strict=True):
            if isinstance(rows, BanyanError):
                raise rows
            vectors[part] = rows
        return vectors
