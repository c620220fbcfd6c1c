"""Daily tokens of a key in a server with a model: questions and builds are counted, and refused when they are spent."""

import re

import pytest
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.server.app import create_app
from banyan.server.security.keys import WORK, Keys
from sqlalchemy import text

from .. import in_process, rest

pytestmark = pytest.mark.integration

TEXTS = [f"{name} was born in {town}. {town} lies in Poland." for name, town in (
    ("Marie Curie", "Warsaw"), ("Jan Heweliusz", "Danzig"), ("Adam Kowal", "Lublin"))]
DOCUMENTS = {"0.md": TEXTS[0], "1.md": TEXTS[1]}
MORE = {"2.md": TEXTS[2]}


def question(number):
    """A question that was not answered before."""
    return {"question": f"Where was Marie Curie born? ({number})"}


@pytest.fixture
def client(tmp_path, llm, hashed_embedder):
    """Makes a client of a server that is started anew."""
    opened = []

    def make():
        settings = Settings(_env_file=None, home=tmp_path, llm_base_url=llm.base_url, llm_model="scripted",
                            llm_concurrency=1)
        resources = Resources(settings, hashed_embedder)
        client = in_process.client(create_app(resources))
        client.__enter__()
        opened.append((client, resources))
        return client

    yield make
    for client, resources in opened:
        client.__exit__(None, None, None)
        resources.close()


def key(tmp_path, name, tokens=None):
    return {"X-API-Key": Keys.of(Settings(_env_file=None, home=tmp_path)).make(name, WORK, tokens_per_day=tokens)}


def test_questions_and_builds_are_paid_from_the_keys_day(client, tmp_path, llm):
    first = client()
    first.headers = key(tmp_path, "rich")
    assert rest.built(first, "kb", DOCUMENTS)["state"] == "done"
    first.headers = poor = key(tmp_path, "poor", 500)
    asked = 0
    while (answer := first.post("/api/knowledge-bases/kb/ask", json=question(asked))).status_code == 200:
        asked += 1
        assert asked < 20
    # Whatever was paid for stands in the table; more than the day's by the last question's calls.
    assert (answer.status_code, answer.json()["error"]["type"]) == (429, "AllowanceSpent")
    with first.app.state.service.database.reading() as connection:
        spent = dict(connection.execute(text("SELECT client, tokens FROM banyan_usage")).all())
    assert spent.keys() == {"poor"}
    assert 500 <= spent["poor"] < 5_000
    paid = len(llm.requests)
    again = client()  # a restart, and as good as another process
    again.headers = poor
    for way, body in (("ask", question(99)), ("ask/stream", question(99))):
        refused = again.post(f"/api/knowledge-bases/kb/{way}", json=body)
        assert refused.status_code == 429
        assert 0 < int(refused.headers["retry-after"]) <= 86_400
        assert "try again after 00:00 UTC" in refused.json()["error"]["message"]
    chat = again.post("/chat/kb/kb/stream", json={"input": {"messages": [["user", "Where was Jan Heweliusz born?"]]}})
    assert chat.status_code == 429
    assert again.post("/api/knowledge-bases/kb/builds", files=rest.sent(MORE)).status_code == 429
    for tool, arguments in (("ask", {"question": "Where was Adam Kowal born?"}),
                            ("add_document", {"document": "x.md", "text": TEXTS[2]})):
        told = rest.mcp(again, "tools/call", name=tool, arguments=arguments | {"knowledge_base": "kb"})
        assert "try again after 00:00 UTC" in told["content"][0]["text"], tool
    assert len(llm.requests) == paid, "before anything is paid"
    assert again.get("/api/knowledge-bases").status_code == 200, "what costs nothing goes on"


def test_a_build_stops_where_the_day_is_spent_and_what_was_done_stands(client, tmp_path):
    first = client()
    first.headers = key(tmp_path, "poor", 1)
    stopped = rest.built(first, "kb", DOCUMENTS | MORE)
    assert stopped["state"] == "done"
    assert re.match(r"'poor' has used [\d,]+ tokens today; the limit is 1 a day", stopped["report"]["stopped"])
    assert stopped["report"]["tokens"]["calls"] == 1
    first.headers = key(tmp_path, "rich")
    done = rest.built(first, "kb", {})
    assert (done["report"]["stopped"], done["report"]["chunks"], done["report"]["chunks_failed"]) == ("", 3, 0)
