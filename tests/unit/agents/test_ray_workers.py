"""The workers of a build on Ray, with tasks of this process: what they get, what is waited for, what ends a build."""

import asyncio
import threading
import time
from concurrent.futures import Future, wait
from importlib.metadata import version
from types import SimpleNamespace

import pytest
from banyan.config import Settings
from banyan.ingest.reading import Limits, UnreadableError
from banyan.models.embedding.embedder import EmbeddingError, as_queries
from banyan.models.reasoner import ReasonerError
from banyan.runtime.event_loop import run

pytest.importorskip("ray", reason="Ray is not installed: pip install 'banyan-graphrag[ray]'")

from banyan.agents.cluster import ray_workers as pool
from banyan.agents.cluster.joining import ClusterError
from banyan.agents.cluster.models import ClusterEmbedder
from banyan.agents.cluster.ray_resources import has_own_embedder
from banyan.agents.cluster.worker import PACKAGE, Worker, run_task
from ray.exceptions import GetTimeoutError, RayError, RayTaskError, WorkerCrashedError


class Cluster:
    """Tasks of this process: `work` says what comes of each, but for the question which version there is."""

    def __init__(self, monkeypatch, processors=2, there=None):
        self.processors, self.there = processors, there or version(PACKAGE)
        self.work = lambda method, *arguments: method
        self.setups, self.cancelled, self.at_work, self.most = [], [], 0, 0
        monkeypatch.setattr(pool.ray, "cluster_resources", lambda: {"CPU": float(self.processors)})
        monkeypatch.setattr(pool.ray, "cancel", self.cancelled.append)
        monkeypatch.setattr(pool.ray, "ObjectRef", Task)
        monkeypatch.setattr(pool.ray, "get", get)
        monkeypatch.setattr(pool.ray, "wait", lambda tasks, timeout: wait([one.done for one in tasks], timeout))
        monkeypatch.setattr(pool, "_TASK", SimpleNamespace(remote=self.remote))
        monkeypatch.setattr(pool, "_START_SECONDS", 0.2)
        monkeypatch.setattr(pool, "_LOOK_SECONDS", 0.05)
        monkeypatch.setattr(pool, "_POLL_SECONDS", 0.05)
        self.counting = threading.Lock()

    def remote(self, setup, method, *arguments):
        self.setups.append(setup)
        task = Task(method)
        threading.Thread(target=self.carry_out, args=(task, arguments)).start()
        return task

    def carry_out(self, task, arguments):
        with self.counting:
            self.at_work += 1
            self.most = max(self.most, self.at_work)
        time.sleep(0.01)
        with self.counting:
            self.at_work -= 1
        try:
            result = self.there if task.method == "version" else self.work(task.method, *arguments)
        except RayError as error:
            task.done.set_exception(error)
        else:
            if result is not ... and not task.done.cancelled():  # never done, or given up
                task.done.set_result(result)


class Task:
    def __init__(self, method):
        self.method, self.done = method, Future()

    def future(self):
        return self.done


def get(task, timeout=None):
    try:
        return task.done.result(timeout)
    except TimeoutError:
        raise GetTimeoutError from None


def workers():
    return pool.Workers(Settings(_env_file=None), Limits())


def test_results_come_in_order_and_items_are_taken_as_there_is_room(monkeypatch):
    cluster = Cluster(monkeypatch, processors=3)
    cluster.work = lambda method, item: item
    taken, there = [], workers()

    def items():
        for item in range(20):
            taken.append(item)
            yield item

    results = there.ahead(there.start("chunk", item) for item in items())
    assert next(results) == 0
    assert len(taken) == there.at_once == 6
    assert list(results) == list(range(1, 20))
    assert 2 <= cluster.most <= 6


def test_work_that_workers_die_of_ends_the_build(monkeypatch):
    def work(method):
        raise WorkerCrashedError

    Cluster(monkeypatch).work = work
    with pytest.raises(ClusterError, match=r"were lost at the same work .* Progress is saved"):
        run(workers().compute, "chunk")


def test_without_any_processor_left_the_build_ends_with_what_to_do(monkeypatch):
    cluster, there = Cluster(monkeypatch), workers()
    cluster.work, cluster.processors = lambda method: ..., 0
    with pytest.raises(ClusterError, match="no processor of the Ray cluster is left"):
        run(there.compute, "chunk")
    assert [reference.method for reference in cluster.cancelled] == ["chunk"]


