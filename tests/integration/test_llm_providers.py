"""Models by LangChain's names: Anthropic's client against a server on loopback that speaks its protocol."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from banyan.config import Settings
from banyan.models.llm.failures import EndpointDown
from banyan.models.llm.llm_reasoner import LlmReasoner

from .. import in_memory_calls
from ..http_servers import Handler, listening
from ..waited import Waited

pytestmark = pytest.mark.integration
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


def reasoner(model: str, **settings: Any) -> tuple[Any, Any]:
    ledger = in_memory_calls.InMemoryCalls()
    return Waited(LlmReasoner(Settings(_env_file=None, llm_model=model, llm_retries=0, **settings), ledger)), ledger


def test_a_model_of_another_provider_answers_and_is_accounted(anthropic):
    anthropic.answers = [{"question": "Where was Marie Curie born?"}]
    asked, ledger = reasoner("anthropic:claude-test-1", llm_api_key="sk-ant-1")
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
    asked, _ = reasoner("anthropic:claude-test-2", llm_api_key="sk-ant-2")
    assert asked.condense("Where was she born?", HISTORY) == "Where was Marie Curie born?"
    assert "tools" not in anthropic.requests[1]


def test_a_refused_key_is_named_and_not_told(anthropic):
    anthropic.answers = [(401, "invalid x-api-key sk-ant-3")]
    asked, _ = reasoner("anthropic:claude-test-3", llm_api_key="sk-ant-3")
    with pytest.raises(EndpointDown, match=r"at anthropic: it refused the key .*check BANYAN_LLM_API_KEY") as refused:
        asked.condense("Where was she born?", HISTORY)
    assert "sk-ant-3" not in str(refused.value)


def test_without_an_endpoint_and_a_provider_there_is_no_model():
    with pytest.raises(ValueError, match="no LLM is set"):
        reasoner("gpt-4o-mini")
