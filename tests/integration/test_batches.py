"""Builds through OpenAI's Batch interface: `banyan build --batch`, over the scripted endpoint."""

import asyncio
import json
import logging
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import banyan
import pytest
from banyan.agents.construction import batched_calls
from banyan.agents.construction.state import BuildContext
from banyan.agents.estimate import estimate_build
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.graph_store.ledger.open_batches import read_open_batches
from banyan.models.llm.breaker import EndpointFailed
from banyan.models.llm.limits import process_endpoints
from banyan.models.reasoner import ReasonerError

from .. import command_line, llm_server, warm_start
from ..hashed_embedding import HashedEmbedder

pytestmark = pytest.mark.integration

ENGLISH = command_line.EXAMPLES / "en"
FEW = [ENGLISH / name for name in ("marie-curie.md", "niels-bohr.md", "otto-hahn.md", "polonium.md", "stockholm.md",
                                 "vistula.md", "warsaw.md")]
PRICE = {"prompt": 2.0, "completion": 8.0}
TOOK = {"tokens", "cached_tokens", "wasted_tokens", "cost", "seconds", "kb"}


@pytest.fixture
def server(monkeypatch) -> Iterator[Any]:
    monkeypatch.setattr(batched_calls, "FIRST_WAIT", 0.05)
    with llm_server.LlmServer(batches=True) as running:
        yield running


@pytest.fixture
def home(tmp_path, server) -> "Home":
    return Home(tmp_path, server.base_url)


class Home:
    """A home folder with builds of few documents, each as a process of its own would run it."""

    def __init__(self, folder: Path, base_url: str) -> None:
        prices = folder / "prices.json"
        prices.write_text(json.dumps({"scripted": PRICE}))
        self.settings = Settings(_env_file=None, home=folder, llm_base_url=base_url, llm_model="scripted",
                                 llm_retries=0, extract_tokens=300, prices=prices)

    def add(self, name: str = "kb", *, schema: str = "general", documents: Any = FEW, **options: Any) -> Any:
        process_endpoints.cache.clear()  # what another process has learnt of the endpoint
        with self.resources() as resources, banyan.open(name, resources=resources) as kb:
            context = BuildContext(**{key: options.pop(key) for key in ("max_tokens", "max_cost") if key in options})
            return kb.add(*documents, schema=schema, context=context, **options)

    def resources(self) -> Any:
        return Resources(self.settings, HashedEmbedder())

    def open_batches(self) -> Any:
        with self.resources() as resources:
            return read_open_batches(resources.readers.ledger("kb"))


def _built(report: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in report.items() if key not in TOOK}


def test_a_build_by_batch_equals_the_ordinary_one_for_half_the_price(home, server):
    usual = home.add("usual")
    extractions = server.stats.steps["extraction"]
    report = home.add("kb", batch=True)
    assert _built(report) == _built(usual)
    assert report["tokens"] == usual["tokens"]
    (requests,) = server.batches.submitted.values()
    assert len(requests) == extractions - 1, "one was asked as usual, to learn the form"
    assert server.stats.steps["extraction"] == 2 * extractions
    assert home.open_batches() == []
    with home.resources() as resources:
        kb = resources.knowledge_base("kb")
        accounts = {account.name: account for account in kb.calls.spent("step", resources.spending.prices)}
        assert {row.model for row in kb.database.rows("SELECT model FROM tokens WHERE step = 'extract'")} == {
            "scripted", "scripted (batch)"}
        documents = {row.document for row in kb.database.rows("SELECT document FROM tokens WHERE step = 'extract'")}
        assert documents == {path.name for path in FEW}
    assert accounts["extract"].calls == extractions
    assert 0 < report["cost"] < usual["cost"]


def test_requests_are_those_of_ordinary_calls(home, server):
    home.add("usual")
    usual = {json.dumps(body["messages"]): body for body in server.requests}
    home.add("kb", batch=True)
    for one in next(iter(server.batches.submitted.values())):
        body = usual[json.dumps(one["body"]["messages"])]
        assert one["body"] == {key: value for key, value in body.items() if not key.startswith("stream")}
        assert (one["method"], one["url"]) == ("POST", "/v1/chat/completions")


