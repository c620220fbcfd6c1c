"""The demo with an LLM: `banyan build` and `ask` as processes, against the scripted endpoint on loopback."""

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from .. import command_line, warm_start

pytestmark = pytest.mark.integration

ENGLISH = command_line.EXAMPLES / "en"
FEW = ("marie-curie.md", "niels-bohr.md", "polonium.md", "stockholm.md", "vienna.md", "warsaw.md")


@pytest.fixture(scope="module")
def banyan(tmp_path_factory, llm):
    return _commands(tmp_path_factory.mktemp("llm"), llm)


@pytest.fixture(scope="module")
def built(banyan, llm):
    report = banyan("build", ENGLISH, "--kb", "english", "--json").json
    return report, _stats(llm)


@pytest.fixture(scope="module")
def few(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("few")
    for name in FEW:
        (folder / name).write_bytes((ENGLISH / name).read_bytes())
    return folder


def _commands(folder: Path, llm: Any, **settings: str) -> Any:
    return command_line.CommandLine(folder, tuple({
        "BANYAN_LLM_BASE_URL": llm.base_url, "BANYAN_LLM_API_KEY": "sk-test", "BANYAN_LLM_MODEL": "scripted",
        "BANYAN_LLM_RETRIES": "0", warm_start.HASHED: "1", **settings}.items()))


def _stats(llm: Any) -> dict[str, Any]:
    with urllib.request.urlopen(llm.base_url.removesuffix("/v1") + "/stats", timeout=30) as response:
        return dict(json.load(response))


def _tokens(stats: dict[str, Any]) -> dict[str, int]:
    return {"prompt": stats["prompt_tokens"], "completion": stats["completion_tokens"], "calls": stats["answers"]}


def test_a_build_pays_what_the_endpoint_counted(built):
    report, stats = built
    assert (report["documents"], report["chunks_failed"], report["stopped"]) == (16, 0, "")
    assert min(report["entities"], report["triples"], report["communities"]) > 0
    assert report["tokens"] == _tokens(stats)
    assert min(report["tokens"].values()) > 0
    assert 1 < stats["steps"]["extraction"] < report["chunks"] / 2, "several chunks share a call"


def test_a_dry_run_asks_nothing_and_makes_nothing(banyan, llm, built):
    before = _stats(llm)
    estimate = banyan("build", ENGLISH, "--kb", "unbuilt", "--dry-run", "--json").json
    assert _stats(llm) == before
    assert not (banyan.folder / "home" / "unbuilt").exists()
    report, stats = built
    assert (estimate["documents"], estimate["chunks"]) == (report["documents"], report["chunks"])
    assert estimate["extraction"]["calls"] == stats["steps"]["extraction"]
    # What the scripted model answers is shorter than what models do: test_spending_and_budgets.py has recorded answers.
    assert 0.75 * stats["prompt_tokens"] < estimate["prompt_tokens"] < 1.25 * stats["prompt_tokens"]
    assert estimate["completion_tokens"] > 0
    assert estimate["cost"] is None


def test_a_first_build_whose_endpoint_is_away_says_so_and_asks_for_the_same_command(tmp_path, few, llm):
    away = _commands(tmp_path, llm, BANYAN_LLM_BASE_URL="http://127.0.0.1:9/v1")
    stopped = away("build", few, "--kb", "few").refused("it cannot be reached")
    assert "nothing: all is read" not in stopped.out
    assert away("verify", "--kb", "few").code == 0
    away("ask", "Where was Marie Curie born?", "--kb", "few").refused("run the same `banyan build` again")
    assert _commands(tmp_path, llm)("build", few, "--kb", "few", "--json").json["chunks_failed"] == 0
