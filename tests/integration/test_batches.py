"""Builds through OpenAI's Batch interface: `banyan build --batch`, over the scripted endpoint."""

import asyncio
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import banyan
import pytest
from banyan.agents.construction.inputs import NoModelError
from banyan.agents.construction.state import BuildContext
from banyan.agents.estimate import estimate_build
from banyan.models.llm import batches
from banyan.models.llm.limits import process_endpoints

from .. import command_line, llm_server
from ..hashed_embedding import HashedEmbedder
from ..model_home import ModelHome
from ..newest import contents, newest
from ..waiting import WITHIN

pytestmark = pytest.mark.integration

ENGLISH = command_line.EXAMPLES / "en"
FEW = [ENGLISH / name for name in ("marie-curie.md", "niels-bohr.md", "otto-hahn.md", "polonium.md", "stockholm.md",
                                 "vistula.md", "warsaw.md")]
TOOK = {"tokens", "cached_tokens", "wasted_tokens", "cost", "seconds", "kb"}


@pytest.fixture
def server(monkeypatch) -> Iterator[Any]:
    monkeypatch.setattr(batches, "POLL_SECONDS", 0.05)
    with llm_server.LlmServer(batches=True) as running:
        yield running


@pytest.fixture
def home(tmp_path, server) -> "Home":
    return Home(tmp_path, server)


class Home(ModelHome):
    """Builds of few documents at known prices, ordinary ones and by batch."""

    def __init__(self, folder: Path, server: Any) -> None:
        prices = folder / "prices.json"
        prices.write_text(json.dumps({"scripted": {"prompt": 2.0, "completion": 8.0}}))
        super().__init__(folder, HashedEmbedder(), server, extract_tokens=300, prices=prices)

    def add(self, name: str = "kb", *, documents: Any = FEW, batch: bool = False, **budget: Any) -> dict[str, Any]:
        process_endpoints.cache_clear()  # what another process has learnt of the endpoint
        with self.resources() as resources, banyan.open(name, resources=resources) as kb:
            return kb.add(*documents, schema="general", batch=batch, context=BuildContext(**budget))

    def interrupt(self, server: Any) -> None:
        """Begin a build by batch, and cancel it while it waits."""
        server.batches.status = "in_progress"

        async def cancelled() -> None:
            with self.resources() as resources, banyan.open("kb", resources=resources) as kb:
                build = asyncio.create_task(kb.aadd(*FEW, schema="general", batch=True))
                assert await asyncio.to_thread(server.batches.asked.wait, WITHIN)
                build.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await build

        asyncio.run(cancelled())
        assert len(server.batches.submitted) == 1
        server.batches.status = "completed"

    def same(self, report: dict[str, Any], usual: dict[str, Any]) -> bool:
        """Whether two reports and the knowledge bases `kb` and `usual` differ in nothing but what they took."""
        with self.resources() as resources:
            graphs = [contents(newest(resources, name).kb) for name in ("kb", "usual")]
        return graphs[0] == graphs[1] and not {name for name in report.keys() - TOOK if report[name] != usual[name]}

    def extraction(self, name: str = "kb") -> Any:
        with self.resources() as resources:
            kb = newest(resources, name).kb
            models = {row.model for row in kb.database.rows("SELECT model FROM tokens WHERE step = 'extract'")}
            spent = kb.calls.spent("step", resources.spending.prices)
            return next(step for step in spent if step.name == "extract"), models


def test_a_build_by_batch_equals_the_ordinary_one_for_half_the_price(home, server, monkeypatch):
    monkeypatch.setattr(batches, "_MOST_REQUESTS", 2)  # several files
    usual = home.add("usual")
    report = home.add(batch=True)
    assert home.same(report, usual)
    assert report["tokens"] == usual["tokens"]
    (paid, models), (paid_usually, _) = home.extraction(), home.extraction("usual")
    assert models == {"scripted (batch)"}
    assert paid.cost == pytest.approx(paid_usually.cost / 2)
    assert paid.calls == sum(map(len, server.batches.submitted.values())) > 2
    assert home.add(batch=True)["tokens"]["calls"] == 0


