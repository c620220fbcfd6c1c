"""API keys in LangGraph's own server: the same keys and scopes as of `banyan serve`, on LangGraph's routes too."""

import re
from uuid import uuid4

import httpx
import pytest
from banyan.server.security.keys import KEYS_FILE, Keys
from langgraph_sdk import get_sync_client

from .. import langgraph_server, rest
from ..langgraph_server import refused

pytestmark = pytest.mark.integration

SCOPES = {"writer": ["write"], "reviewer": ["review"], "ada": ["ask"], "bob": ["ask"],
          "all": ["read", "ask", "write", "review"], "metrics": ["metrics"]}
GIVEN = rest.GIVEN
REVIEW = {"review": True}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return langgraph_server.project_in(tmp_path_factory.mktemp("server"))


@pytest.fixture(scope="module")
def keys(folder, issuer):
    made = Keys(folder / "home" / KEYS_FILE)
    keys = {name: made.make(name, scopes) for name, scopes in SCOPES.items()}
    keys |= {"other": made.make("other", SCOPES["all"], ["elsewhere"]), "nothing": made.make("nothing", []),
             "revoked": made.make("revoked", SCOPES["all"])}
    made.revoke("revoked")
    everything = " ".join(SCOPES["all"])
    return keys | {"token: ask": issuer.token("ask"), "token: nothing": issuer.token(),
                   "token: other": issuer.token(everything, bases=["elsewhere"], sub="bob")}


@pytest.fixture(scope="module")
def url(folder, keys, issuer):
    with langgraph_server.langgraph_dev(folder, folder / "server.log", **issuer.variables()) as address:
        yield address


@pytest.fixture(scope="module")
def http(url):
    """Whoever has no key yet; a client for each request would read the machine's certificates each time."""
    # The server closes a connection whose request it refused before it read all of it.
    with httpx.Client(base_url=url, timeout=30, limits=httpx.Limits(max_keepalive_connections=0)) as http:
        yield http


@pytest.fixture(scope="module")
def clients(url, keys):
    made = {name: get_sync_client(url=url, headers={"X-API-Key": key}) for name, key in keys.items()}
    yield made
    for client in made.values():
        client.http.client.close()


@pytest.fixture(scope="module")
def waiting(clients):
    thread = clients["all"].threads.create()["thread_id"]
    build(clients["all"], thread, input={"knowledge_base": "chess", "documents": GIVEN}, context=REVIEW)
    return thread


def build(client, thread=None, **more):
    return client.runs.wait(thread, "construction", **{"input": {"knowledge_base": "kb", "documents": GIVEN}, **more})


def test_nobody_enters_without_a_key(url, http, waiting):
    for headers in ({}, {"X-API-Key": "banyan_wrong"}, {"x-auth-scheme": "langsmith"}):
        with get_sync_client(url=url, headers=headers) as client, refused(401):
            client.assistants.search()
    for path in ("/threads", "/runs/stream", "/api/knowledge-bases", "/chat/kb/kb/invoke", "/mcp", "/store/items"):
        assert http.post(path, json={}).status_code in {401, 405}, path
    assert http.get("/ok").status_code == 200


def test_metrics_need_their_scope(http, keys):
    for name, status in (("metrics", 200), ("all", 403), ("other", 403), ("token: ask", 403)):
        for path in ("/metrics", "/metrics?format=json", "/%6detrics"):
            assert http.get(path, headers={"X-API-Key": keys[name]}).status_code == status, (name, path)


def described(http, key, known=""):
    """Each route and method of LangGraph's own description, with any id in its path, or one that is known."""
    paths = http.get("/openapi.json", headers={"X-API-Key": key}).json()["paths"]
    routes = [(method.upper(), re.sub(r"{[^}]+}", known or str(uuid4()), path)) for path, methods in paths.items()
              for method in methods]
    assert len(routes) > 40
    return [*routes, *((method, path) for path in ("/internal/truncate", f"/internal/debug/thread/{uuid4()}", "/deploy")
                       for method in ("GET", "POST")), ("GET", "/docs"), ("GET", "/info"), ("GET", "/metrics")]


# Every route takes a while; who is let in is in unit/server/test_langgraph_auth.py and test_server_chat.py, too.
@pytest.mark.slow
def test_no_route_answers_without_a_key_to_another_name_or_a_foreign_page(http, keys, issuer, waiting):
    mine, bad = {"X-API-Key": keys["all"]}, issuer.bad_tokens("ask write review")
    bad_ones = [keys["revoked"], *(bad[why] for why in (
        "expired", "of another issuer", "for others", "signed by another", "unsigned"))]
    for method, path in described(http, keys["all"]):
        def status(**headers):
            return http.request(method, path, headers=headers, content=b"{}").status_code  # noqa: B023

        if path not in {"/ok", "/"}:
            for key in ({}, *({"X-API-Key": bad} for bad in bad_ones)):
                assert status(**key, **{"Content-Type": "application/json"}) in {401, 404}, f"{method} {path}: {key}"
        if path.startswith(("/internal", "/deploy")):
            assert status(**mine) == 404
            continue
        assert status(**mine, Host="evil.example") == 400, f"{method} {path} by another name"
        if method not in {"GET", "HEAD", "OPTIONS"}:
            assert status(**mine, Origin="https://evil.example") == 403, f"{method} {path} from a foreign page"


