"""What becomes of a request with each behaviour of endpoints in `tests/endpoint_matrix.py`; no sockets."""

import json
import logging
import re
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from banyan.config import Settings
from banyan.models.llm.llm_reasoner import LlmReasoner
from banyan.models.reasoner import ReasonerError, claims_to
from banyan.runtime.threads import run
from banyan.schemas.retrieval import CommunityDigest
from openai._base_client import BaseClient

from ...endpoint_matrix import CASES, QUESTION, Case
from ...in_memory_calls import InMemoryCalls

TWO = [CommunityDigest(keywords=(name,), facts=(f"{name} is one.",)) for name in ("First", "Second")]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, serve: Callable[[Any], None]) -> Callable[[Case], list[dict[str, Any]]]:
    monkeypatch.setattr(BaseClient, "_calculate_retry_timeout", lambda *_: 0.0)

    def serve_case(case: Case) -> list[dict[str, Any]]:
        bodies: list[dict[str, Any]] = []
        left = None if callable(case.answers) else list(case.answers)

        def handle(request: httpx2.Request) -> httpx2.Response:
            bodies.append(json.loads(request.content))
            given = case.answers(bodies[-1]) if left is None else left.pop(0)  # type: ignore[operator]
            return httpx2.Response(given.status_code, content=given.content, headers=given.headers)

        serve(handle)
        return bodies

    return serve_case


def ask(case: Case, llm: LlmReasoner, number: int = 0) -> Any:
    if case.asks == "summarise":
        return run(llm.summarise, TWO)

    async def listen(_: Any) -> None:
        pass

    async def condense() -> str:
        with claims_to(listen):
            return await llm.condense(f"Where, {number}?", [("user", "Marie Curie")])

    if case.asks == "stream":
        return run(condense)
    return run(llm.condense, f"Where, {number}?", [("user", "Marie Curie")])


@pytest.mark.parametrize("case", CASES, ids=lambda case: re.sub(r"\W+", "-", case.behaviour))
def test_a_behaviour_has_its_outcome(case: Case, sent: Callable[[Case], list[dict[str, Any]]],
                                     caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    bodies = sent(case)
    llm = LlmReasoner(Settings(**{"_env_file": None, "llm_base_url": "http://model.test/v1", "llm_model": "m",
                                  "llm_retries": 2, **case.settings}), InMemoryCalls())
    if case.fails:
        with pytest.raises(ReasonerError) as caught:
            ask(case, llm)
        assert re.search(case.fails, str(caught.value)), caught.value
        assert "CHUNK_TOKENS" not in str(caught.value) or "CHUNK_TOKENS" in case.fails
    else:
        answer = ask(case, llm)
        assert len(answer) == 2 if case.asks == "summarise" else answer.strip() == QUESTION
    assert len(bodies) == case.requests
    assert case.says in caplog.text + json.dumps(bodies)
    if case.again is not None:
        ask(case, llm, 1)
        assert len(bodies) == case.requests + case.again
    assert {name: bodies[-1].get(name) for name in case.last} == case.last
