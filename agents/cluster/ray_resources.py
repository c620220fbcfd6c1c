"""The resources of a build on the joined Ray cluster, and the tasks of its workers, which Ray spreads over the nodes.

Workers read files, embed, and extract by the rules. A task is given all that it works with, and returns a result, or an
error that is meant for the user. It opens no knowledge base, calls no endpoint and decides nothing.
"""

import asyncio
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import ray
from pydantic import SecretStr
from ray.exceptions import RayError, RayTaskError

from ...config import Settings
from ...graph_store.ledger.token_accounts import Calls
from ...ingest.folder_files import OnFailure
from ...ingest.formats import PARSED
from ...ingest.loaders import Reading, load_documents
from ...ingest.reading import Content, Limits, UnreadableError, read_bytes
from ...ingest.reading_process import ReadingProcess
from ...models.embedding.embedder import Embedder, EmbeddingError, Vectors, as_queries, encode_distinct, is_served
from ...models.embedding.embedding_models import EmbeddingModels, load_embedder
from ...models.parsing.parser import Parser
from ...models.reasoner import Reasoner
from ...models.rules.rules_reasoner import RulesReasoner
from ...runtime.threads import check_cancelled
from ...schemas.documents import Document
from ...schemas.errors import BanyanError
from ...schemas.extraction import Extraction, ExtractionRequest
from ...schemas.graph_schema import GraphSchema
from ..resources import Resources
from . import ClusterError

PACKAGE = "banyan-graphrag"
_TASKS_PER_PROCESSOR = 2  # at once: while one is computed, the next is in transit
_POLL_SECONDS = 1.0  # between two checks in a thread whether its run was cancelled
_RETRIES = 3  # how often Ray repeats a task whose worker was lost: the task may be the cause
_SECRETS = ("database_url", "chroma_token", "llm_api_key", "embedding_api_key", "reranker_api_key")  # settings
_FEWEST_TEXTS, _MOST_TEXTS = 64, 512
"""The fewest texts that are worth sending to a worker, and the most that one gets at once."""


class Worker:
    """What a worker process computes, with models that are loaded when they are first needed."""

    def __init__(self, settings: Settings, limits: Limits) -> None:
        self._reading = ReadingProcess(limits)
        self._models = EmbeddingModels(settings, load_embedder)
        self.extract = RulesReasoner(Parser(settings.spacy_pipelines)).extract_together

    def version(self) -> str:
        """Return the version of Banyan that the worker has."""
        return version(PACKAGE)

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


@lru_cache(maxsize=1)
def _worker(settings: str, limits: str) -> Worker:
    """Return this process's worker; its models stay loaded from task to task of one build."""
    return Worker(Settings.model_validate_json(settings), Limits.model_validate_json(limits))


def run_task(setup: tuple[str, str], method: str, *arguments: Any) -> Any:
    """Call a method of this process's worker; a BanyanError is returned, as Ray would wrap one that is raised."""
    try:
        return getattr(_worker(*setup), method)(*arguments)
    except BanyanError as error:
        return error


_TASK: Any = ray.remote(num_cpus=1, max_retries=_RETRIES, scheduling_strategy="SPREAD")(run_task)


