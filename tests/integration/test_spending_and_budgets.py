"""What a model costs, over the scripted endpoint: accounts, budgets and estimates, in processes and in commands."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from .. import command_line, llm_server, model_home, warm_start
from ..model_home import FEW, ModelHome
from ..newest import newest

pytestmark = pytest.mark.integration

ENGLISH = command_line.EXAMPLES / "en"
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
        return newest(resources).kb.database.count("SELECT max(prompt_tokens + completion_tokens) FROM calls")


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


def commands(folder: Path, server: Any, **settings: str) -> Any:
    return command_line.CommandLine(folder, tuple({
        "BANYAN_LLM_BASE_URL": server.base_url, "BANYAN_LLM_MODEL": "scripted", "BANYAN_LLM_RETRIES": "0",
        warm_start.HASHED: "1", **settings}.items()))


def test_commands_stop_at_a_cost_and_foretell_it(tmp_path, server, prices):
    unpriced = commands(tmp_path, server)
    unpriced("build", *FEW, "--kb", "kb", "--max-cost", "1").refused("BANYAN_PRICES")
    assert not (tmp_path / "home" / "kb").exists()
    assert server.stats.requests == 0

    banyan = commands(tmp_path, server, BANYAN_PRICES=str(prices))
    foretold = banyan("build", *FEW, "--kb", "kb", "--dry-run", "--json").json
    assert foretold["cost"] == pytest.approx(
        (foretold["prompt_tokens"] * PRICE["prompt"] + foretold["completion_tokens"] * PRICE["completion"]) / 1e6)
    assert "cost" in banyan("build", *FEW, "--kb", "kb", "--dry-run").out
    stopped = banyan("build", *FEW, "--kb", "kb", "--max-cost", "0.002").refused("the cost budget is reached")
    assert "cost 0.0" in stopped.out
    shown = banyan("status", "--kb", "kb").out
    assert "step infer" in shown, "the schema comes first"
    assert "Spent" in shown


@pytest.fixture(scope="module")
def english(tmp_path_factory, llm):
    """The commands, the report of a build by them, and what the endpoint counted."""
    banyan = commands(tmp_path_factory.mktemp("english"), llm)
    report = banyan("build", ENGLISH, "--kb", "english", "--json").json
    return banyan, report, replace(llm.stats, steps=llm.stats.steps.copy())


def test_a_build_pays_what_the_endpoint_counted(english):
    _, report, stats = english
    assert (report["documents"], report["chunks_failed"], report["stopped"]) == (16, 0, "")
    assert min(report["entities"], report["triples"], report["communities"]) > 0
    assert report["tokens"] == {"prompt": stats.prompt_tokens, "completion": stats.completion_tokens,
                                "calls": stats.answers}
    assert min(report["tokens"].values()) > 0
    assert 1 < stats.steps["extraction"] < report["chunks"] / 2, "several chunks share a call"


def test_a_dry_run_asks_nothing_and_makes_nothing(english, llm):
    banyan, report, stats = english
    before = llm.stats.requests
    estimate = banyan("build", ENGLISH, "--kb", "unbuilt", "--dry-run", "--json").json
    assert llm.stats.requests == before
    assert not (banyan.folder / "home" / "unbuilt").exists()
    assert (estimate["documents"], estimate["chunks"]) == (report["documents"], report["chunks"])
    assert estimate["extraction"]["calls"] == stats.steps["extraction"]
    # What the scripted model answers is shorter than what models do.
    assert 0.75 * stats.prompt_tokens < estimate["prompt_tokens"] < 1.25 * stats.prompt_tokens
    assert estimate["completion_tokens"] > 0
    assert estimate["cost"] is None


def test_a_first_build_whose_endpoint_is_away_says_so_and_asks_for_the_same_command(tmp_path, llm):
    away = commands(tmp_path, llm, BANYAN_LLM_BASE_URL="http://127.0.0.1:9/v1")
    stopped = away("build", *FEW, "--kb", "few").refused("it cannot be reached")
    assert "nothing: all is read" not in stopped.out
    assert away("verify", "--kb", "few").code == 0
    away("ask", "Where was Marie Curie born?", "--kb", "few").refused("run the same `banyan build` again")
    assert commands(tmp_path, llm)("build", *FEW, "--kb", "few", "--json").json["chunks_failed"] == 0
