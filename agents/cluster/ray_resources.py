"""The resources of a build on a Ray cluster, with models that run on workers behind the interfaces of local ones."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...config import Settings
from ...graph_store.ledger.token_accounts import Calls
from ...ingest.decoding import read_bytes
from ...ingest.fetching import Address
from ...ingest.formats import PARSED
from ...ingest.loaders import OnFailure, Reading, load_documents
from ...ingest.reading import Content, UnreadableError
from ...models.embedding.embedder import Embedder, Vectors, WrappedEmbedder, as_queries, encode_distinct, is_served
from ...models.parsing.parser import Parser
from ...models.reasoner import Reasoner
from ...models.rules.rules_reasoner import RulesReasoner
from ...schemas.documents import Document
from ...schemas.extraction import Extraction, ExtractionRequest
from ...schemas.graph_schema import GraphSchema
from ..resources import Resources
from .ray_workers import Workers

_FEWEST = 64
"""The fewest texts that are worth sending to a worker: fewer are encoded faster here."""
_MOST = 512
"""The most texts that a worker gets at once."""


def has_own_embedder(resources: Resources) -> bool:
    """Return True if only this process can embed.

    An endpoint is called from this process, within its limits, and workers cannot load an embedder that a program
    passed in.
    """
    return resources.own_embedder or is_served(resources.settings)


class ClusterResources(Resources):
    """`Resources` whose builds run on workers of the joined cluster; calls of a model are made here, as in any build.

    Raises:
        ClusterError: workers cannot be started, or do not fit this process.
    """

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources.settings, resources.embedder if has_own_embedder(resources) else None)
        self._workers = Workers(self.settings, self.limits)

    def _load_embedder(self, settings: Settings) -> Embedder:
        return ClusterEmbedder(super()._load_embedder(settings), self._workers)

    @property
    def extractions_at_once(self) -> int:
        """The number of chunks that are extracted at once."""
        return super().extractions_at_once if self.settings.uses_llm else self._workers.at_once

    def read(self, paths: Sequence[Path | Address], on_failure: OnFailure) -> Iterator[Document]:
        """Read documents from files that this process finds; workers parse the formats that take long."""
        return load_documents(paths, on_failure=on_failure, limits=self.limits, read_ahead=self._read_ahead)

    def _read_ahead(self, files: Iterator[Path]) -> Iterator[Reading]:
        for content in self._workers.ahead(map(self._start_reading, files)):
            yield partial(_content_or_raise, content)

    def _start_reading(self, file: Path) -> Any:
        """Start parsing a file on a worker; return the error of reading it, or None if a worker is not needed."""
        if file.suffix.lower() not in PARSED or not file.is_file():
            return None
        try:
            return self._workers.start("read", file.name, read_bytes(file, self.limits))
        except (OSError, UnreadableError) as error:
            return error

    def _make_reasoner(self, calls: Calls | None, models: Sequence[tuple[str, str]] = ()) -> Reasoner:
        if self.settings.uses_llm:
            return super()._make_reasoner(calls, models)
        return ClusterRulesReasoner(self._workers, Parser(self.settings.spacy_pipelines))


def _content_or_raise(content: Content | Exception | None) -> Content:
    """Return a file's content, or raise the error that reading it gave."""
    if isinstance(content, Exception):
        raise content
    if content is None:
        raise AssertionError("a file of another format is read where it is found")
    return content


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
