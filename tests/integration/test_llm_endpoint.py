"""The LLM reasoner over a real server on loopback: structured calls, each fault and its recovery."""

import resource
from collections.abc import Iterator
from typing import Any

import pytest
from banyan.config import Settings
from banyan.models.llm.limits import process_endpoints
from banyan.models.llm.llm_reasoner import LlmReasoner
from banyan.models.reasoner import ReasonerError
from banyan.schemas.extraction import Extraction, ExtractionRequest
from banyan.schemas.formats.schema_loading import load_schema

from .. import llm_server
from ..in_memory_calls import InMemoryCalls
from ..waited import Waited

pytestmark = pytest.mark.integration

Fault = llm_server.Fault

KEY = "sk-test-0123456789"
SCHEMA = load_schema("general")
REQUEST = ExtractionRequest(text="Marie Curie was born in Warsaw. Warsaw is the capital of Poland.", title="Curie")
TRIPLES = [("Marie Curie", "born_in", "Warsaw"), ("Warsaw", "capital_of", "Poland")]


@pytest.fixture(autouse=True)
def nothing_is_known_of_a_port() -> None:
    """Servers come and go on the same ports: what one of them took or refused says nothing of the next."""
    process_endpoints.cache_clear()


@pytest.fixture
def server() -> Iterator[Any]:
    with llm_server.LlmServer(key=KEY) as running:
        yield running


@pytest.fixture
def ledger() -> InMemoryCalls:
    return InMemoryCalls()


def reasoner(server: Any, ledger: InMemoryCalls, **changes: Any) -> Any:
    values: dict[str, Any] = {"llm_base_url": server.base_url, "llm_api_key": KEY, "llm_model": "test-model",
                              "llm_retries": 2, "llm_timeout": 30, **changes}
    return Waited(LlmReasoner(Settings(_env_file=None, **values), ledger))


def triples(extraction: Extraction) -> list[tuple[str, str, str]]:
    return [(t.head, t.relation, t.tail) for t in extraction.triples]


@pytest.mark.parametrize("usage", [
    "null", '{"prompt_tokens": -100000, "completion_tokens": -1}',
    '{"prompt_tokens": NaN, "completion_tokens": 1e400, "total_tokens": 1}'])
def test_nonsense_about_tokens_is_estimated(ledger, usage):
    with llm_server.LlmServer(usage=usage) as server:
        assert triples(reasoner(server, ledger).extract(REQUEST, SCHEMA)) == TRIPLES
        assert ledger.prompt_tokens["extract"] == server.stats.prompt_tokens
        assert ledger.completion_tokens["extract"] == server.stats.completion_tokens


@pytest.mark.parametrize("kind", ["packed", "endless"])
def test_a_response_that_would_fill_the_memory_is_not_read(server, ledger, kind):
    server.faults.append(Fault(kind))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ReasonerError, match=r"its response is not read \(its response is .*BANYAN_LLM_BASE_URL"):
        reasoner(server, ledger, llm_retries=0).extract(REQUEST, SCHEMA)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000, "in KB; the server's part included"


def test_the_json_is_not_streamed_to_a_chat(server, ledger):
    from langgraph.graph import START, StateGraph  # noqa: PLC0415  # slow to import
    from typing_extensions import TypedDict  # noqa: PLC0415

    class State(TypedDict):
        found: int

    llm = reasoner(server, ledger)
    builder = StateGraph(State)
    builder.add_node("extract", lambda _: {"found": len(llm.extract(REQUEST, SCHEMA).triples)})
    builder.add_edge(START, "extract")
    events = list(builder.compile().stream({"found": 0}, stream_mode=["messages", "values"]))
    assert events[-1] == ("values", {"found": 2})
    assert [mode for mode, _ in events if mode == "messages"] == []
