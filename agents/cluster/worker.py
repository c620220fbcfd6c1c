"""The work of the cluster's workers: Ray tasks, in separate processes that may be on other machines.

A task is given everything that it works with, and returns a result, or an error that is meant for the user. It opens no
knowledge base, calls no endpoint, keeps no account and decides nothing.
"""

import tempfile
from collections.abc import Sequence
from functools import cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ...config import Settings
from ...ingest.reading import Content, Limits, UnreadableError
from ...ingest.reading_process import ReadingProcess
from ...models.embedding.embedder import EmbeddingError, Vectors
from ...models.embedding.embedding_models import EmbeddingModels, load_embedder
from ...models.parsing.parser import Parser
from ...models.rules.rules_reasoner import RulesReasoner
from ...schemas.errors import BanyanError
from ...schemas.extraction import Extraction, ExtractionRequest
from ...schemas.graph_schema import GraphSchema

PACKAGE = "banyan-graphrag"


class ClusterError(BanyanError):
    """The cluster cannot be used: Ray is not installed, nothing answers, or its workers do not fit this process."""


class Worker:
    """The models of a worker process, loaded when they are first needed."""

    def __init__(self, settings: Settings, limits: Limits) -> None:
        self._settings = settings
        self._reading = ReadingProcess(limits)

    def version(self) -> str:
        """Return the version of Banyan that the worker has."""
        return version(PACKAGE)

    def extract(self, requests: Sequence[ExtractionRequest], schema: GraphSchema) -> list[Extraction]:
        """Extract the facts of chunks by the rules."""
        return self._reasoner.extract_together(requests, schema)

    def encode(self, model: str, fingerprint: str, texts: Sequence[str]) -> Vectors:
        """Encode texts with an embedding model, whose files must be those of the calling process: its fingerprint."""
        embedder = self._models.load(model)
        if embedder.fingerprint != fingerprint:
            raise EmbeddingError(f"a worker of the Ray cluster has other files of the embedding model {model!r}: have "
                                 "the same everywhere")
        return embedder.encode(texts)

    def read(self, name: str, data: bytes) -> Content | UnreadableError:
        """Parse the bytes of a file that another process sent; return the error if they cannot be parsed."""
        with tempfile.TemporaryDirectory(prefix="banyan-read-") as folder:
            path = Path(folder) / f"file{Path(name).suffix}"
            path.write_bytes(data)
            try:
                return self._reading.read(path)
            except UnreadableError as error:
                return error

    @cached_property
    def _models(self) -> EmbeddingModels:
        return EmbeddingModels(self._settings, load_embedder)

    @cached_property
    def _reasoner(self) -> RulesReasoner:
        return RulesReasoner(Parser(self._settings.spacy_pipelines))


@lru_cache(maxsize=1)
def _worker(settings: str, limits: str) -> Worker:
    """Return this process's worker; its models stay loaded from task to task of one build."""
    return Worker(Settings.model_validate_json(settings), Limits.model_validate_json(limits))


def run_task(setup: tuple[str, str], method: str, *arguments: Any) -> Any:
    """Call a method of this process's worker, which `setup` (the arguments of `Worker` as JSON) makes.

    If the method raises a BanyanError, the error is returned, because Ray would wrap a raised one in an error of its
    own.
    """
    try:
        return getattr(_worker(*setup), method)(*arguments)
    except BanyanError as error:
        return error