def test_a_build_that_was_cancelled_while_it_waits_resumes_and_pays_nothing_twice(home, server):
    home.interrupt(server)
    report = home.add(documents=[*FEW, ENGLISH / "vienna.md"], batch=True)
    assert (report["stopped"], report["chunks_failed"]) == ("", 0)
    keys = [key for submitted in server.batches.submitted.values() for key in submitted]
    assert len(keys) == len({*keys})
    assert home.extraction()[0].calls == len(keys)


def test_a_batch_that_started_unknown_to_its_build_is_found_by_the_next_one(home, server):
    usual = home.add("usual")
    server.batches.loses_reply = True
    assert home.add(batch=True)["stopped"]
    server.batches.loses_reply = False
    assert home.same(home.add(batch=True), usual)
    assert [*server.batches.submitted] == ["batch-0"]


def test_without_batch_an_open_batch_is_cancelled_and_what_it_has_is_used(home, server):
    usual = home.add("usual")
    home.interrupt(server)
    requests = server.stats.requests
    report = home.add()
    assert home.same(report, usual)
    assert server.batches.cancelled == ["batch-0"]
    assert server.stats.requests - requests == usual["tokens"]["calls"] - len(server.batches.submitted["batch-0"])


def test_a_batch_that_the_endpoint_lost_is_named_and_given_up_without_the_option(home, server):
    home.interrupt(server)
    server.batches.forget()
    assert "batch batch-0 is not at this endpoint" in home.add(batch=True)["stopped"]
    assert home.add()["stopped"] == ""
    assert home.extraction()[1] == {"scripted"}


def test_what_failed_and_what_cannot_be_read_is_asked_as_usual(home, server, caplog):
    usual = home.add("usual")
    server.batches.unanswered, server.batches.spoilt = 2, 1
    requests = server.stats.requests
    with caplog.at_level(logging.WARNING, "banyan"):
        report = home.add(batch=True)
    assert home.same(report, usual)
    assert "2 of its" in caplog.text
    assert "server_error" in caplog.text
    assert report["wasted_tokens"] > 0
    in_batch = len(server.batches.submitted["batch-0"])
    assert server.stats.requests - requests == usual["tokens"]["calls"] - in_batch + 3
    assert home.extraction()[1] == {"scripted", "scripted (batch)"}


def test_an_expired_batch_stops_the_build_and_the_next_submits_the_rest(home, server):
    usual = home.add("usual")
    server.batches.status, server.batches.unanswered = "expired", 2
    report = home.add(batch=True)
    assert "batch-0 ended as 'expired', and 2 of its" in report["stopped"]
    assert "run the command again to submit the rest, or without --batch" in report["stopped"]
    server.batches.status, server.batches.unanswered = "completed", 0
    assert home.same(home.add(batch=True), usual)
    first, second = server.batches.submitted.values()
    assert second == first[:2]
    assert home.extraction()[0].calls == home.extraction("usual")[0].calls


@pytest.mark.parametrize("budget", [{"max_tokens": 3000}, {"max_cost": 0.0001}])
def test_a_budget_that_is_too_small_submits_nothing(home, server, budget):
    assert "Nothing was submitted" in home.add(batch=True, **budget)["stopped"]
    assert server.batches.submitted == {}
    assert home.add(batch=True, max_tokens=10_000_000)["stopped"] == ""


def test_an_endpoint_without_batches_and_no_model_are_named(tmp_path):
    with llm_server.LlmServer() as server:
        home = Home(tmp_path, server)
        assert "has no batches: run without --batch" in home.add(batch=True)["stopped"]
        assert server.stats.requests == 0
        assert home.add()["stopped"] == ""
    for model in ("", "anthropic:model"):
        home.base_url, home.model = None, model
        with pytest.raises(NoModelError, match="only a model at an OpenAI-compatible endpoint"):
            home.add("other", batch=True)
    assert not (tmp_path / "other").exists()


def test_a_dry_run_says_what_batches_save(home):
    with home.resources() as resources:
        estimate = estimate_build(resources, "kb", FEW, "general")
    assert estimate.cost / 2 < estimate.batch_cost < estimate.cost
