"""Log lines and spans of calls: what they hold, and that they hold no prompt, answer or key."""

import json
import logging
from typing import Any

import pytest
from banyan.config import Settings
from banyan.models.llm.endpoint import Reply
from banyan.models.llm.limits import LimitedEndpoint
from banyan.models.llm.llm_reasoner import LlmReasoner
from banyan.models.reasoner import ReasonerError
from banyan.runtime import telemetry
from banyan.schemas.extraction import ExtractionRequest
from banyan.schemas.formats.schema_loading import load_schema
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from ...in_memory_calls import InMemoryCalls
from ...waited import Waited

KEY, PROMPT, ANSWER = "sk-7Zq-distinctive", "Zanzibarite", "Quuxonium"
SCHEMA = load_schema("general")
USABLE = json.dumps({"entities": [[ANSWER, "Person"]], "triples": [], "attributes": [], "new": []})


@pytest.fixture
def spans(monkeypatch) -> InMemorySpanExporter:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(telemetry.trace, "get_tracer", provider.get_tracer)
    return exporter


def ask(*answers: Any) -> None:
    """One extraction, answered so; errors are left to the log."""
    left = list(answers)

    async def send(*_: Any) -> Reply:
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Reply(answer, 12, 5, 4)

    settings = Settings(_env_file=None, llm_base_url="http://127.0.0.1:1/v1", llm_model="small",
                        llm_api_key=KEY)
    llm = Waited(LlmReasoner(settings, InMemoryCalls(), lambda _: LimitedEndpoint(lambda: send, settings)))
    llm.extract(ExtractionRequest(text=f"{PROMPT} is a mineral."), SCHEMA)


def test_each_call_is_a_line(caplog):
    caplog.set_level(logging.DEBUG, "banyan.llm")
    ask("no json", USABLE)
    first, second, step = (record.fields for record in caplog.records)
    assert {"event": "call", "step": "extract", "model": "small", "host": "127.0.0.1:1", "attempt": 1,
            "prompt_tokens": 12, "completion_tokens": 5, "cached_tokens": 4, "outcome": "ok"}.items() <= first.items()
    assert {"ms", "waited_ms"} <= first.keys()
    assert second["attempt"] == 2
    assert {"event": "step", "step": "extract", "calls": 2, "outcome": "ok"}.items() <= step.items()
    assert [record.levelname for record in caplog.records] == ["INFO", "INFO", "DEBUG"]
    for hidden in (KEY, PROMPT, ANSWER):
        assert hidden not in caplog.text


def test_a_failing_call_is_a_line_with_its_kind_but_not_its_text(caplog):
    caplog.set_level(logging.DEBUG, "banyan.llm")
    with pytest.raises(ReasonerError):
        ask(ReasonerError(f"it said {PROMPT}"))
    assert [record.fields["outcome"] for record in caplog.records] == ["ReasonerError", "ReasonerError"]
    assert "prompt_tokens" not in caplog.records[0].fields
    assert PROMPT not in caplog.text


def test_spans_follow_the_genai_conventions(spans):
    ask("no json", USABLE)
    first, second, step = spans.get_finished_spans()
    assert [span.name for span in (first, second, step)] == ["chat small", "chat small", "banyan.extract"]
    assert {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "small",
            "gen_ai.usage.input_tokens": 12, "gen_ai.usage.output_tokens": 5, "server.address": "127.0.0.1:1",
            "banyan.step": "extract", "banyan.attempt": 1}.items() <= first.attributes.items()
    assert second.attributes["banyan.attempt"] == 2
    assert {first.parent.span_id, second.parent.span_id} == {step.context.span_id}
    assert step.attributes["banyan.calls"] == 2
    everything = "".join(span.to_json() for span in spans.get_finished_spans())
    for hidden in (KEY, PROMPT, ANSWER):
        assert hidden not in everything
