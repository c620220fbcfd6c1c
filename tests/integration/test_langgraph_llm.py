"""A build and a question with an LLM in `langgraph dev`, which refuses calls that block its event loop."""

import time
from typing import Any

import httpx
import pytest
from banyan.server.security.keys import KEYS_FILE, WORK, Keys

from .. import langgraph_server, llm_server
from ..waiting import wait_for

pytestmark = [pytest.mark.integration, pytest.mark.slow]

FIRST = {"id": "marie", "title": "Marie Curie", "text": "Marie Curie was born in Warsaw. Warsaw lies in Poland."}
SECOND = {"id": "niels", "title": "Niels Bohr", "text": "Niels Bohr was born in Copenhagen."}
SILENT = 60.0
"""Seconds that the endpoint keeps a cancelled build waiting, were it not cancelled."""


def test_builds_questions_and_a_cancelled_build(tmp_path, llm):
    folder = tmp_path / "project"
    folder.mkdir()
    keys = Keys(folder / "home" / KEYS_FILE)
    key = keys.make("ann", WORK)
    with langgraph_server.langgraph_dev(
            langgraph_server.project_in(folder), tmp_path / "log", BANYAN_LLM_BASE_URL=llm.base_url,
            BANYAN_LLM_MODEL="scripted", BANYAN_LLM_RETRIES="0") as address, httpx.Client(
                base_url=address, timeout=SILENT, headers={"X-API-Key": key}) as client:
        def run(graph: str, given: Any) -> Any:
            response = client.post("/runs/wait", json={"assistant_id": graph, "input": given})
            assert response.status_code == 200, response.text
            assert "__error__" not in response.json(), response.text
            return response.json()

        report = run("construction", {"knowledge_base": "kb", "documents": [FIRST]})["report"]
        assert (report["chunks"], report["chunks_failed"], report["stopped"]) == (1, 0, "")
        assert report["tokens"]["calls"] > 0
        answer = run("retrieval", {"knowledge_base": "kb", "question": "Where was Marie Curie born?"})
        assert not answer["abstained"]

        llm.odds.append(llm_server.Odds(llm_server.Fault("stall", seconds=SILENT), 1.0))
        thread = client.post("/threads", json={}).json()["thread_id"]
        asked = len(llm.requests)
        begun = client.post(f"/threads/{thread}/runs", json={
            "assistant_id": "construction", "input": {"knowledge_base": "kb", "documents": [SECOND]}}).json()
        wait_for(lambda: len(llm.requests) > asked)
        started = time.monotonic()
        client.post(f"/threads/{thread}/runs/{begun['run_id']}/cancel", params={"wait": "true"})
        llm.odds.clear()
        report = run("construction", {"knowledge_base": "kb"})["report"]
        assert time.monotonic() - started < SILENT / 2, "the cancelled build neither waits nor keeps the lock"
        assert (report["documents"], report["chunks_failed"], report["stopped"]) == (2, 0, "")
        asked = {"knowledge_base": "kb", "question": "Where was Niels Bohr born?"}
        assert not run("retrieval", asked)["abstained"]
    assert "BlockingError" not in (tmp_path / "log").read_text("utf-8")
