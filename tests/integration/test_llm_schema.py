"""A schema inferred by an LLM, as a process against the scripted endpoint on loopback: paid once, within a budget."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from .. import command_line, llm_server, warm_start

pytestmark = pytest.mark.integration

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


def test_a_model_proposes_a_schema_in_one_call_that_is_paid_once(banyan, server):
    before = server.stats.prompt_tokens + server.stats.completion_tokens
    first = banyan("schema", "infer", "chess", "--name", "chess")
    assert first.code == 0, first.err
    schema = yaml.safe_load(first.out)
    assert schema["name"] == "chess"
    assert {"Person", "Organization", "Award"} <= {t["name"] for t in schema["entity_types"]}
    assert {"works_for", "born_in"} <= {r["name"] for r in schema["relation_types"]}
    after = server.stats.prompt_tokens + server.stats.completion_tokens
    assert paid(first) == (1, after - before)
    again = banyan("schema", "infer", "chess", "--name", "chess")
    assert (again.out, paid(again)) == (first.out, (0, 0))
    assert server.stats.prompt_tokens + server.stats.completion_tokens == after


def test_a_budget_stops_before_a_second_call_and_what_was_paid_is_kept(banyan, server):
    whole = banyan("schema", "infer", "chess")
    assert whole.code == 0, whole.err
    free = banyan("schema", "infer", "chess", "--max-tokens", "1")
    assert (free.code, paid(free)) == (0, (0, 0))