def test_an_inferred_schema_is_shown_to_all(home, server):
    report = home.add(schema="", batch=True)
    assert (report["stopped"], report["chunks_failed"]) == ("", 0)
    assert len(server.batches.submitted) == 1
    assert server.stats.requests == server.stats.answers - len(server.batches.submitted["batch-0"])


def test_what_is_answered_is_not_submitted_again(home, server):
    home.add(batch=True)
    again = home.add(batch=True)
    assert again["tokens"]["calls"] == 0
    home.add(documents=[*FEW, ENGLISH / "vienna.md", ENGLISH / "alfred-nobel.md"], batch=True)
    first, second = server.batches.submitted.values()
    assert not {one["custom_id"] for one in first} & {one["custom_id"] for one in second}


def test_a_build_that_was_cancelled_while_it_waits_resumes(home, server):
    server.batches.status = "in_progress"
    seen = threading.Event()

    async def cancelled() -> None:
        with home.resources() as resources, banyan.open("kb", resources=resources) as kb:
            build = asyncio.create_task(kb.aadd(*FEW, schema="general", batch=True, progress=lambda event: (
                seen.set() if event["step"] == "batch" else None)))
            while not seen.is_set():
                await asyncio.sleep(0.01)
            build.cancel()
            with pytest.raises(asyncio.CancelledError):
                await build

    asyncio.run(cancelled())
    assert [batch.id for batch in home.open_batches()] == ["batch-0"]
    server.batches.status = "completed"
    report = home.add(documents=[*FEW, ENGLISH / "vienna.md"], batch=True)
    assert (report["stopped"], report["chunks_failed"]) == ("", 0)
    ids = [one["custom_id"] for requests in server.batches.submitted.values() for one in requests]
    assert len(ids) == len(set(ids))
    assert home.open_batches() == []
    assert home.add(documents=[*FEW, ENGLISH / "vienna.md"])["tokens"]["calls"] == 0


def test_a_killed_command_resumes_and_submits_nothing_again(tmp_path):
    with llm_server.LlmServer(batches=True) as server:
        server.batches.status = "in_progress"
        banyan_command = command_line.CommandLine(tmp_path, tuple({
            "BANYAN_LLM_BASE_URL": server.base_url, "BANYAN_LLM_MODEL": "scripted", "BANYAN_LLM_RETRIES": "0",
            warm_start.HASHED: "1"}.items()))
        command = ["build", *map(str, FEW), "--kb", "kb", "--schema", "general", "--batch"]
        killed = warm_start.WarmProcess(
            [warm_start.BANYAN, *command], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=command_line.clean_environment(BANYAN_HOME=str(tmp_path / "home"), **dict(banyan_command.settings)))
        deadline = time.monotonic() + command_line.SECONDS
        while not server.batches.submitted and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        server.batches.status = "completed"
        requests = server.stats.requests
        done = banyan_command(*command, "--json")
        assert done.json["chunks_failed"] == 0
        assert len(server.batches.submitted) == 1
        batched = len(server.batches.submitted["batch-0"])
        assert server.stats.requests - requests == done.json["tokens"]["calls"] - batched


def test_a_batch_whose_start_was_not_answered_is_found(home, server):
    server.batches.lost = True
    report = home.add(batch=True)
    assert "lost" in report["stopped"]
    assert [batch.id for batch in home.open_batches()] == [""]
    assert home.add(batch=True)["stopped"] == ""
    assert len(server.batches.submitted) == 1


def test_what_expires_and_what_cannot_be_read_is_asked_as_usual(home, server, caplog):
    usual = home.add("usual")
    server.batches.unanswered, server.batches.spoilt = 2, 1
    requests = server.stats.requests
    with caplog.at_level(logging.WARNING, "banyan"):
        report = home.add(batch=True)
    assert _built(report) == _built(usual)
    assert "3 of the" in caplog.text
    assert "batch_expired" in caplog.text
    assert report["wasted_tokens"] > 0
    batched = len(server.batches.submitted["batch-0"])
    assert server.stats.requests - requests == usual["tokens"]["calls"] - batched + 3


