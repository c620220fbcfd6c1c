"""What lies between Banyan and an endpoint: proxies, slow replies, other paths; what is observed of its calls."""

import asyncio
import json
import logging
import time
from typing import Any

import httpx2
import pytest
from banyan.config import Settings
from banyan.models.embedding.embedder import EmbeddingError
from banyan.models.embedding.unbundled import EndpointEmbedder, EndpointReranker, RerankerError
from banyan.models.llm.endpoint import Reply
from banyan.models.llm.http_client import open_openai
from banyan.models.llm.limits import LimitedEndpoint
from banyan.models.llm.llm_reasoner import LlmReasoner
from banyan.models.reasoner import ReasonerError
from banyan.runtime.threads import run
from banyan.schemas.extraction import ExtractionRequest
from banyan.schemas.formats.schema_loading import load_schema

from ...in_memory_calls import InMemoryCalls
from ...waiting import Waited


def settings(**more):
    return Settings(_env_file=None, llm_base_url="http://model.test/v1", llm_model="m", llm_retries=0, **more)


def test_a_socks_proxy_that_cannot_be_used_is_named_unless_the_endpoint_needs_none(monkeypatch):
    async def connect():
        open_openai(settings())

    monkeypatch.setenv("ALL_PROXY", "socks5://user:secret@127.0.0.1:7890")
    named = r"proxy socks5://127\.0\.0\.1:7890.*pip install socksio.*NO_PROXY"
    with pytest.raises(ReasonerError, match=named) as caught:
        run(connect)
    assert "secret" not in str(caught.value)
    monkeypatch.setenv("NO_PROXY", "model.test")
    run(connect)


def test_an_error_behind_a_proxy_names_the_proxy(monkeypatch, serve):
    def refuse(_):
        raise httpx2.ConnectError("refused")

    serve(refuse)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with pytest.raises(ReasonerError, match=r"the proxy http://127\.0\.0\.1:9 of HTTP_PROXY.*cannot be reached"):
        run(LlmReasoner(settings(), InMemoryCalls()).condense, "Where?", [("user", "Marie Curie")])


def test_a_reply_that_comes_a_byte_at_a_time_ends_with_the_time_limit(serve):
    class Dripping(httpx2.AsyncByteStream):
        async def __aiter__(self):
            while True:
                await asyncio.sleep(0.02)
                yield b" "

    serve(lambda _: httpx2.Response(200, stream=Dripping()))
    started = time.monotonic()
    with pytest.raises(ReasonerError, match=r"it did not answer in time.*BANYAN_LLM_TIMEOUT"):
        run(LlmReasoner(settings(llm_timeout=0.5), InMemoryCalls()).condense, "Where?", [("user", "Marie Curie")])
    assert time.monotonic() - started < 60


def embedder(serve, embedding, *later):
    answers = iter([httpx2.Response(200, json={"data": [{"index": 0, "embedding": embedding}]}), *later])
    serve(lambda _: next(answers))
    return EndpointEmbedder(settings(embedding_base_url="http://model.test/v1", embedding_model="m"))


@pytest.mark.parametrize("embedding", [[[[1.0, 2.0]]], [], "x"])
def test_embeddings_that_are_no_vectors_are_named(serve, embedding):
    with pytest.raises(EmbeddingError, match="sent no vector for each text"):
        embedder(serve, embedding)


def test_an_endpoint_that_takes_fewer_texts_at_once_leads_to_the_setting(serve):
    model = embedder(serve, [1.0, 2.0], httpx2.Response(400, json={"error": {"message": "at most 10 texts"}}))
    with pytest.raises(EmbeddingError, match=r"at most 10 .*BANYAN_EMBEDDING_BATCH is \d+: lower it.*'A long text'"):
        model.encode(["x", "A long text"])


@pytest.mark.parametrize("index", [-1, 1, "0", None])
def test_scores_of_passages_that_were_not_sent_are_refused(serve, index):
    serve(lambda _: httpx2.Response(200, json={"results": [{"index": index, "relevance_score": 1.0}]}))
    reranker = EndpointReranker(settings(reranker="r", reranker_base_url="http://model.test/v1"))
    with pytest.raises(RerankerError, match="did not send a score for each passage"):
        reranker.scores("Where?", ["In Ulm."])


KEY, PROMPT, ANSWER = "sk-7Zq-distinctive", "Zanzibarite", "Quuxonium"
SCHEMA = load_schema("general")
USABLE = json.dumps({"entities": [[ANSWER, "Person"]], "triples": [], "attributes": [], "new": []})


def ask(*answers: Any) -> None:
    left = list(answers)

    async def send(*_: Any) -> Reply:
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Reply(answer, 12, 5, 4)

    settings = Settings(_env_file=None, llm_base_url="http://127.0.0.1:1/v1", llm_model="small", llm_api_key=KEY)
    llm = Waited(LlmReasoner(settings, InMemoryCalls(), lambda _: LimitedEndpoint(lambda: send, settings)))
    llm.extract(ExtractionRequest(text=f"{PROMPT} is a mineral."), SCHEMA)


def test_each_call_is_a_line_without_what_is_said(caplog):
    caplog.set_level(logging.INFO, "banyan.llm")
    with pytest.raises(ReasonerError):
        ask("no json", ReasonerError(f"it said {PROMPT}"))
    first, second = (record.fields for record in caplog.records)
    assert {"event": "call", "step": "extract", "model": "small", "host": "127.0.0.1:1", "prompt_tokens": 12,
            "completion_tokens": 5, "cached_tokens": 4, "outcome": "ok"}.items() <= first.items()
    assert {"ms", "waited_ms"} <= first.keys()
    assert second["outcome"] == "ReasonerError"
    assert "prompt_tokens" not in second
    for hidden in (KEY, PROMPT, ANSWER):
        assert hidden not in caplog.text


def test_spans_follow_the_genai_conventions(spans):
    ask("no json", USABLE)
    first, second = spans.get_finished_spans()
    assert (first.name, second.name) == ("chat small", "chat small")
    assert {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "small",
            "gen_ai.usage.input_tokens": 12, "gen_ai.usage.output_tokens": 5, "server.address": "127.0.0.1:1",
            "banyan.step": "extract"}.items() <= first.attributes.items()
    everything = "".join(span.to_json() for span in spans.get_finished_spans())
    for hidden in (KEY, PROMPT, ANSWER):
        assert hidden not in everything
