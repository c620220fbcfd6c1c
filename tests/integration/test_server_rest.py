"""`banyan serve` as a process: what a client of the REST API does, over the wire."""

import sqlite3
import threading
import time
from itertools import pairwise

import httpx
import pytest
from banyan.server.security.keys import KEYS_FILE, Keys

from ..conftest import load_test_module

pytestmark = pytest.mark.integration
serving, sse = load_test_module("serving"), load_test_module("sse")
llm_server = load_test_module("llm_server")
ENGLISH = serving.command_line.EXAMPLES / "en"
KB = "/api/knowledge-bases"
BORN = {"question": "When was Marie Curie born?"}
# "defeat" is no relation of the schema, and two documents ask for it.
CHESS = {
    "otto-kern.md": "# Otto Kern\n\nOtto Kern was a chess player. He was born in Vienna. "
                    "Otto Kern defeated Tom Hale in 1911.\n",
    "ada-blum.md": "# Ada Blum\n\nAda Blum was a chess player. She was born in Warsaw. "
                   "Ada Blum defeated Otto Kern in 1920.\n"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serve")
    with serving.served(folder, BANYAN_LOG_LEVEL="INFO") as server:
        yield server


@pytest.fixture(scope="module")
def client(server):
    with httpx.Client(base_url=server.url, timeout=60) as client:
        yield client


def sent(documents):
    """Documents as the parts of an upload."""
    return [("files", (name, text, "text/plain")) for name, text in documents.items()]


def followed(client, build):
    """The states of a build that its events tell, to the end or to where it waits."""
    seen = []
    with client.stream("GET", f"/api/builds/{build}/events") as stream:
        for event in sse.events(stream.iter_lines()):
            assert event.name == "build"
            seen.append(event.data)
            if event.data["state"] in {"done", "failed", "cancelled", "waiting"}:
                break
    return seen


def built(client, kb, documents, **fields):
    """The last state of a build of documents."""
    started = client.post(f"{KB}/{kb}/builds", files=sent(documents), data=fields)
    assert started.status_code == 202, started.text
    return followed(client, started.json()["id"])[-1]


@pytest.fixture(scope="module")
def english(client):
    """A knowledge base made of the English examples, with what its build told."""
    documents = {path.name: path.read_text("utf-8") for path in sorted(ENGLISH.glob("*.md"))}
    started = client.post(f"{KB}/english/builds", files=sent(documents))
    assert started.status_code == 202, started.text
    return started.json(), followed(client, started.json()["id"])


def test_it_is_ready_and_says_what_it_works_with(client):
    assert client.get("/api/health").json() == {"status": "ok"}
    assert client.get("/api/ready").json() == {"status": "ready", "reasoner": "rules",
                                               "embedding": "all-MiniLM-L6-v2"}


def test_an_upload_is_built_and_its_progress_told(client, server, english):
    started, seen = english
    assert (started["state"], started["kb"]) == ("queued", "english")
    assert started["files"] == sorted(path.name for path in ENGLISH.glob("*.md"))
    steps = [build["progress"]["step"] for build in seen if build["state"] == "running"]
    assert {"read", "extract", "write", "index"} <= set(steps)
    report = seen[-1]["report"]
    assert (seen[-1]["state"], report["documents"], report["files_failed"], report["stopped"]) == ("done", 16, [], "")
    assert report["triples"] > 30
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
    assert "trace" not in answer
    serving.command_line.check_citations(answer["citations"], ENGLISH)
    cited = answer["citations"][0]
    shown = client.get(f"{KB}/english/document", params={"id": cited["document"], "start": cited["start"],
                                                         "end": cited["end"]}).json()
    assert shown["text"] == cited["quote"]


def test_an_answer_is_streamed_in_order(client, english):
    with client.stream("POST", f"{KB}/english/ask/stream", json={**BORN, "trace": True}) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        events = list(sse.events(stream.iter_lines()))
    names = [event.name for event in events]
    assert [name for name, following in pairwise([*names, ""]) if name != following] == ["step", "token", "answer"]
    steps = [event.data for event in events if event.name == "step"]
    assert [step["step"] for step in steps][:2] == ["question", "decompose"]
    answer = events[-1].data
    assert "".join(event.data["text"] for event in events if event.name == "token") == answer["answer"]
    assert [step["step"] for step in answer["trace"]] == [step["step"] for step in steps]
    assert answer["answer"] == client.post(f"{KB}/english/ask", json=BORN).json()["answer"]


def test_an_error_ends_a_stream_as_an_event(client):
    with client.stream("POST", f"{KB}/nowhere/ask/stream", json=BORN) as stream:
        (error,) = sse.events(stream.iter_lines())
    assert (error.name, error.data["type"]) == ("error", "UnknownKnowledgeBaseError")


def test_a_thread_keeps_the_conversation(client, english):
    for question, expected in (("Where was Marie Curie born?", "Warsaw"), ("When was she born?", "1867")):
        answer = client.post(f"{KB}/english/ask", json={"question": question, "thread": "t-1"}).json()["answer"]
        assert expected in answer
    kept = client.get("/api/threads/t-1", params={"kb": "english"}).json()["messages"]
    assert [message["role"] for message in kept] == ["user", "assistant"] * 2
    assert kept[2]["content"] == "When was she born?"
    assert client.delete("/api/threads/t-1", params={"kb": "english"}).status_code == 204
    assert client.get("/api/threads/t-1", params={"kb": "english"}).status_code == 404


def test_the_graph_is_explored_by_what_is_looked_at(client, english):
    graph = f"{KB}/english/graph"
    types = client.get(f"{graph}/types").json()
    assert "Person" in [one["name"] for one in types["entity_types"]]
    (marie, *_) = client.get(f"{graph}/search", params={"q": "marie cur", "type": "Person"}).json()["items"]
    assert marie["name"] == "Marie Curie"
    around = client.get(f"{graph}/neighbourhood", params={"id": marie["id"], "limit": 500}).json()
    assert around["total"] == len(around["nodes"]) - 1
    ids = {node["id"] for node in around["nodes"]}
    assert all({edge["source"], edge["target"]} <= ids for edge in around["edges"])
    paged = [client.get(f"{graph}/neighbourhood", params={"id": marie["id"], "limit": 2, "offset": offset}).json()
             for offset in range(0, around["total"], 2)]
    assert sorted(node["id"] for page in paged for node in page["nodes"][1:]) == sorted(ids - {marie["id"]})
    entity = client.get(f"{graph}/entity", params={"id": marie["id"]}).json()
    assert entity["documents"]
    for fact in entity["facts"]:
        for evidence in fact["evidence"]:
            text = (ENGLISH / evidence["document"]).read_text("utf-8")
            assert text[evidence["start"]:evidence["end"]] == evidence["quote"] != ""
    overview = client.get(f"{graph}/overview", params={"limit": 5}).json()
    degrees = [node["degree"] for node in overview["nodes"]]
    assert len(degrees) == 5
    assert degrees == sorted(degrees, reverse=True)
    named = client.get(f"{graph}/names", params={"names": ["POLONIUM", "nobody"]}).json()["items"]
    assert [node["name"].casefold() for node in named] == ["polonium"]


def test_the_tree_leads_from_communities_to_members(client, english):
    tree = client.get(f"{KB}/english/tree", params={"limit": 500}).json()
    assert tree["total"] == len(tree["items"]) > 0
    first = tree["items"][0]
    shown = client.get(f"{KB}/english/tree/community", params={"id": first["id"], "limit": 1}).json()
    assert (shown["total"], len(shown["members"])) == (first["size"], 1)
    assert shown["members"][0]["community"] == first["id"]


@pytest.mark.parametrize(("form", "begins"), [("json", "{"), ("graphml", "<?xml"), ("html", "<!"), ("cypher", "")])
def test_an_export_is_a_file(client, english, form, begins):
    said = client.get(f"{KB}/english/export", params={"format": form})
    assert said.status_code == 200
    assert said.headers["content-disposition"].startswith("attachment")
    assert said.text.lstrip().startswith(begins)
    assert "Marie Curie" in said.text


def test_a_second_upload_of_a_name_is_an_update_and_leaves_others_alone(client, english):
    first = built(client, "updates", CHESS)
    assert first["report"]["documents"] == 2
    again = built(client, "updates", {"ada-blum.md": CHESS["ada-blum.md"].replace("Warsaw", "Krakow")})
    assert again["report"]["documents"] == 2
    answer = client.post(f"{KB}/updates/ask", json={"question": "Where was Ada Blum born?"}).json()["answer"]
    assert "Krakow" in answer
    listed = client.get(f"{KB}/updates/documents").json()["items"]
    assert {item["id"] for item in listed} == set(CHESS)
    other = client.get(f"{KB}/updates/document", params={"id": "otto-kern.md"}).json()
    assert other["text"] == CHESS["otto-kern.md"]
    assert built(client, "updates", {})["report"]["documents"] == 2


def test_a_file_that_cannot_be_read_is_named_without_where_it_was(client, english):
    report = built(client, "mixed", {"a.md": "# A\n\nAda Blum was born in Warsaw.\n", "b.exe": "MZ"})["report"]
    (line,) = report["files_failed"]
    assert line.startswith("b.exe: skipped: .exe is not a known format")


def test_a_deleted_document_is_gone_with_its_facts(client, english):
    built(client, "deleting", CHESS)
    where = {"params": {"id": "ada-blum.md"}}
    assert client.delete(f"{KB}/deleting/document", **where).status_code == 204
    assert client.delete(f"{KB}/deleting/document", **where).status_code == 404
    assert client.get(f"{KB}/deleting/document", **where).status_code == 404
    names = client.get(f"{KB}/deleting/graph/search", params={"q": "ada blum"}).json()
    assert names["items"] == []


def test_a_build_waits_for_a_review_and_goes_on_with_it(client, english):
    waiting = built(client, "chess", CHESS, review="true")
    assert waiting["state"] == "waiting"
    (candidate,) = waiting["review"]["candidates"]
    assert (candidate["kind"], candidate["name"], candidate["documents"]) == ("relation", "defeat", 2)
    decisions = {"decisions": [{"kind": "relation", "name": "defeat", "verdict": "rename",
                                "new_name": "won_against"}], "who": "Ann"}
    nowhere = {"decisions": [{"kind": "relation", "name": "defeat", "verdict": "merge", "into": "nowhere"}]}
    assert client.post(f"/api/builds/{waiting['id']}/decisions", json={**nowhere, "who": "Ann"}).status_code == 200
    again = followed(client, waiting["id"])[-1]
    assert again["state"] == "waiting"  # what cannot be carried out is asked again, with the reason
    assert "nowhere" in again["review"]["error"]
    went_on = client.post(f"/api/builds/{waiting['id']}/decisions", json=decisions)
    assert (went_on.status_code, went_on.json()["state"]) == (200, "queued")
    assert followed(client, waiting["id"])[-1]["report"]["triples"] == 4
    schema = client.get(f"{KB}/chess/schema").json()
    assert schema["version"] == 2
    assert "won_against" in [relation["name"] for relation in schema["schema"]["relation_types"]]
    history = client.get(f"{KB}/chess/schema/history").json()["items"]
    assert [one["who"] for one in history] == ["seed", "Ann"]
    assert client.post(f"/api/builds/{waiting['id']}/decisions", json=decisions).status_code == 409


def test_candidates_are_decided_on_after_a_build(client, english):
    built(client, "later", CHESS, evolve="false")
    (candidate,) = client.get(f"{KB}/later/schema/candidates").json()["items"]
    assert candidate["name"] == "defeat"
    decision = {"kind": "relation", "name": "defeat", "verdict": "accept"}
    said = client.post(f"{KB}/later/schema/decisions", json={"decisions": [decision], "who": "Ann"})
    assert said.json() == {"version": 2, "changed": True}
    found = client.get(f"{KB}/later/graph/types").json()["relations"]
    assert {"name": "defeat", "count": 2} in found
    wrong = client.post(f"{KB}/later/schema/decisions", json={"who": "Ann", "decisions": [
        {"kind": "relation", "name": "nothing_of_this_name", "verdict": "rename", "new_name": "x"}]})
    assert (wrong.status_code, wrong.json()["error"]["type"]) == (422, "DecisionError")


def test_knowledge_bases_are_built_side_by_side(client, english):
    started = [client.post(f"{KB}/{kb}/builds", files=sent(CHESS)).json()["id"]
               for kb in ("side-1", "side-2", "side-1")]
    assert [followed(client, one)[-1]["state"] for one in started] == ["done"] * 3
    assert [one["id"] for one in client.get("/api/builds", params={"kb": "side-1"}).json()["items"]] == [
        started[2], started[0]]


def test_the_log_tells_who_asked_what_of_whom_but_not_what(client, server, english):
    client.post(f"{KB}/english/ask", json={"question": "Where is the secret garden?"},
                headers={"X-Request-ID": "mine-1"})
    client.get(f"{KB}/english/documents", params={"q": "secret"})
    assert f"POST {KB}/english/ask 200" in server.said
    assert "request mine-1" in server.said
    assert "secret" not in server.said


# ---- with an endpoint that answers slowly ------------------------------------------------------------


@pytest.fixture(scope="module")
def endpoint():
    with llm_server.LlmServer() as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home whose server was ended while a build waited for a person: the folder, and that build."""
    folder = tmp_path_factory.mktemp("ended")
    with serving.served(folder) as server, httpx.Client(base_url=server.url, timeout=60) as client:
        waiting = built(client, "chess", CHESS, review="true")
        assert waiting["state"] == "waiting"
        assert serving.stop(server) == 0
    return folder, waiting


@pytest.fixture(scope="module")
def slow(home, endpoint):
    """A server of that home, which asks the endpoint."""
    with serving.served(home[0], BANYAN_LLM_BASE_URL=endpoint.base_url, BANYAN_LLM_MODEL="scripted",
                        BANYAN_LLM_RETRIES="0") as server:
        yield server


@pytest.fixture(scope="module")
def to_slow(slow):
    with httpx.Client(base_url=slow.url, timeout=60) as client:
        yield client


def wait_for(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.05)


def asked_by(endpoint, act):
    """What an action returns, once the endpoint was asked because of it and takes long to answer."""
    before, endpoint.seconds = endpoint.stats.requests, 60.0
    done = act()
    wait_for(lambda: endpoint.stats.requests > before)
    return done


def test_a_build_that_waits_outlives_the_server(to_slow, home, slow):
    waiting = home[1]
    assert to_slow.get(f"/api/builds/{waiting['id']}").json() == waiting
    decided = {"decisions": [{"kind": "relation", "name": "defeat", "verdict": "accept"}], "who": "Ann"}
    assert to_slow.post(f"/api/builds/{waiting['id']}/decisions", json=decided).status_code == 200
    assert followed(to_slow, waiting["id"])[-1]["state"] == "done"
    with sqlite3.connect(slow.home / "server.sqlite") as database:
        assert database.execute("SELECT count(*) FROM checkpoints").fetchone() == (0,), "of no use any more"


def test_a_build_is_cancelled_at_once_and_its_work_stands(to_slow, endpoint):
    assert to_slow.get("/api/ready").json()["reasoner"] == "llm"
    running = asked_by(endpoint, lambda: to_slow.post(f"{KB}/slow/builds", files=sent(CHESS)).json()["id"])
    queued = to_slow.post(f"{KB}/slow/builds", files=sent(CHESS)).json()["id"]
    assert to_slow.get(KB).json()["items"][-1]["building"] == queued
    assert to_slow.delete(f"{KB}/slow/document", params={"id": "ada-blum.md"}).status_code == 409, "one writer"
    assert to_slow.post(f"/api/builds/{queued}/cancel").json()["state"] == "cancelled"
    began = time.monotonic()
    assert to_slow.post(f"/api/builds/{running}/cancel").status_code == 200
    assert followed(to_slow, running)[-1]["state"] == "cancelled"
    assert time.monotonic() - began < 30, "the endpoint would have taken 60 s"
    assert to_slow.post(f"/api/builds/{running}/cancel").status_code == 409
    endpoint.seconds = 0.0
    assert built(to_slow, "slow", {})["report"]["documents"] == 2, "what was read is still there"


def test_it_ends_cleanly_while_it_streams_and_builds(to_slow, endpoint, slow, home):
    """And what was cut off is taken up by the next server."""
    build = asked_by(endpoint, lambda: to_slow.post(f"{KB}/third/builds", files=sent(CHESS)).json()["id"])
    events = []

    def follow():
        with to_slow.stream("POST", f"{KB}/chess/ask/stream", json={"question": "Who is Ada?"}) as stream:
            events.extend(sse.events(stream.iter_lines()))

    follower = threading.Thread(target=follow)
    follower.start()
    wait_for(lambda: events)
    began = time.monotonic()
    assert serving.stop(slow) == 0
    assert time.monotonic() - began < 12
    follower.join(10)
    assert (events[0].name, events[-1].name) == ("step", "error"), "the stream's end is told"
    assert "Traceback" not in slow.said
    endpoint.seconds = 0.0
    with serving.served(home[0]) as server, httpx.Client(base_url=server.url, timeout=60) as client:
        assert client.get(f"/api/builds/{build}").json()["state"] == "cancelled"
        assert built(client, "third", {})["report"]["documents"] == 2


# ---- keys -------------------------------------------------------------------------------------------------


def test_beyond_this_machine_it_starts_with_keys_alone(tmp_path):
    refused = serving.command_line.CommandLine(tmp_path)("serve", "--host", "0.0.0.0")
    assert refused.code == 1
    assert "no API key is set" in refused.err
    stored = Keys(tmp_path / "home" / KEYS_FILE)
    keys = {"reader": stored.make("reader", ["read"]), "writer": stored.make("writer", ["read", "write"]),
            "asker": stored.make("asker", ["ask"])}
    with serving.served(tmp_path, host="0.0.0.0") as server, httpx.Client(base_url=server.url, timeout=60) as client:
        def status(method, path, key, **more):
            headers = {"Authorization": f"Bearer {keys.get(key, key)}"} if key else {}
            return client.request(method, path, headers=headers, **more).status_code

        assert status("GET", "/api/health", "") == 200
        assert [status("GET", KB, key) for key in ("", "wrong", "asker", "reader")] == [401, 401, 403, 200]
        assert client.get(KB, headers={"X-API-Key": keys["reader"]}).status_code == 200
        sending = [status("POST", f"{KB}/chess/builds", key, files=sent(CHESS)) for key in ("reader", "writer")]
        assert sending == [403, 202]
        (build,) = client.get("/api/builds", headers={"X-API-Key": keys["writer"]}).json()["items"]
        with client.stream("GET", f"/api/builds/{build['id']}/events",
                           headers={"X-API-Key": keys["writer"]}) as stream:
            assert list(sse.events(stream.iter_lines()))[-1].data["state"] == "done"
        assert [status("POST", f"{KB}/chess/ask", key, json=BORN) for key in ("writer", "asker")] == [403, 200]
        assert [status("POST", path, "", json={}) for path in ("/mcp", "/chat/invoke")] == [401, 401]
        stored.revoke("reader")
        assert status("GET", KB, "reader") == 401, "a key that is taken back ends at once"