@pytest.mark.slow
def test_no_route_tells_a_key_of_others_or_without_scopes_of_a_knowledge_base(http, keys, waiting):
    """Each route, about the thread of another client and its assistant, with a question to its knowledge base."""
    question = {"assistant_id": "retrieval", "input": {"knowledge_base": "chess", "question": "Who was Ada Blum?"},
                "namespace": ["x"], "key": "x", "value": {}, "thread_id": waiting, "schedule": "0 0 1 1 *"}
    for name in ("other", "nothing", "token: other", "token: nothing"):
        for method, path in described(http, keys["all"], waiting):
            told = http.request(method, path, headers={"X-API-Key": keys[name]}, json=question)
            assert not [word for word in ("Otto", "Tom Hale") if word in told.text], f"{method} {path}: {told.text}"
            runs = method == "POST" and path.startswith(("/runs", f"/threads/{waiting}/runs")) and "cancel" not in path
            if told.status_code == 200:
                assert not runs or path.endswith("/batch"), f"{method} {path} to {name}: {told.text}"


def test_a_key_of_some_knowledge_bases_asks_those_alone(clients, waiting):
    other = clients["other"]
    assert build(other, input={"knowledge_base": "elsewhere", "documents": GIVEN})["report"]["documents"] == 2
    asked = {"knowledge_base": "elsewhere", "question": "Whom did Ada Blum defeat?"}
    thread = other.threads.create()["thread_id"]
    assert "answer" in other.runs.wait(thread, "retrieval", input=asked)
    for name in ("chess", "not-there"):
        with refused(404, f"there is no knowledge base '{name}'"):
            other.runs.wait(thread, "retrieval", input=asked | {"knowledge_base": name})
        with refused(404, f"there is no knowledge base '{name}'"):
            build(other, input={"knowledge_base": name, "documents": GIVEN})
    with refused(404, "there is no knowledge base 'chess'; there are: elsewhere"):
        other.runs.wait(thread, "retrieval", input={"question": "Who?"}, context={"knowledge_base": "chess"})
    with refused(403, "this concerns all"):
        other.threads.update_state(thread, {"knowledge_base": "chess"})
    with refused(404):
        other.threads.get(waiting)


def test_no_state_is_updated_without_the_scope_of_what_follows(http, keys, clients, waiting):
    """A run goes on wherever its state says, so that whoever may write the state may build."""
    reviewer = clients["reviewer"]
    own = reviewer.threads.create()["thread_id"]
    started = {"knowledge_base": "stolen", "documents": GIVEN}
    with refused(403, "lacks the scope write"):
        reviewer.threads.update(own, metadata={"graph_id": "construction"})
    with refused(403, "lacks the scope write"):
        reviewer.threads.update_state(own, started, as_node="__start__")
    named = reviewer.threads.create(graph_id="construction")["thread_id"]
    for update in (started, None):
        with refused(403, "lacks the scope write"):
            reviewer.threads.update_state(named, update, as_node="__start__")
    # Upstream makes the thread, and then says why it has no state.
    made = http.post("/threads", headers={"X-API-Key": keys["reviewer"]}, json={
        "metadata": {"graph_id": "construction"},
        "supersteps": [{"updates": [{"values": started, "as_node": "__start__"}]}]})
    assert "lacks the scope write" in made.text


def test_a_decision_needs_its_scope_and_is_no_way_around(clients, waiting):
    thread = clients["writer"].threads.create()["thread_id"]
    build(clients["writer"], thread, input={"knowledge_base": "two", "documents": GIVEN}, context=REVIEW)
    with refused(403, "lacks the scope review"):
        build(clients["writer"], thread, input=None, command={"resume": {"all": "accept"}}, context=REVIEW)
    own = clients["reviewer"].threads.create()["thread_id"]
    for command in ({"goto": "ingest", "update": {"knowledge_base": "two"}},
                    {"resume": {"all": "accept"}, "goto": "ingest"}):
        with refused(403, "lacks the scope write"):
            build(clients["reviewer"], own, input=None, command=command)
    report = build(clients["all"], waiting, input=None, command={"resume": {"all": "accept"}}, context=REVIEW)["report"]
    assert report["schema_version"] == 2


def test_a_client_leaves_a_worker_to_others(url, folder, clients):
    key = Keys(folder / "home" / KEYS_FILE).make("greedy", ["ask"])
    later = {"assistant_id": "retrieval", "input": {"knowledge_base": "kb", "question": "Who?"}, "after_seconds": 600}
    with get_sync_client(url=url, headers={"X-API-Key": key}) as greedy:
        runs = [greedy.runs.create(greedy.threads.create()["thread_id"] if stored else None, **later)
                for stored in (True, False, True)]
        with refused(429):
            greedy.runs.create(None, **later)
        clients["ada"].runs.create(None, **later | {"after_seconds": 0})
        greedy.runs.cancel(runs[0]["thread_id"], runs[0]["run_id"], wait=True)
        greedy.runs.create(None, **later)
