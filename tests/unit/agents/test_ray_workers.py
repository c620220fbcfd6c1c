"""The workers of a build on Ray, with tasks of this process: what they get, what is waited for, what ends a build."""

import asyncio
import threading
import time
from concurrent.futures import Future, wait
from importlib.metadata import version
from types import SimpleNamespace

import pytest
from banyan.config import Settings
from banyan.ingest.reading import Limits
from banyan.runtime.event_loop import run

pytest.importorskip("ray", reason="Ray is not installed: pip install 'banyan-graphrag[ray]'")

from banyan.agents.cluster import ray_resources as pool
from banyan.agents.cluster.worker import PACKAGE, ClusterError
from ray.exceptions import RayError, WorkerCrashedError


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


def get(task):
    return task.done.result()


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

    results = there.iterate_results(there.start("chunk", item) for item in items())
    assert next(results) == 0
    assert len(taken) == there.at_once == 6
    assert list(results) == list(range(1, 20))
    assert 2 <= cluster.most <= 6


def test_work_that_workers_die_of_ends_the_build(monkeypatch):
    def work(method):
        raise WorkerCrashedError

    Cluster(monkeypatch).work = work
    with pytest.raises(ClusterError, match=r"a worker of the Ray cluster failed .* Progress is saved"):
        run(workers().compute, "chunk")


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
