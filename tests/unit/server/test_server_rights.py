"""Who may do what: every route and every tool, made a table of from the app itself, for each kind of key that may not.

A new route is in the table as soon as it is in the app. One that names its knowledge base neither in its address nor as
those below do is not answered as the table wants it, and has to say here what keeps it from others.
"""

import json
import re
from typing import NamedTuple

import pytest
from banyan.server.app import create_app
from banyan.server.runs.conversations import Thread
from banyan.server.runs.jobs import new_job
from banyan.server.security.keys import SCOPES, Keys

from ... import in_process, rest

SECRET = "people"
"""The knowledge base that is none of the key's business, and `GONE` one that is not there."""
GONE = "nobody"
MINE = "mine"
VACANT = "vacant"
"""Of the key's names, and not there: what its scopes allow does nothing."""
FOR_ANYBODY = {"/", "/docs", "/assets", "/api/health", "/api/ready"}
FOR_ANY_KEY = {"/api/openapi.json", "/mcp"}
"""The description of the API; tools, which are in a table of their own."""
WHATEVER_THE_BASE = {"/api/formats", "/api/model", "/api/command", "/api/knowledge-bases", "/api/builds", "/v1/models"}
"""What is read alike by keys of all knowledge bases; the lists have what the key is for, which a test looks at."""
READING = {f"/api/knowledge-bases/{{kb}}/{below}" for below in ("graph/evidence", "questions/next", "sql")}
"""What is only read, although the question comes in a body."""
OF_ALL = {"/api/model", "/api/model/try", "/metrics"}
"""What concerns all knowledge bases, and is refused to keys of some."""


class There(NamedTuple):
    kb: str
    build: str
    link: str


@pytest.fixture(scope="module")
def resources(tmp_path_factory, hashed_embedder):
    with in_process.opened(tmp_path_factory.mktemp("home"), hashed_embedder, SECRET, MINE,
                           requests_per_minute=100_000) as resources:
        yield resources


@pytest.fixture(scope="module")
def client(resources):
    with in_process.client(create_app(resources), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture(scope="module")
def keys(resources):
    """The keys of others than may; `ann` is the one whose conversation is shared. Tokens grant the same (test_oidc)."""
    kept, others = Keys.of(resources.settings), [MINE, VACANT]
    made = {"revoked": kept.make("revoked", SCOPES), "nothing": kept.make("nothing", []),
            "all": kept.make("all", SCOPES), "other": kept.make("ann", SCOPES, others)}
    made |= {f"no {scope}": kept.make(f"no-{scope}", [one for one in SCOPES if one != scope], others)
             for scope in SCOPES}
    kept.revoke("revoked")
    return made


@pytest.fixture(scope="module")
def there(client):
    service = client.app.state.service
    service.conversations.add(Thread("ann", SECRET, "t1"), "Where was Ada Byron born?", rest.ANSWER)
    link = service.conversations.change(Thread("ann", SECRET, "t1"), shared=True).link
    service.builds.jobs.add(new_job(SECRET).having(id="20260101-secret", state="done"))
    return There(SECRET, "20260101-secret", link)


NOT_THERE = There(GONE, "20260101-absent", "A" * 22)
NOTHING_THERE = NOT_THERE._replace(kb=VACANT)


def sent(client, route, what, key):
    fill = {"kb": what.kb, "knowledge_base": what.kb, "build": what.build, "link": what.link, "thread": "t1",
            "number": "1", "language": "en"}
    path = re.sub(r"{([^}]+)}", lambda match: fill[match[1]], route.path)
    of = {"kb": what.kb} if path.startswith("/api/threads") else {}
    return client.request(route.method, path, params=of, json=body(route, what.kb),
                          headers={"X-API-Key": key} if key else {})


def body(route, kb):
    """OpenAI's chat names its knowledge base here; for all others nothing is right, so that nothing is done."""
    if route.path == "/v1/chat/completions":
        return {"model": kb, "messages": [{"role": "user", "content": "Where was Ada Byron born?"}]}
    return None if route.method == "GET" else {}


def table(client, without=frozenset()):
    routes = [route for route in in_process.routes_of(client.app) if route.path not in FOR_ANYBODY | without]
    assert len(routes) > 60
    return routes


def neutral(response, what):
    """What was said, with the same words for what it is about, and without what differs each time."""
    text = response.text
    for value in what:
        text = text.replace(value, "…")
    return response.status_code, re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}", "", text)


def test_every_route_refuses_who_has_no_key_or_a_revoked_one(client, keys, there):
    for route in table(client):
        for key in ("", keys["revoked"], "banyan_guessed", "a.b.c"):
            assert sent(client, route, there, key).status_code == 401, f"{route}: {key}"
    for path in FOR_ANYBODY - {"/assets"}:
        assert client.get(path, follow_redirects=False).status_code in {200, 307, 503}


