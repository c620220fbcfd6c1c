"""A worker of the cluster: a separate process, possibly on another machine.

It is given all that it works with, and gives back results or the errors that are meant for the user: it opens no
knowledge base, keeps no account, and decides nothing. Settings, and the key among them, come as its arguments.
"""

import asyncio
import tempfile
import threading
from collections.abc import Awaitable, Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from ...config import Settings
from ...ingest.chunking import chunk_documents
from ...ingest.content import Content
from ...ingest.failures import UnreadableError
from ...ingest.limits import Limits
from ...ingest.reading_process import ReadingProcess
from ...models.embedding.embedder import Embedder, EmbeddingError, Vectors
from ...models.embedding.embedding_models import EmbeddingModels, default_name
from ...models.embedding.loading import load_embedder
from ...models.llm.capability import Form
from ...models.llm.endpoint import Messages, Reply, SendIn, open_client
from ...models.parsing.parser import Parser
from ...models.reasoner import ReasonerError
from ...models.rules.reasoner import RulesReasoner
from ...runtime.event_loop import process_loop
from ...schemas.documents import Chunk, Document
from ...schemas.errors import BanyanError
from ...schemas.extraction import Extraction, ExtractionRequest
from ...schemas.graph_schema import GraphSchema

PACKAGE = "banyan-graphrag"


class Ready(NamedTuple):
    """A worker's version and embedding model, reported once it has started."""

    version: str
    embedding: str
    """The fingerprint of its embedding model, or "" if it has none."""


class Worker:
    """The Ray actor. Methods that compute run in threads, which leaves the event loop free for calls to endpoints.

    Args:
        settings: the model and where it is asked, and how documents are cut.
        limits: how much of a file is read.
        embeds: whether it is to have the embedding model.
    """

    def __init__(self, settings: Settings, limits: Limits, *, embeds: bool) -> None:
        self._settings = settings
        self._embeds = embeds
        self._clients: dict[str, SendIn] = {}
        self._reading = ReadingProcess(limits)
        self._lock = threading.Lock()

    async def ready(self) -> Ready | BanyanError:
        """Load the model client and the embedding model, and return what was loaded, or the error."""
        try:
            if self._settings.uses_llm:
                await self._client(self._settings.model_of("extract"))
            return await asyncio.to_thread(
                lambda: Ready(version(PACKAGE), self._default.fingerprint if self._embeds else ""))
        except BanyanError as error:
            return error

    async def send(self, model: str, messages: Messages, json_schema: dict[str, object], forms: Sequence[Form],
                   ) -> Reply | ReasonerError:
        """Send one paid call to a model; see `ChatClient.send`."""
        try:
            client = await self._client(model)
            # Connections belong to one event loop.
            return await process_loop().arun(_wait_for(client(messages, json_schema, forms)))
        except ReasonerError as error:
            return error

    async def _client(self, model: str) -> SendIn:
        if model not in self._clients:
            # Its imports take two seconds.
            client = await asyncio.to_thread(open_client, self._settings.model_copy(update={"llm_model": model}))
            self._clients.setdefault(model, client)
        return self._clients[model]

    async def extract(self, request: ExtractionRequest, schema: GraphSchema) -> Extraction | BanyanError:
        """Extract a chunk's facts by the rules."""
        try:
            return await self._reasoner.aextract(request, schema)
        except BanyanError as error:
            return error

    async def encode(self, model: str, fingerprint: str, texts: Sequence[str]) -> Vectors | BanyanError:
        """Encode texts by the model with this fingerprint, the one that the calling process has."""
        try:
            return await asyncio.to_thread(self._encode, model, fingerprint, texts)
        except BanyanError as error:
            return error

    def _encode(self, model: str, fingerprint: str, texts: Sequence[str]) -> Vectors:
        embedder = self._models.load(model)
        if embedder.fingerprint != fingerprint:
            raise EmbeddingError(f"a worker of the Ray cluster has other files of the embedding model {model!r}: have "
                                 "the same everywhere")
        return embedder.encode(texts)

    async def chunk(self, documents: Sequence[Document]) -> list[tuple[Document, list[Chunk]]]:
        """Chunk documents."""
        return await asyncio.to_thread(chunk_documents, documents, self._settings.chunk_tokens,
                                       self._settings.chunk_overlap)

    async def read(self, name: str, data: bytes) -> Content | UnreadableError:
        """Parse a file's bytes, sent from the process that found it."""
        return await asyncio.to_thread(self._read, name, data)

    def _read(self, name: str, data: bytes) -> Content | UnreadableError:
        with tempfile.TemporaryDirectory(prefix="banyan-read-") as folder, self._lock:
            path = Path(folder) / f"file{Path(name).suffix}"
            path.write_bytes(data)
            try:
                return self._reading.read(path)
            except UnreadableError as error:
                return error

    @property
    def _default(self) -> Embedder:
        return self._models.load(default_name(self._settings))

    @cached_property
    def _models(self) -> EmbeddingModels:
        return EmbeddingModels(self._settings, load_embedder)

    @cached_property
    def _reasoner(self) -> RulesReasoner:
        return RulesReasoner(Parser(self._settings.spacy_pipelines))


async def _wait_for(call: Awaitable[Reply]) -> Reply:
    return await call
