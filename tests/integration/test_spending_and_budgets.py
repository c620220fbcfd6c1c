"""Budgets, accounts and estimates over the scripted endpoint: what is stopped, resumed, and foretold."""

import json
from pathlib import Path
from typing import Any

import pytest

from .. import command_line, llm_server, model_home, warm_start
from ..model_home import FEW, ModelHome
from ..newest import newest

pytestmark = pytest.mark.integration

server = model_home.server
PRICE = {"prompt": 2.0, "cached": 0.5, "completion": 8.0}


@pytest.fixture
def prices(tmp_path) -> Path:
    file = tmp_path / "prices.json"
    file.write_text(json.dumps({"scripted": PRICE}))
    return file


@pytest.fixture(scope="module")
def whole(tmp_path_factory, hashed_embedder) -> Any:
    with llm_server.LlmServer() as server:
        home = ModelHome(tmp_path_factory.mktemp("whole"), hashed_embedder, server)
        return home, home.build(), server.stats.prompt_tokens


def tokens(report: Any) -> int:
    return int(report["tokens"]["prompt"] + report["tokens"]["completion"])


def largest_call(home: ModelHome) -> int:
    with home.resources() as resources:
        return newest(resources).kb.database.count(
            "SELECT max(prompt_tokens + completion_tokens) FROM calls")


def test_many_small_budgets_come_to_the_same(tmp_path, hashed_embedder, server, whole):
    """They also end between the steps that come after extraction."""
    home, needed, _ = whole
    steps, largest, reports = ModelHome(tmp_path, hashed_embedder, server), largest_call(home), []
    while not reports or "the token budget is reached" in reports[-1]["stopped"]:
        assert len(reports) < 100
        reports.append(steps.build(max_tokens=700))
        assert tokens(reports[-1]) < 700 + home.settings["llm_concurrency"] * largest
    assert len(reports) > 2
    assert [one["chunks_failed"] for one in reports] == [0] * len(reports)
    assert reports[-1]["stopped"] == ""
    assert sum(map(tokens, reports)) == tokens(needed), "nothing is paid twice"
    assert steps.state() == home.state()
    assert {one.name for one in steps.status().spent_by_step} >= {"extract", "summarise"}


def test_a_budget_reached_by_extraction_pays_no_summary(tmp_path, hashed_embedder, server, whole):
    home, spent = whole[0], ModelHome(tmp_path, hashed_embedder, server)
    read = [one for one in home.status().spent_by_step if one.name in {"extract", "infer"}]
    needed = sum(one.prompt + one.completion for one in read)
    report = spent.build(max_tokens=needed)
    assert report["stopped"]
    assert tokens(report) == needed
    assert [one.name for one in spent.status().spent_by_step] == ["extract", "infer"]


def test_commands_stop_at_a_cost_and_foretell_it(tmp_path, server, prices):
    settings = {"BANYAN_LLM_BASE_URL": server.base_url, "BANYAN_LLM_MODEL": "scripted", "BANYAN_LLM_RETRIES": "0",
                warm_start.HASHED: "1"}
    unpriced = command_line.CommandLine(tmp_path, tuple(settings.items()))
    unpriced("build", *FEW, "--kb", "kb", "--max-cost", "1").refused("BANYAN_PRICES")
    assert not (tmp_path / "home" / "kb").exists()
    assert server.stats.requests == 0

    banyan = command_line.CommandLine(tmp_path, tuple({**settings, "BANYAN_PRICES": str(prices)}.items()))
    foretold = banyan("build", *FEW, "--kb", "kb", "--dry-run", "--json").json
    assert foretold["cost"] == pytest.approx(
        (foretold["prompt_tokens"] * PRICE["prompt"] + foretold["completion_tokens"] * PRICE["completion"]) / 1e6)
    assert "cost" in banyan("build", *FEW, "--kb", "kb", "--dry-run").out
    stopped = banyan("build", *FEW, "--kb", "kb", "--max-cost", "0.002").refused("the cost budget is reached")
    assert "cost 0.0" in stopped.out
    shown = banyan("status", "--kb", "kb").out
    assert "step infer" in shown, "the schema comes first"
    assert "Spent" in shown