def test_every_route_needs_a_scope_and_those_that_change_something_more_than_read(client, keys, there):
    for route in table(client, FOR_ANY_KEY):
        refused = sent(client, route, there, keys["nothing"])
        assert (refused.status_code, "lacks the scope" in refused.text) == (403, True), route
        needs = {scope for scope in SCOPES
                 if "lacks the scope" in sent(client, route, NOTHING_THERE, keys[f"no {scope}"]).text}
        assert needs, route
        if route.method != "GET" and route.path not in READING:
            assert needs & {"ask", "write", "review"}, route


def test_a_key_of_other_knowledge_bases_is_told_the_same_as_if_there_were_none(client, keys, there):
    for route in table(client, FOR_ANY_KEY):
        told, gone = (sent(client, route, what, keys["other"]) for what in (there, NOT_THERE))
        assert neutral(told, there) == neutral(gone, NOT_THERE), route
        assert "Ulm" not in told.text, route
        assert "20260101" not in told.text.replace(f"'{there.build}'", ""), route
        if route.method == "GET" and route.path in WHATEVER_THE_BASE:
            continue
        if told.status_code == 200:  # a stream says so in an event
            assert "there is no knowledge base" in told.text, route
        else:
            assert told.status_code == (403 if route.path in OF_ALL else 404), route


def test_lists_hold_what_the_key_is_for(client, keys, there):
    def names(path, key, of):
        return {one[of] for one in client.get(path, headers={"X-API-Key": keys[key]}).json()["items"]}

    assert names("/api/knowledge-bases", "other", "name") == {MINE}
    assert names("/api/knowledge-bases", "all", "name") >= {MINE, SECRET}
    assert names("/api/builds", "other", "kb") == set()
    assert names("/api/builds", "all", "kb") == {SECRET}


def test_knowledge_bases_are_made_and_renamed_within_the_keys_names_alone(client, keys, resources):
    other = {"X-API-Key": keys["other"]}
    for name in (SECRET, GONE):  # whether there is one of that name makes no difference
        refused = client.patch(f"/api/knowledge-bases/{MINE}", json={"name": name}, headers=other)
        assert (refused.status_code, "does not cover a knowledge base" in refused.text) == (403, True)
    schema = {"text": json.dumps({"name": "s", "entity_types": [{"name": "Person"}]}), "who": "ann"}
    assert client.put(f"/api/knowledge-bases/{GONE}/schema", json=schema, headers=other).status_code == 404
    assert not (resources.settings.home / GONE).exists()
    made = client.put(f"/api/knowledge-bases/{VACANT}/schema", json=schema, headers=other)
    assert made.status_code == 200, made.text
    assert client.delete(f"/api/knowledge-bases/{VACANT}", headers=other).status_code == 204
    assert client.get(f"/api/knowledge-bases/{MINE}", headers=other).json()["documents"] == 4


TOOL_ARGUMENTS = {"query": "Ada", "question": "Who was Ada Byron?", "document": "ada", "entity": "Ada",
                  "relation": "born_in", "start": "Ada", "text": "Text.", "who": "Eve", "sql": "SELECT 1",
                  "decisions": [{"kind": "relation", "name": "born_in", "verdict": "reject"}]}


def called(client, method, key, **params):
    return rest.mcp(client, method, {"X-API-Key": key}, **params)


def test_every_tool_refuses_a_lesser_scope_and_a_key_of_others(client, keys, resources):
    tools = called(client, "tools/list", keys["all"])["tools"]
    assert len(tools) == 16
    for tool in tools:
        name, arguments = tool["name"], {one: TOOL_ARGUMENTS[one] for one in tool["inputSchema"].get("required", ())}
        refused = called(client, "tools/call", keys["nothing"], name=name, arguments=arguments)
        assert (refused["isError"], "lacks the scope" in refused["content"][0]["text"]) == (True, True), name
        if "knowledge_base" not in tool["inputSchema"]["properties"]:
            assert name == "list_knowledge_bases"
            continue
        told, gone = (called(client, "tools/call", keys["other"], name=name,
                             arguments=arguments | {"knowledge_base": kb}) for kb in (SECRET, GONE))
        assert told["isError"], name
        assert told["content"][0]["text"].replace(SECRET, GONE) == gone["content"][0]["text"], name
        assert "there is no knowledge base" in gone["content"][0]["text"]
    listed = called(client, "tools/call", keys["other"], name="list_knowledge_bases", arguments={})
    assert listed["structuredContent"]["names"] == [MINE]
    unnamed = called(client, "tools/call", keys["other"], name="search", arguments={"query": "Ada"})
    assert "Carl Berg" in unnamed["content"][0]["text"], "the only one that it may see"
    assert not (resources.settings.home / GONE).exists()