def test_a_refused_batch_stops_the_build_and_says_why(home, server):
    server.batches.status, server.batches.problem = "failed", "Enqueued token limit reached"
    report = home.add(batch=True)
    assert "Enqueued token limit reached" in report["stopped"]
    assert home.open_batches() == []
    assert home.add()["stopped"] == ""


def test_a_build_without_batch_takes_what_was_answered(home, server, monkeypatch):
    server.batches.status = "in_progress"
    monkeypatch.setattr(batched_calls.BatchedCalls, "_collect", _break_off)
    assert "broken off" in home.add(batch=True)["stopped"]
    monkeypatch.undo()
    server.batches.unanswered = 2
    report = home.add()
    assert server.batches.cancelled == ["batch-0"]
    assert (report["stopped"], report["chunks_failed"]) == ("", 0)
    assert home.open_batches() == []
    assert server.stats.steps["extraction"] == 1 + len(server.batches.submitted["batch-0"])


async def _break_off(_: Any) -> None:
    raise ReasonerError("broken off")


def test_a_lost_batch_is_said_and_asked_as_usual(home, server, caplog, monkeypatch):
    monkeypatch.setattr(batched_calls.BatchedCalls, "_collect", _break_off)
    home.add(batch=True)
    monkeypatch.undo()
    server.batches._batches.clear()
    with caplog.at_level(logging.WARNING, "banyan"):
        assert home.add(batch=True)["chunks_failed"] == 0
    assert "batch-0 is lost" in caplog.text


def test_a_network_that_is_away_for_a_while_is_waited_for(home, server, monkeypatch, caplog):
    statuses = iter(["in_progress", "", "", "completed"])
    state = batched_calls.BatchEndpoint.state

    async def flaky(self: Any, batch: str) -> Any:
        server.batches.status = next(statuses)
        if not server.batches.status:
            raise EndpointFailed("no route", certain=True)
        return await state(self, batch)

    monkeypatch.setattr(batched_calls.BatchEndpoint, "state", flaky)
    with caplog.at_level(logging.WARNING, "banyan"):
        report = home.add(batch=True)
    assert report["stopped"] == ""
    assert "no route" in caplog.text


def test_a_budget_that_is_too_small_submits_nothing(home, server):
    report = home.add(batch=True, max_tokens=3000)
    assert "Nothing was submitted" in report["stopped"]
    assert "--max-tokens" in report["stopped"]
    assert report["tokens"]["calls"] == server.stats.requests == 0
    report = home.add(batch=True, max_cost=0.0001)
    assert "--max-cost" in report["stopped"]
    assert server.batches.submitted == {}
    assert home.add(batch=True, max_tokens=10_000_000)["stopped"] == ""


def test_an_endpoint_without_batches_is_told_before_anything_is_made(tmp_path):
    with llm_server.LlmServer() as server:
        home = Home(tmp_path, server.base_url)
        with pytest.raises(ReasonerError, match="has no batches: run without --batch"):
            home.add(batch=True)
        assert not (tmp_path / "kb").exists()
        assert server.stats.requests == 0


def test_a_large_build_is_several_files(home, server, monkeypatch):
    monkeypatch.setattr(batched_calls, "_MOST_REQUESTS", 2)
    assert home.add(batch=True)["chunks_failed"] == 0
    sizes = [len(requests) for requests in server.batches.submitted.values()]
    assert len(sizes) > 1
    assert max(sizes) == 2


def test_an_estimate_says_what_a_batch_saves(home):
    with home.resources() as resources:
        estimate = estimate_build(resources, "new", FEW, "general")
    extraction = (estimate.extraction.prompt_tokens * PRICE["prompt"]
                  + estimate.extraction.completion_tokens * PRICE["completion"]) / 1e6
    assert estimate.batch_cost == pytest.approx(estimate.cost - extraction / 2)
