"""The workers of a build on Ray, with tasks of this process: what they get, and what ends a build."""

from concurrent.futures import Future, wait
from importlib.metadata import version
from types import SimpleNamespace

import pytest
from banyan.config import Settings
from banyan.ingest.reading import Limits
from banyan.runtime.event_loop import run

pytest.importorskip("ray", reason="Ray is not installed: pip install 'banyan-graphrag[ray]'")

from banyan.agents.cluster import ClusterError
from banyan.agents.cluster import ray_resources as pool
from banyan.agents.cluster.ray_resources import PACKAGE
from ray.exceptions import RayError, WorkerCrashedError


class Cluster:
    """Tasks of this process: `work` says what comes of each, but for the question which version there is."""

    def __init__(self, monkeypatch):
        self.work = lambda method, *arguments: method
        self.setups = []
        monkeypatch.setattr(pool.ray, "cluster_resources", lambda: {"CPU": 2.0})
        monkeypatch.setattr(pool.ray, "ObjectRef", Task)
        monkeypatch.setattr(pool.ray, "get", lambda task: task.done.result())
        monkeypatch.setattr(pool.ray, "wait", lambda tasks, timeout: wait([one.done for one in tasks], timeout))
        monkeypatch.setattr(pool, "_TASK", SimpleNamespace(remote=self.remote))

    def remote(self, setup, method, *arguments):
        self.setups.append(setup)
        task = Task()
        try:
            task.done.set_result(version(PACKAGE) if method == "version" else self.work(method, *arguments))
        except RayError as error:
            task.done.set_exception(error)
        return task


class Task:
    def __init__(self):
        self.done = Future()

    def future(self):
        return self.done


def workers():
    return pool.Workers(Settings(_env_file=None), Limits())


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