def test_an_error_for_the_user_is_raised_here_and_a_defect_is_one(monkeypatch):
    cluster, there = Cluster(monkeypatch), workers()
    cluster.work = lambda _: ReasonerError("no")
    with pytest.raises(ReasonerError, match="no"):
        run(there.compute, "extract")

    def defect(_):
        raise RayTaskError("extract", "a traceback", ValueError("x"))

    cluster.work = defect
    with pytest.raises(RayTaskError):
        run(there.compute, "extract")


def test_a_cluster_without_room_or_package_is_an_error(monkeypatch):
    cluster = Cluster(monkeypatch, there=...)
    with pytest.raises(ClusterError, match=r"no processor of the Ray cluster became free within 0\.2 s"):
        workers()
    assert [reference.method for reference in cluster.cancelled] == ["version"]

    def carry_out(task, _):
        task.done.set_exception(RayTaskError("run_task", "Traceback\nNo module named 'banyan'", ImportError("x")))

    cluster.carry_out = carry_out
    with pytest.raises(ClusterError, match=r"cannot be started .*: install '.*' on every node"):
        workers()


def test_workers_are_given_no_secret(monkeypatch):
    cluster = Cluster(monkeypatch)
    secrets = {"llm_api_key": "sk-llm", "embedding_api_key": "sk-embedding", "reranker_api_key": "sk-reranker",
               "chroma_token": "chroma-secret", "database_url": "postgresql+psycopg://user:password@host/base"}
    pool.Workers(Settings(_env_file=None, llm_base_url="http://127.0.0.1:9/v1", **secrets), Limits())
    (setup,) = cluster.setups
    assert not [secret for secret in secrets.values() if secret in "".join(setup)]
    given = Settings.model_validate_json(setup[0])
    assert {given.model_dump()[name].get_secret_value() for name in secrets} == {""}
    assert given.llm_base_url == "http://127.0.0.1:9/v1"


def test_a_cancelled_wait_cancels_the_task(monkeypatch):
    cluster, there = Cluster(monkeypatch), workers()

    async def cancelled() -> None:
        task = asyncio.create_task(there.compute("chunk"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])

    run(cancelled)
    assert [reference.method for reference in cluster.cancelled] == ["chunk"]


def test_workers_embed_only_where_they_can_load_the_model():
    def own(own, **settings):
        return has_own_embedder(SimpleNamespace(settings=Settings(_env_file=None, **settings), own_embedder=own))

    assert not own(own=False)
    assert own(own=True)
    assert own(own=False, embedding_base_url="http://127.0.0.1:9/v1")
    assert own(own=False, embedding_model="openai:text-embedding-3-small")


def test_many_texts_are_encoded_by_workers_and_few_here(monkeypatch, hashed_embedder):
    cluster, sizes = Cluster(monkeypatch), []

    def work(method, model, fingerprint, texts):
        assert (method, model, fingerprint) == ("encode", hashed_embedder.name, hashed_embedder.fingerprint)
        sizes.append(len(texts))
        return hashed_embedder.encode(texts)

    cluster.work = work
    embedder = ClusterEmbedder(hashed_embedder, workers())
    texts = [f"text {'x' * (number % 7)} {number}" for number in range(1000)]
    assert (embedder.encode(texts) == hashed_embedder.encode(texts)).all()
    assert sizes == [250] * 4
    assert (embedder.encode(texts[:9]) == hashed_embedder.encode(texts[:9])).all()
    assert embedder.encode([]).shape == (0, hashed_embedder.dimension)
    assert len(sizes) == 4
    assert as_queries(embedder) is hashed_embedder, "questions are encoded here"
    cluster.work = lambda *_: EmbeddingError("it is not installed there")
    with pytest.raises(EmbeddingError, match="it is not installed there"):
        embedder.encode(texts)


def test_a_worker_encodes_by_the_model_that_is_named_and_by_no_other_files(monkeypatch, hashed_embedder):
    loaded = []
    monkeypatch.setattr("banyan.agents.cluster.worker.load_embedder",
                        lambda settings: loaded.append(settings.embedding_model) or hashed_embedder)
    setup = Settings(_env_file=None).model_dump_json(), Limits().model_dump_json()
    encoded = run_task(setup, "encode", "one", hashed_embedder.fingerprint, ["a"])
    assert (encoded == hashed_embedder.encode(["a"])).all()
    failed = run_task(setup, "encode", "two", "another", ["a"])
    assert isinstance(failed, EmbeddingError)
    assert "other files of the embedding model 'two'" in str(failed)
    assert loaded == ["one", "two"], "one worker, whose models stay"


def test_a_file_that_cannot_be_read_is_an_error_of_that_file():
    worker = Worker(Settings(_env_file=None), Limits())
    with worker._reading:
        assert isinstance(worker.read("x.pdf", b"%PDF-1.4 broken"), UnreadableError)
