"""The workers of a build on Ray, with actors that are none: who is given what, who is lost, what is waited for."""

import asyncio
from collections import Counter
from concurrent.futures import Future
from importlib.metadata import version
from types import SimpleNamespace

import pytest
from banyan.config import Settings
from banyan.ingest.limits import Limits
from banyan.models.embedding.embedder import EmbeddingError, InstructedEmbedder, as_queries
from banyan.models.llm.endpoint import Reply
from banyan.models.reasoner import ReasonerError
from banyan.runtime.budgets import Budget, BudgetExceeded
from banyan.runtime.event_loop import process_loop

pytest.importorskip("ray", reason="Ray is not installed: pip install 'banyan-graphrag[ray]'")

from banyan.agents.cluster import workers as pool
from banyan.agents.cluster.joining import ClusterError
from banyan.agents.cluster.models import ClusterEmbedder, cluster_endpoint
from banyan.agents.cluster.resources import workers_embedding
from banyan.agents.cluster.worker import PACKAGE, Ready, Worker
from ray.exceptions import RayActorError

FITTING = Ready(version(PACKAGE), "model-1")


class Cluster:
    """Actors of this process: `work` says what each does with what it is asked."""

    def __init__(self, monkeypatch, cpus=2, ready=FITTING):
        self.actors, self.killed, self.cancelled, self.given = [], [], [], []
        self.room, self.ready, self.work = cpus, ready, None
        self.at_work, self.most = Counter(), 0
        monkeypatch.setattr(pool.ray, "available_resources", lambda: {"CPU": float(cpus)})
        monkeypatch.setattr(pool.ray, "kill", self.killed.append)
        monkeypatch.setattr(pool.ray, "cancel", self.cancelled.append)
        monkeypatch.setattr(pool, "_ACTOR", SimpleNamespace(options=lambda **_: SimpleNamespace(remote=self.make)))
        monkeypatch.setattr(pool, "_START_SECONDS", 0.2)

    def make(self, settings, limits, *, embeds):
        self.given.append(settings)
        actor = Actor(self, len(self.actors), there=len(self.actors) - len(self.killed) < self.room)
        self.actors.append(actor)
        return actor


class Actor:
    def __init__(self, cluster, number, *, there):
        self.cluster, self.number, self.there = cluster, number, there

    def __getattr__(self, method):
        return SimpleNamespace(remote=lambda *arguments: Reference(self, method, arguments))


class Reference:
    def __init__(self, actor, method, arguments):
        self.asked = actor, method, arguments

    def future(self):
        actor, method, arguments = self.asked
        future = Future()
        if method != "ready":
            asyncio.get_running_loop().create_task(self.work(future, actor, method, arguments))
        elif actor.there:
            future.set_result(actor.cluster.ready)
        return future

    async def work(self, future, actor, method, arguments):
        cluster = actor.cluster
        cluster.at_work[actor.number] += 1
        cluster.most = max(cluster.most, *cluster.at_work.values())
        await asyncio.sleep(0.01)
        cluster.at_work[actor.number] -= 1
        try:
            result = cluster.work(actor.number, method, *arguments)
        except RayActorError as error:
            future.set_exception(error)
        else:
            future.set_result(result)


def started(settings=None, embedding="model-1"):
    return pool.started(settings or Settings(_env_file=None), Limits(), embedding)


def lost_by(*numbers):
    """Work that gives back who did it; some workers are lost at it."""
    def work(number, method, *arguments):
        if number in numbers:
            raise RayActorError
        return number
    return work


def test_work_goes_to_all_and_two_pieces_at_most_to_each_at_once(monkeypatch):
    cluster = Cluster(monkeypatch, cpus=3)
    cluster.work = lost_by()
    with started() as workers:
        assert (workers.count, workers.at_once) == (3, 6)
        done = list(workers.ahead(range(30), lambda item: workers.compute("chunk", item)))
    assert set(done) == {0, 1, 2}
    assert cluster.most == 2
    assert cluster.killed == cluster.actors, "they end with the build"


def test_results_come_in_order_and_items_are_taken_as_there_is_room(monkeypatch):
    cluster = Cluster(monkeypatch)
    cluster.work = lambda number, method, item: item
    taken = []

    def items():
        for item in range(20):
            taken.append(item)
            yield item

    with started() as workers:
        results = workers.ahead(items(), lambda item: workers.compute("chunk", item))
        assert next(results) == 0
        assert len(taken) == workers.at_once
        assert list(results) == list(range(1, 20))


def test_a_lost_worker_s_work_is_done_by_another_and_it_is_replaced(monkeypatch):
    cluster = Cluster(monkeypatch)
    cluster.work = lost_by(0)
    with started() as workers:
        assert set(workers.ahead(range(10), lambda item: workers.compute("chunk", item))) == {1, 2}
        assert workers.count == 2
    assert len(cluster.actors) == 3


def test_work_that_every_worker_dies_of_ends_the_build(monkeypatch):
    Cluster(monkeypatch).work = lost_by(*range(20))
    with started() as workers, pytest.raises(ClusterError, match=r"3 workers .* were lost at the same work"):
        process_loop().run(workers.compute("chunk", []))


