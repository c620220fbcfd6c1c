"""Spans of requests, steps and calls: what is below what, across threads and event loops, and what is in none."""

import pytest
from banyan.agents.construction.graph import build_graph as construction
from banyan.agents.construction.state import BuildContext, new_run
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.runtime import telemetry
from banyan.server.app import create_app
from banyan.server.security.keys import Keys
from langgraph.checkpoint.memory import InMemorySaver
from opentelemetry.trace import SpanKind, StatusCode

from ... import asking, in_process, rest

served = asking.served
QUESTION = "Where was Ada Byron born?"


def below(spans, parent):
    return {span.name for span in spans.get_finished_spans() if span.parent and span.parent.span_id == parent}


@pytest.fixture
def client(served):
    with in_process.client(create_app(served), raise_server_exceptions=False) as client:
        yield client


def test_a_request_is_a_span_with_the_steps_of_its_question_below_it(client, spans):
    key = Keys.of(client.app.state.service.resources.settings).make("ann", ["ask"])
    sender = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    for way in ("ask", "ask/stream"):
        spans.clear()
        asked = client.post(f"/api/knowledge-bases/people/{way}?secret=1", json={"question": QUESTION},
                            headers={"X-API-Key": key, "traceparent": sender})
        assert asked.status_code == 200
        (request,) = [span for span in spans.get_finished_spans() if span.kind is SpanKind.SERVER]
        assert request.name == f"POST /api/knowledge-bases/{{kb}}/{way}"
        assert {"http.request.method": "POST", "http.response.status_code": 200,
                "http.route": f"/api/knowledge-bases/{{kb}}/{way}",
                "banyan.request": asked.headers["x-request-id"]} == dict(request.attributes)
        assert f"{request.context.trace_id:032x}-{request.parent.span_id:016x}" == sender[3:52]
        steps = below(spans, request.context.span_id)
        assert {"step condense", "step first_look", "step decompose", "step answer"} <= steps
        (answer,) = [span for span in spans.get_finished_spans() if span.name == "step answer"]
        assert dict(answer.attributes) == {"banyan.node": "answer", "banyan.knowledge_base": "people"}
        everything = "".join(span.to_json() for span in spans.get_finished_spans())
        for hidden in (key, "Byron", "Ulm", "secret", "ann"):
            assert hidden not in everything


def test_what_is_refused_or_fails_is_a_span_that_says_so(client, spans):
    def fail(_):
        raise ZeroDivisionError(QUESTION)

    client.app.state.service.resources.fake.reply = fail
    assert client.post("/api/knowledge-bases/people/ask", json={"question": QUESTION}).status_code == 500
    answer, request = spans.get_finished_spans()[-2:]
    assert (answer.name, answer.attributes["error.type"], answer.status.status_code) == (
        "step decompose", "ZeroDivisionError", StatusCode.ERROR)
    assert (request.attributes["error.type"], request.status.status_code) == ("ZeroDivisionError", StatusCode.ERROR)
    assert request.attributes["http.response.status_code"] == 500
    assert not [event for span in spans.get_finished_spans() for event in span.events]
    spans.clear()
    client.get("/nothing/here/Byron")
    client.request("BREW", "/api/knowledge-bases")
    assert [span.name for span in spans.get_finished_spans()] == ["GET", "other /api/knowledge-bases"]
    assert {span.status.status_code for span in spans.get_finished_spans()} == {StatusCode.UNSET}


@pytest.mark.anyio
@pytest.mark.parametrize("review", [False, True])
async def test_a_build_is_its_steps_in_synchronous_and_asynchronous_runs(tmp_path, hashed_embedder, spans, review):
    settings = Settings(_env_file=None, home=tmp_path, llm_base_url=None)
    given = {"knowledge_base": "chess", "documents": rest.GIVEN, "run": new_run()}
    with Resources(settings, hashed_embedder) as resources:
        graph, config = construction(resources, InMemorySaver()), {"configurable": {"thread_id": "t"}}
        tracer = telemetry.trace.get_tracer("caller")
        with tracer.start_as_current_span("caller") as caller:
            if review:
                await graph.ainvoke(given, config, context=BuildContext(review=True))
            else:
                graph.invoke(given, config, context=BuildContext())
    steps = below(spans, caller.get_span_context().span_id)
    assert {"step check", "step ingest", "step fit_schema", "step extract", "step propose_schema_delta"} <= steps
    assert ("step index" in steps) is not review
    # That it waits for a person is no failure.
    assert [span.name for span in spans.get_finished_spans() if span.status.status_code is StatusCode.ERROR] == []
