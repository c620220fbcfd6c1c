"""`banyan serve` as a process: what a client of the REST API does, over the wire."""

import json
import subprocess
import sys

import pytest

from .. import rest, serving

pytestmark = pytest.mark.integration
KB, BORN = rest.KB, rest.BORN
ENGLISH = serving.command_line.EXAMPLES / "en"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serve")
    with serving.served(folder, BANYAN_LOG_LEVEL="INFO") as server:
        yield server


@pytest.fixture(scope="module")
def english(client):
    documents = {path.name: path.read_text("utf-8") for path in sorted(ENGLISH.glob("*.md"))}
    started = client.post(f"{KB}/english/builds", files=rest.sent(documents))
    assert started.status_code == 202, started.text
    return started.json(), rest.followed(client, started.json()["id"])


def test_it_is_ready_and_says_what_it_works_with(client):
    assert client.get("/api/health").json() == {"status": "ok"}
    assert client.get("/api/ready").json() == {"status": "ready", "reasoner": "rules", "embedding": "all-MiniLM-L6-v2"}


def test_an_upload_is_built_and_its_progress_told(client, server, english):
    started, seen = english
    assert (started["state"], started["kb"]) == ("queued", "english")
    assert started["files"] == sorted(path.name for path in ENGLISH.glob("*.md"))
    steps = {build["progress"]["step"] for build in seen if build["state"] == "running"}
    assert "extract" in steps
    assert steps <= {"", "read", "extract", "write", "index"}, "those in quick succession may be skipped"
    report = seen[-1]["report"]
    assert (seen[-1]["state"], report["documents"], report["files_failed"], report["stopped"]) == ("done", 16, [], "")
    assert report["triples"] > 20
    assert client.get(f"/api/builds/{started['id']}").json() == seen[-1]
    left = [path for path in (server.home / ".uploads").rglob("*") if path.is_file() and path.suffix != ".lock"]
    assert not left, "the files that were sent are not kept"


def test_knowledge_bases_and_documents_are_listed(client, english):
    (entry,) = (one for one in client.get(KB).json()["items"] if one["name"] == "english")
    assert (entry["documents"], entry["building"], entry["problem"]) == (16, None, None)
    status = client.get(f"{KB}/english").json()
    assert (status["kb"], status["triples"], status["building"]) == ("english", entry["triples"], None)
    page = client.get(f"{KB}/english/documents", params={"limit": 2, "offset": 1}).json()
    assert (page["total"], [item["id"] for item in page["items"]]) == (16, ["copenhagen.md", "ernest-rutherford.md"])
    assert [item["id"] for item in client.get(f"{KB}/english/documents", params={"q": "CURIE"}).json()["items"]] == [
        "irene-joliot-curie.md", "marie-curie.md", "pierre-curie.md"]


def test_a_question_is_answered_with_citations(client, english):
    said = client.post(f"{KB}/english/ask", json=BORN)
    assert said.status_code == 200, said.text
    answer = said.json()
    assert "1867" in answer["answer"]
    assert answer["grade"] == "stated"
    assert "trace" not in answer
    serving.command_line.check_citations(answer["citations"], ENGLISH)
    cited = answer["citations"][0]
    shown = client.get(f"{KB}/english/document", params={"id": cited["document"], "start": cited["start"],
                                                         "end": cited["end"]}).json()
    assert shown["text"] == cited["quote"]


def test_a_schema_is_put_in_place_and_settings_are_kept(client):
    own = {"name": "cities", "entity_types": [{"name": "City"}, {"name": "River"}],
           "relation_types": [{"name": "lies_on", "domain": ["City"], "range": ["River"]}]}
    given = {"text": json.dumps(own), "file": "own.json", "who": "Ann"}
    assert client.put(f"{KB}/own/schema", json=given).json() == {"version": 1, "changed": True, "changes": []}
    assert client.get(f"{KB}/own/settings").json() == {
        "growth": "auto", "resolve": True, "embedding": "all-MiniLM-L6-v2", "seed": "cities",
        "instructions": "", "extraction_instructions": ""}
    for change, status in [
            ({}, 200), ({"instructions": "Answer in German."}, 200), ({"instructions": "x" * 10_000}, 422),
            ({"extraction_instructions": "'The box' means Vex 3000."}, 200),
            ({"extraction_instructions": "x" * 10_000}, 422), ({}, 200)]:
        told = client.put(f"{KB}/own/settings", json={"growth": "off", "resolve": False, **change})
        assert told.status_code == status, told.text
    changed = told.json()
    assert (changed["growth"], changed["resolve"], changed["instructions"], changed["extraction_instructions"]) == (
        "off", False, "Answer in German.", "'The box' means Vex 3000."), "what is left out stays"
    own["relation_types"][0]["name"] = "stands_at"
    given["text"] = json.dumps(own)
    shown = client.put(f"{KB}/own/schema", json={**given, "dry_run": True}).json()
    changes = {(one["change"], one["name"]) for one in shown["changes"]}
    assert changes == {("added", "stands_at"), ("removed", "lies_on")}
    assert client.get(f"{KB}/own/schema").json()["version"] == 1
    assert client.put(f"{KB}/own/schema", json=given).json()["version"] == 2
    wrong = client.put(f"{KB}/own/schema", json={**given, "text": "{"})
    assert (wrong.status_code, wrong.json()["error"]["type"]) == (422, "SchemaError")


def test_the_log_tells_who_asked_what_of_whom_but_not_what(client, server, english):
    client.post(f"{KB}/english/ask", json={"question": "Where is the secret garden?"},
                headers={"X-Request-ID": "mine-1"})
    client.get(f"{KB}/english/documents", params={"q": "secret"})
    assert f"POST {KB}/english/ask 200" in server.said
    assert "request mine-1" in server.said
    assert "secret" not in server.said


def test_a_port_that_is_taken_is_named_before_anything_is_loaded(server):
    port = server.url.rpartition(":")[2]
    ended = subprocess.run([sys.executable, "-m", "banyan", "serve", "--port", port], capture_output=True, text=True,
                           timeout=60, check=False)
    assert ended.returncode == 1
    assert f"127.0.0.1:{port} cannot be listened on (Address already in use" in ended.stderr
