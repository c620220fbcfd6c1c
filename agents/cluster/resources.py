"""The resources of a build whose work is done on a Ray cluster."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from ...config import Settings
from ...graph_store.ledger.accounts import Calls
from ...ingest.content import Content
from ...ingest.decoding import read_bytes
from ...ingest.failures import UnreadableError
from ...ingest.fetching import Address
from ...ingest.formats import PARSED
from ...ingest.loaders import OnFailure, Reading, load_documents
from ...models.embedding.embedder import Embedder, is_served
from ...models.llm.reasoner import LlmReasoner
from ...models.parsing.parser import Parser
from ...models.reasoner import Reasoner
from ...schemas.documents import Chunk, Document
from ..resources import Resources
from .models import ClusterEmbedder, ClusterRulesReasoner, cluster_endpoint
from .workers import Workers, started


@contextmanager
def cluster_resources(resources: Resources) -> Iterator[Resources]:
    """Start workers on the joined cluster for the block, and yield resources that build with them.

    Raises:
        ClusterError: workers cannot be started, or do not fit this process.
    """
    embedding = workers_embedding(resources)
    with (started(resources.settings, resources.limits, embedding) as workers,
          ClusterResources(resources, workers, embeds=bool(embedding)) as on_cluster):
        yield on_cluster


def workers_embedding(resources: Resources) -> str:
    """Return the fingerprint of the embedding model that workers must load, or "" if they need none.

    An embedding endpoint is called from this process, within its limits, and workers cannot load an embedder that a
    program passed in.
    """
    here_alone = resources.own_embedder or is_served(resources.settings)
    return "" if here_alone else resources.embedder.fingerprint


class ClusterResources(Resources):
    """`Resources` whose builds run on workers."""

    def __init__(self, resources: Resources, workers: Workers, *, embeds: bool) -> None:
        super().__init__(resources.settings, None if embeds else resources.embedder)
        self._workers = workers
        self._embeds = embeds

    def _load_embedder(self, settings: Settings) -> Embedder:
        return ClusterEmbedder(super()._load_embedder(settings), self._workers)

    @property
    def extractions_at_once(self) -> int:
        """The number of chunks that are extracted at once."""
        return self._workers.at_once if self._by_rules else super().extractions_at_once

    @property
    def _by_rules(self) -> bool:
        """True if workers extract by the rules, which use the embedding model."""
        return self._embeds and not self.settings.uses_llm

    def read(self, paths: Sequence[Path | Address], on_failure: OnFailure) -> Iterator[Document]:
        """Read documents from files that this process finds; workers parse the formats that take long."""
        return load_documents(paths, on_failure=on_failure, limits=self.limits, read_ahead=self._read_ahead)

    def _read_ahead(self, files: Iterator[Path]) -> Iterator[Reading]:
        return self._workers.ahead(map(self._data, files), self._read)

    def _data(self, file: Path) -> tuple[str, bytes | Exception | None]:
        """Return a file's name and, if a worker should parse it, its bytes or the error of reading them; else None."""
        if file.suffix.lower() not in PARSED or not file.is_file():
            return file.name, None
        try:
            return file.name, read_bytes(file, self.limits)
        except (OSError, UnreadableError) as error:
            return file.name, error

    async def _read(self, file: tuple[str, bytes | Exception | None]) -> Reading:
        name, data = file
        content = await self._workers.compute("read", name, data) if isinstance(data, bytes) else data
        return partial(_content_or_raise, content)

    def chunk_groups(self, groups: Iterable[list[Document]]) -> Iterator[list[tuple[Document, list[Chunk]]]]:
        """Chunk groups of documents on workers, some groups ahead, and yield them in order."""
        return self._workers.ahead(groups, partial(self._workers.compute, "chunk"))

    def _make_reasoner(self, calls: Calls, models: Sequence[tuple[str, str]] = ()) -> Reasoner:
        if self._by_rules:
            return ClusterRulesReasoner(self._workers, Parser(self.settings.spacy_pipelines))
        if not self.settings.uses_llm:
            return super()._make_reasoner(calls, models)
        settings = self.settings.model_copy(update={f"llm_model_{step}": model for step, model in models})
        return LlmReasoner(settings, calls, partial(cluster_endpoint, self._workers, settings))


def _content_or_raise(content: Content | Exception | None) -> Content:
    """Return a file's content, or raise the error that reading it gave."""
    if isinstance(content, Exception):
        raise content
    if content is None:
        raise AssertionError("a file of another format is read where it is found")
    return content
