"""API keys in LangGraph's own server: the same keys and scopes as of `banyan serve`, on LangGraph's routes too."""

from contextlib import contextmanager

import httpx
import pytest
from banyan.server.security.keys import KEYS_FILE, Keys
from langgraph_sdk import get_sync_client
from langgraph_sdk.errors import APIStatusError

from ..conftest import load_test_module

pytestmark = pytest.mark.integration

langgraph_server = load_test_module("langgraph_server")
SCOPES = {"writer": ["write"], "reviewer": ["review"], "ada": ["ask"], "bob": ["ask"],
          "all": ["read", "ask", "write", "review"]}
GIVEN = [{"id": f"{name}.md", "text": f"# {name}\n\n{name} was a chess player. {name} defeated {other} in 1911.\n"}
         for name, other in (("Otto Kern", "Tom Hale"), ("Ada Blum", "Otto Kern"))]
REVIEW = {"review": True}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return langgraph_server.project_in(tmp_path_factory.mktemp("server"))


@pytest.fixture(scope="module")
def keys(folder):
    made = Keys(folder / "home" / KEYS_FILE)
    return {name: made.make(name, scopes) for name, scopes in SCOPES.items()}


@pytest.fixture(scope="module")
def url(folder, keys):
    with langgraph_server.langgraph_dev(folder, folder / "server.log") as address:
        yield address


@pytest.fixture(scope="module")
def clients(url, keys):
    made = {name: get_sync_client(url=url, headers={"X-API-Key": key}) for name, key in keys.items()}
    yield made
    for client in made.values():
        client.http.client.close()


@pytest.fixture(scope="module")
def waiting(clients):
    """A build by `all` that waits for a decision."""
    thread = clients["all"].threads.create()["thread_id"]
    build(clients["all"], thread, input={"knowledge_base": "chess", "documents": GIVEN}, context=REVIEW)
    return thread


@contextmanager
def refused(status, why=""):
    """The block ends with the response of this status."""
    with pytest.raises((APIStatusError, httpx.HTTPStatusError)) as told:
        yield
    assert told.value.response.status_code == status
    assert why in told.value.response.text


def build(client, thread=None, **more):
    return client.runs.wait(thread, "construction", **{"input": {"knowledge_base": "kb", "documents": GIVEN}, **more})


def test_nobody_enters_without_a_key(url, waiting):
    for headers in ({}, {"X-API-Key": "banyan_wrong"}, {"x-auth-scheme": "langsmith"}):
        with get_sync_client(url=url, headers=headers) as client, refused(401):
            client.assistants.search()
    for path in ("/threads", "/runs/stream", "/api/knowledge-bases", "/chat/invoke", "/mcp", "/store/items"):
        assert httpx.post(f"{url}{path}", json={}).status_code in {401, 405}, path
    assert httpx.get(f"{url}/ok").status_code == 200


def test_each_does_what_its_scopes_allow(clients, waiting):
    asked = {"knowledge_base": "chess", "question": "Whom did Ada Blum defeat?"}
    assert "answer" in clients["ada"].runs.wait(None, "retrieval", input=asked)
    for name in ("ada", "reviewer"):
        with refused(403, "lacks the scope write"):
            build(clients[name])
    with refused(403, "lacks the scope ask"):
        clients["writer"].runs.wait(None, "retrieval", input=asked)
    assert build(clients["writer"])["report"]["documents"] == 2
    with refused(403, "lacks the scope write"):
        clients["ada"].assistants.create("construction")
    with refused(403):
        clients["ada"].store.put_item(["x"], "key", {})


def test_a_decision_needs_its_scope_and_is_no_way_around(clients, waiting):
    thread = clients["writer"].threads.create()["thread_id"]
    build(clients["writer"], thread, input={"knowledge_base": "two", "documents": GIVEN}, context=REVIEW)
    with refused(403, "lacks the scope review"):
        build(clients["writer"], thread, input=None, command={"resume": "accept"}, context=REVIEW)
    own = clients["reviewer"].threads.create()["thread_id"]
    for command in ({"goto": "ingest", "update": {"knowledge_base": "two"}}, {"resume": "accept", "goto": "ingest"}):
        with refused(403, "lacks the scope write"):
            build(clients["reviewer"], own, input=None, command=command)
    report = build(clients["all"], waiting, input=None, command={"resume": "accept"}, context=REVIEW)["report"]
    assert report["schema_version"] == 2


def test_threads_are_their_clients_own(clients):
    thread = clients["ada"].threads.create()["thread_id"]
    clients["ada"].runs.wait(thread, "retrieval", input={"knowledge_base": "chess", "question": "Who was Ada Blum?"})
    for read in (clients["bob"].threads.get, clients["bob"].threads.get_state, clients["bob"].threads.delete):
        with refused(404):
            read(thread)
    assert clients["bob"].threads.search() == []
    assert [found["thread_id"] for found in clients["ada"].threads.search()] == [thread]
    with refused(404):
        clients["bob"].runs.wait(thread, "retrieval", input={"knowledge_base": "chess", "question": "And who else?"})