class Workers:
    """The joined cluster's worker processes; ClusterError: none can be started, or they have another version."""

    def __init__(self, settings: Settings, limits: Limits) -> None:
        no_secrets = {name: SecretStr("") for name in _SECRETS}
        # As JSON, so that a worker keeps its models for as long as these texts are the same (`_worker`).
        self._setup = settings.model_copy(update=no_secrets).model_dump_json(), limits.model_dump_json()
        amounts: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        self.at_once = _TASKS_PER_PROCESSOR * max(1, int(amounts.get("CPU", 0)))  # the number of tasks at once
        worker_version = _wait(self.start("version"))  # also fails now if no worker can be started
        if worker_version != version(PACKAGE):
            raise ClusterError(f"a worker of the Ray cluster has {PACKAGE} {worker_version}: install "
                               f"'{PACKAGE}[ray]=={version(PACKAGE)}' on every node, and start its node again")

    def start(self, method: str, *arguments: Any) -> Any:
        """Start a task in which a worker calls one of its methods (see `Worker`); return it for `iterate_results`."""
        return _TASK.remote(self._setup, method, *arguments)

    async def extract(self, requests: Sequence[ExtractionRequest], schema: GraphSchema) -> list[Extraction]:
        """Let a worker extract the facts of chunks by the rules."""
        task = self.start("extract", requests, schema)
        try:
            with _explained_errors():
                return list(_raise_if_error(await asyncio.wrap_future(task.future())))
        except asyncio.CancelledError:
            ray.cancel(task)  # no other process would end it
            raise

    def iterate_results(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Yield the results of tasks in order, with `at_once` under way; and items that are no tasks as they are."""
        pending_tasks = deque[Any]()
        try:
            for task in tasks:
                pending_tasks.append(task)
                if len(pending_tasks) >= self.at_once:
                    yield _wait(pending_tasks.popleft())
            while pending_tasks:
                yield _wait(pending_tasks.popleft())
        finally:  # on an error, or if the caller stops early
            for task in pending_tasks:
                if isinstance(task, ray.ObjectRef):
                    ray.cancel(task)


def _wait(task: Any) -> Any:
    """Wait for a task and return its result; return an item that is not a task as it is."""
    if not isinstance(task, ray.ObjectRef):
        return task
    with _explained_errors():
        while not ray.wait([task], timeout=_POLL_SECONDS)[0]:
            check_cancelled()
        return _raise_if_error(ray.get(task))


def _raise_if_error(result: Any, kind: type[Exception] = BanyanError) -> Any:
    """Return a result, but raise an error of a kind: workers return errors for the user instead of raising them."""
    if isinstance(result, kind):
        raise result
    return result


@contextmanager
def _explained_errors() -> Iterator[None]:
    """Turn Ray's errors into one for the user, except a programming error in a task: its traceback is wanted."""
    try:
        yield
    except RayTaskError:
        raise
    except RayError as error:
        raise ClusterError(f"a worker of the Ray cluster failed ({' '.join(str(error).split())[-300:]}): see Ray's "
                           "logs. Progress is saved. Run the command again to resume") from error


class ClusterResources(Resources):
    """The resources of a build on the workers of the joined cluster; language models are called from this process."""

    def __init__(self, resources: Resources) -> None:
        # Only this process can embed with an endpoint, within its limits, or with a program's own embedder.
        embeds_here = resources.own_embedder or is_served(resources.settings)
        super().__init__(resources.settings, resources.embedder if embeds_here else None)
        self._workers = Workers(self.settings, self.limits)

    def _load_embedder(self, settings: Settings) -> Embedder:
        return _ClusterEmbedder(super()._load_embedder(settings), self._workers)

    def _make_reasoner(self, calls: Calls | None, models: Sequence[tuple[str, str]] = ()) -> Reasoner:
        """Make a language model's reasoner as usual, or the rules, which then extract on the workers."""
        if self.settings.uses_llm:
            return super()._make_reasoner(calls, models)
        reasoner = RulesReasoner(self._parser)
        reasoner.extract = self._workers.extract  # type: ignore[method-assign]  # all else is computed here
        return reasoner

    @property
    def extractions_at_once(self) -> int:
        """The number of chunks that are extracted at once."""
        return super().extractions_at_once if self.settings.uses_llm else self._workers.at_once

    def read(self, paths: Sequence[Path], on_failure: OnFailure, on_file: Callable[[str], None]) -> Iterator[Document]:
        """Yield the documents in files and folders; workers parse the file formats that take long."""
        return load_documents(paths, on_failure=on_failure, limits=self.limits, read_ahead=self._read_ahead,
                              on_file=on_file)

    def _read_ahead(self, files: Iterator[Path]) -> Iterator[Reading]:
        """Yield for each file a function that returns its content or raises, while workers parse the next files."""
        def start(file: Path) -> Any:
            """Return the task that parses a file, None if this process is to read it, or the error of reading it."""
            if file.suffix.lower() not in PARSED or not file.is_file():
                return None  # other formats are quickly read
            try:
                return self._workers.start("read", file.name, read_bytes(file, self.limits))
            except (OSError, UnreadableError) as error:
                return error

        for content in self._workers.iterate_results(map(start, files)):
            yield partial(_raise_if_error, content, Exception)


class _ClusterEmbedder:
    """An `Embedder` whose large requests are divided among workers that have the same model."""

    def __init__(self, embedder: Embedder, workers: Workers) -> None:
        self.name, self.dimension, self.fingerprint = embedder.name, embedder.dimension, embedder.fingerprint
        self.queries = as_queries(embedder)  # they are few, so this process encodes them
        self._embedder, self._workers = embedder, workers

    def encode(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.encode`."""
        if len(texts) < _FEWEST_TEXTS:
            return self._embedder.encode(texts)
        return encode_distinct(texts, self._encode_on_workers)

    def _encode_on_workers(self, texts: list[str]) -> Vectors:
        """Encode texts in about as many parts as there are tasks at once."""
        texts_per_task = -(-len(texts) // self._workers.at_once)  # rounded up
        size = min(max(texts_per_task, _FEWEST_TEXTS), _MOST_TEXTS)
        tasks = (self._workers.start("encode", self.name, self.fingerprint, texts[start:start + size])
                 for start in range(0, len(texts), size))
        return np.concatenate([*self._workers.iterate_results(tasks)])
