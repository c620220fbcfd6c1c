"""A schema inferred by an LLM, as a process against the scripted endpoint on loopback: paid once, within a budget."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from ..conftest import load_test_module

pytestmark = pytest.mark.integration

command_line = load_test_module("command_line")
llm_server = load_test_module("llm_server")
warm_start = load_test_module("warm_start")
PLAYERS = (("Otto Kern", "Vienna", "Ada Blum"), ("Ada Blum", "Warsaw", "Tom Hale"), ("Tom Hale", "Leeds", "Otto Kern"))


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    with llm_server.LlmServer() as running:
        yield running


@pytest.fixture
def banyan(tmp_path, server):
    (tmp_path / "chess").mkdir()
    for name, city, other in PLAYERS:
        (tmp_path / "chess" / f"{name}.md").write_text(f"{name} was born in {city}. {name} trained with {other}.\n")
    return command_line.CommandLine(tmp_path, tuple({
        "BANYAN_LLM_BASE_URL": server.base_url, "BANYAN_LLM_API_KEY": "sk-test", "BANYAN_LLM_MODEL": "scripted",
        "BANYAN_LLM_CONCURRENCY": "1", "BANYAN_LLM_RETRIES": "0", warm_start.HASHED: "1"}.items()))


def paid(result: Any) -> tuple[int, int]:
    """Calls and tokens, as the command tells them."""
    found = re.search(r"(\d+) calls, (\d+) tokens", result.err)
    assert found, result.err
    return int(found[1]), int(found[2])


def test_what_recurs_in_what_an_llm_says_becomes_a_schema_and_is_paid_once(banyan, server):
    before = server.stats.prompt_tokens + server.stats.completion_tokens
    first = banyan("schema", "infer", "chess", "--name", "chess")
    assert first.code == 0, first.err
    schema = yaml.safe_load(first.out)
    assert [t["name"] for t in schema["entity_types"]] == ["Thing"]
    assert {r["name"] for r in schema["relation_types"]} == {"born_in", "trained_with"}
    assert all(t["description"].startswith("said of") for t in schema["entity_types"] + schema["relation_types"])
    after = server.stats.prompt_tokens + server.stats.completion_tokens
    assert paid(first) == (4, after - before)
    again = banyan("schema", "infer", "chess", "--name", "chess")
    assert (again.out, paid(again)) == (first.out, (0, 0))
    assert server.stats.prompt_tokens + server.stats.completion_tokens == after


def test_a_budget_stops_and_what_was_paid_is_kept(banyan):
    stopped = banyan("schema", "infer", "chess", "--max-tokens", "1")
    assert stopped.code == 1
    assert "the token budget is reached" in stopped.err
    whole = banyan("schema", "infer", "chess")
    assert whole.code == 0, whole.err
    assert paid(whole)[0] == 3