def test_without_any_worker_left_the_build_ends_with_what_to_do(monkeypatch):
    cluster = Cluster(monkeypatch, cpus=1)
    cluster.work = lost_by(0)
    with started() as workers:
        cluster.room = -1
        with pytest.raises(ClusterError, match="all workers of the Ray cluster were lost"):
            process_loop().run(workers.compute("chunk", []))


def test_an_error_of_the_work_is_the_caller_s(monkeypatch):
    Cluster(monkeypatch).work = lambda *_: ReasonerError("no")
    with started() as workers, pytest.raises(ReasonerError, match="no"):
        process_loop().run(workers.compute("extract", None))


@pytest.mark.parametrize(("ready", "said"), [
    (Ready("0.0.9", "model-1"), rf"has {PACKAGE} 0\.0\.9: install '{PACKAGE}\[ray\]=="),
    (Ready(version(PACKAGE), "model-2"), r"another embedding model \(model-2\) than this process \(model-1\)"),
    (EmbeddingError("the model is missing"), "cannot work: the model is missing")])
def test_a_worker_that_does_not_fit_is_refused(monkeypatch, ready, said):
    cluster = Cluster(monkeypatch, ready=ready)
    with pytest.raises(ClusterError, match=said), started():
        pass
    assert set(cluster.killed) == set(cluster.actors)


def test_a_cluster_without_room_is_an_error(monkeypatch):
    cluster = Cluster(monkeypatch, cpus=0)
    with pytest.raises(ClusterError, match="no processor of the Ray cluster became free"), started():
        pass
    assert cluster.killed == cluster.actors


def test_workers_are_given_the_key_of_the_model_and_no_other_secret(monkeypatch):
    cluster = Cluster(monkeypatch)
    secrets = {"llm_api_key": "sk-llm", "embedding_api_key": "sk-embedding", "reranker_api_key": "sk-reranker",
               "chroma_token": "token", "database_url": "postgresql+psycopg://user:password@host/base"}
    with started(Settings(_env_file=None, llm_base_url="http://127.0.0.1:9/v1", **secrets)):
        pass
    given = cluster.given[0].model_dump()
    assert {name: given[name].get_secret_value() for name in secrets} == {**dict.fromkeys(secrets, ""),
                                                                         "llm_api_key": "sk-llm"}


def test_a_call_that_is_sent_again_looks_at_the_budget_again(monkeypatch):
    """The call's reply is lost with its worker; what others paid meanwhile may have reached the budget."""
    cluster, asked = Cluster(monkeypatch), []
    budget = Budget(max_tokens=10)

    def work(number, method, model, messages, json_schema, forms):
        asked.append((number, model, forms[0]))
        if number == 0:
            budget.add("m", 10, 0)
            raise RayActorError
        return Reply("{}", 1, 1, form=forms[0])

    cluster.work = work
    settings = Settings(_env_file=None, llm_base_url="http://127.0.0.1:9/v1", llm_model="m")
    with started(settings) as workers:
        endpoint = cluster_endpoint(workers, settings, "m")
        with pytest.raises(BudgetExceeded):
            process_loop().run(endpoint.send([("user", "?")], {"title": "t"}, budget.check))
        assert asked == [(0, "m", "json_schema")]
        reply = process_loop().run(endpoint.send([("user", "?")], {"title": "t"}, lambda: None))
        assert (reply.text, reply.form) == ("{}", "json_schema")


def test_a_cancelled_call_is_cancelled_at_its_worker(monkeypatch):
    cluster = Cluster(monkeypatch)
    cluster.work = lost_by()
    with started() as workers:
        async def cancelled() -> None:
            task = asyncio.create_task(workers.call("send"))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])

        process_loop().run(cancelled())
    assert [reference.asked[1] for reference in cluster.cancelled] == ["send"]


def test_workers_have_the_embedding_model_only_where_they_can_load_it(hashed_embedder):
    def embedding(own, **settings):
        with_instructions = InstructedEmbedder(hashed_embedder, "passage: ", "query: ")
        return workers_embedding(SimpleNamespace(settings=Settings(_env_file=None, **settings), own_embedder=own,
                                                 embedder=with_instructions))

    assert embedding(own=False) == "hashed-trigrams-128:passage: "
    assert embedding(own=True) == ""
    assert embedding(own=False, embedding_base_url="http://127.0.0.1:9/v1") == ""
    assert embedding(own=False, embedding_model="openai:text-embedding-3-small") == ""


def test_many_texts_are_encoded_by_workers_and_few_here(monkeypatch, hashed_embedder):
    cluster, sizes = Cluster(monkeypatch), []

    def work(number, method, model, fingerprint, texts):
        assert (method, model, fingerprint) == ("encode", hashed_embedder.name, hashed_embedder.fingerprint)
        sizes.append(len(texts))
        return hashed_embedder.encode(texts)

    cluster.work = work
    with started() as workers:
        embedder = ClusterEmbedder(hashed_embedder, workers)
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
    worker = Worker(Settings(_env_file=None), Limits(), embeds=True)
    encoded = asyncio.run(worker.encode("one", hashed_embedder.fingerprint, ["a"]))
    assert (encoded == hashed_embedder.encode(["a"])).all()
    failed = asyncio.run(worker.encode("two", "another", ["a"]))
    assert isinstance(failed, EmbeddingError)
    assert "other files of the embedding model 'two'" in str(failed)
    assert loaded == ["one", "two"]
