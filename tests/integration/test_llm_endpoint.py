"""The LLM reasoner over real servers on loopback: what no response may do, and another provider by LangChain's name."""

import json
import resource
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from banyan.config import Settings
from banyan.models.llm.endpoint import EndpointDown
from banyan.models.llm.limits import process_endpoints
from banyan.models.llm.llm_reasoner import LlmReasoner
from banyan.models.reasoner import ReasonerError
from banyan.schemas.extraction import Extraction, ExtractionRequest
from banyan.schemas.formats.schema_loading import load_schema

from .. import llm_server
from ..http_servers import Handler, listening
from ..in_memory_calls import InMemoryCalls
from ..waiting import Waited

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


HISTORY = [("user", "Marie Curie")]


@pytest.fixture
def anthropic(monkeypatch):
    """Answers each request with the next of `answers`: a text, a call of the tool (a dict), or a status."""
    state = SimpleNamespace(answers=[], requests=[])

    class Anthropic(Handler):
        def respond(self) -> None:
            request = json.loads(self.body())
            state.requests.append(request | {"headers": str(self.headers)})
            answer = state.answers.pop(0)
            if isinstance(answer, tuple):
                status, message = answer
                self._send(status, {"type": "error", "error": {"type": "error", "message": message}})
                return
            content = ({"type": "text", "text": answer} if isinstance(answer, str) else
                       {"type": "tool_use", "id": "t1", "name": request["tools"][0]["name"], "input": answer})
            self._send(200, {
                "id": "m1", "type": "message", "role": "assistant", "model": request["model"], "content": [content],
                "stop_reason": "end_turn", "stop_sequence": None,
                "usage": {"input_tokens": 21, "output_tokens": 7, "cache_read_input_tokens": 4}})

        def _send(self, status: int, body: dict[str, Any]) -> None:
            self.answer(status, json.dumps(body).encode(), Content_Type="application/json")

    with listening(Anthropic) as url:
        for name in ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL"):
            monkeypatch.setenv(name, url)
        yield state


def provided(model: str, **settings: Any) -> tuple[Any, Any]:
    ledger = InMemoryCalls()
    return Waited(LlmReasoner(Settings(_env_file=None, llm_model=model, llm_retries=0, **settings), ledger)), ledger


def test_a_model_of_another_provider_answers_and_is_accounted(anthropic):
    anthropic.answers = [{"question": "Where was Marie Curie born?"}]
    asked, ledger = provided("anthropic:claude-test-1", llm_api_key="sk-ant-1")
    assert asked.condense("Where was she born?", HISTORY) == "Where was Marie Curie born?"
    request = anthropic.requests[0]
    assert (request["model"], request["temperature"]) == ("claude-test-1", 0.0)
    assert "sk-ant-1" in request["headers"]
    assert request["tool_choice"]["name"] == "question"
    # Anthropic counts cached tokens separately; ours are among the prompt's.
    spent = (ledger.prompt_tokens, ledger.completion_tokens, ledger.cached_tokens)
    assert [tokens["condense"] for tokens in spent] == [25, 7, 4]


def test_a_model_without_tools_is_asked_in_plain_words(anthropic):
    anthropic.answers = [(400, "tools: this model does not support them"),
                         'Here: {"question": "Where was Marie Curie born?"}']
    asked, _ = provided("anthropic:claude-test-2", llm_api_key="sk-ant-2")
    assert asked.condense("Where was she born?", HISTORY) == "Where was Marie Curie born?"
    assert "tools" not in anthropic.requests[1]


def test_a_refused_key_is_named_and_not_told(anthropic):
    anthropic.answers = [(401, "invalid x-api-key sk-ant-3")]
    asked, _ = provided("anthropic:claude-test-3", llm_api_key="sk-ant-3")
    with pytest.raises(EndpointDown, match=r"at anthropic: it refused the key .*check BANYAN_LLM_API_KEY") as refused:
        asked.condense("Where was she born?", HISTORY)
    assert "sk-ant-3" not in str(refused.value)
