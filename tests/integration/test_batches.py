"""Builds through OpenAI's Batch interface: `banyan build --batch`, over the scripted endpoint."""

import asyncio
import json
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import banyan
import pytest
from banyan.agents.construction import batched_calls
from banyan.agents.construction.state import BuildContext
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.graph_store.ledger.notes import read_open_batches
from banyan.models.llm.limits import process_endpoints
from banyan.models.reasoner import ReasonerError

from .. import command_line, llm_server
from ..hashed_embedding import HashedEmbedder
from ..newest import newest
from ..waiting import WITHIN

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
        process_endpoints.cache_clear()  # what another process has learnt of the endpoint
        with self.resources() as resources, banyan.open(name, resources=resources) as kb:
            context = BuildContext(**{key: options.pop(key) for key in ("max_tokens", "max_cost") if key in options})
            return kb.add(*documents, schema=schema, context=context, **options)

    def resources(self) -> Any:
        return Resources(self.settings, HashedEmbedder())

    def open_batches(self) -> Any:
        with self.resources() as resources:
            return read_open_batches(resources.snapshots.ledger("kb").database)


def _built(report: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in report.items() if key not in TOOK}


def test_a_build_by_batch_equals_the_ordinary_one_for_half_the_price(home, server):
    usual = home.add("usual")
    extractions = server.stats.steps["extraction"]
    report = home.add("kb", batch=True)
    assert _built(report) == _built(usual)
    assert report["tokens"] == usual["tokens"]
    (requests,) = server.batches.submitted.values()
    assert len(requests) == extractions
    assert server.stats.steps["extraction"] == 2 * extractions
    assert home.open_batches() == []
    with home.resources() as resources:
        kb = newest(resources).kb
        accounts = {account.name: account for account in kb.calls.spent("step", resources.spending.prices)}
        assert {row.model for row in kb.database.rows("SELECT model FROM tokens WHERE step = 'extract'")} == {
            "scripted (batch)"}
        documents = {row.document for row in kb.database.rows("SELECT document FROM tokens WHERE step = 'extract'")}
        assert documents == {path.name for path in FEW}
    assert accounts["extract"].calls == extractions
    assert 0 < report["cost"] < usual["cost"]


def test_a_build_that_was_cancelled_while_it_waits_resumes(home, server):
    server.batches.status = "in_progress"
    seen = threading.Event()

    async def cancelled() -> None:
        with home.resources() as resources, banyan.open("kb", resources=resources) as kb:
            build = asyncio.create_task(kb.aadd(*FEW, schema="general", batch=True, progress=lambda event: (
                seen.set() if event["step"] == "batch" else None)))
            assert await asyncio.to_thread(seen.wait, WITHIN)
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


def test_what_failed_and_what_cannot_be_read_is_asked_as_usual(home, server, caplog):
    usual = home.add("usual")
    server.batches.unanswered, server.batches.spoilt = 2, 1
    requests = server.stats.requests
    with caplog.at_level(logging.WARNING, "banyan"):
        report = home.add(batch=True)
    assert _built(report) == _built(usual)
    assert "3 of its" in caplog.text
    assert "server_error" in caplog.text
    assert report["wasted_tokens"] > 0
    batched = len(server.batches.submitted["batch-0"])
    assert server.stats.requests - requests == usual["tokens"]["calls"] - batched + 3


def test_an_expired_batch_stops_the_build_and_the_next_submits_the_rest(home, server):
    usual = home.add("usual")
    server.batches.status, server.batches.unanswered = "expired", 2
    report = home.add(batch=True)
    assert "batch-0 ended as 'expired', and 2 of its" in report["stopped"]
    assert "run the command again to submit the rest, or without --batch" in report["stopped"]
    server.batches.status, server.batches.unanswered = "completed", 0
    done = home.add(batch=True)
    assert _built(done) == _built(usual)
    first, second = ([one["custom_id"] for one in requests] for requests in server.batches.submitted.values())
    assert second == first[-2:]
    assert _extraction_calls(home, "kb") == _extraction_calls(home, "usual")


def _extraction_calls(home: Home, name: str) -> int:
    with home.resources() as resources:
        spent = newest(resources, name).kb.calls.spent("step", resources.spending.prices)
        return next(step.calls for step in spent if step.name == "extract")


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
