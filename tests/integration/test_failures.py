"""What a running server says while something that it needs is away, and that it goes on by itself when it is back.

docs/operations.md has these as a table; how PostgreSQL goes and comes back is in test_replicas.py.
"""

import itertools
import time

import httpx
import pytest

from .. import chroma_process, llm_server, rest, serving

pytestmark = [pytest.mark.integration, pytest.mark.slow]

DOCUMENTS = {"marie.md": "Marie Curie was born in Warsaw. Warsaw lies in Poland.",
             "jan.md": "Jan Heweliusz was born in Danzig. Danzig lies in Poland."}
MORE = {"adam.md": "Adam Kowal was born in Lublin. Lublin lies in Poland."}
WITHIN = 60.0
chroma = chroma_process.chroma


@pytest.fixture(scope="module")
def client(tmp_path_factory, chroma, llm):
    with (serving.served(tmp_path_factory.mktemp("server"), BANYAN_CHROMA_URL=chroma.url, BANYAN_LLM_RETRIES="0",
                         BANYAN_LLM_BASE_URL=llm.base_url, BANYAN_LLM_MODEL="scripted") as server,
          httpx.Client(base_url=server.url, timeout=WITHIN) as client):
        assert rest.built(client, "kb", DOCUMENTS)["state"] == "done"
        yield client


number = itertools.count()


def ask(client):
    """Asks what was not asked before."""
    return client.post("/api/knowledge-bases/kb/ask", json={
        "question": f"Where was Marie Curie born? ({next(number)})"})


def probes(client):
    return [httpx.get(f"{client.base_url}/api/{probe}", timeout=WITHIN).status_code for probe in ("health", "ready")]


def refused(answer):
    """The kind of an error that says to come again later."""
    assert answer.status_code == 503, answer.text
    return answer.json()["error"]["type"]


def goes_on(client):
    """Ask until it is answered."""
    deadline = time.monotonic() + WITHIN
    while (answer := ask(client)).status_code != 200:
        assert refused(answer)
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.5)
    assert "Warsaw" in answer.json()["answer"]


def test_an_endpoint_that_is_away(client, llm):
    llm.odds[:] = [llm_server.Odds(llm_server.Fault("status", 503), 1.0)]
    assert refused(ask(client)) == "EndpointFailed"
    assert (probes(client), client.get("/api/knowledge-bases").status_code) == ([200, 200], 200)
    failed = rest.built(client, "kb", MORE)
    assert (failed["state"], failed["report"]["chunks_failed"]) == ("done", 1), "each chunk is told, none is lost"
    llm.odds.clear()
    goes_on(client)
    done = rest.built(client, "kb", {}, retry_failed="true")
    assert (done["report"]["chunks"], done["report"]["chunks_failed"]) == (3, 0)


def test_a_chroma_that_is_away(client, chroma):
    goes_on(client)
    chroma.stop()
    goes_on(client)  # of what is open the vectors are in the index, too
    assert probes(client) == [200, 200]
    failed = rest.built(client, "kb", {"zoe.md": "Zoe Blum was born in Krakow."})
    assert (failed["state"], failed["error"]["type"]) == ("failed", "VectorServerError")
    chroma.start()
    goes_on(client)
    done = rest.built(client, "kb", {})
    assert (done["state"], done["report"]["chunks"], done["report"]["chunks_failed"]) == ("done", 4, 0)
    assert done["report"]["tokens"]["calls"] <= 1, "what was extracted is not paid again"
