"""The resources of a build whose work is done on a Ray cluster."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ...config import Settings
from ...graph_store.ledger.token_accounts import Calls
from ...ingest.decoding import read_bytes
from ...ingest.fetching import Address
from ...ingest.formats import PARSED
from ...ingest.loaders import OnFailure, Reading, load_documents
from ...ingest.reading import Content, UnreadableError
from ...models.embedding.embedder import Embedder, is_served
from ...models.parsing.parser import Parser
from ...models.reasoner import Reasoner
from ...schemas.documents import Document
from ..resources import Resources
from .models import ClusterEmbedder, ClusterRulesReasoner
from .ray_workers import Workers


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
