"""MCP as a part of the server's app: what a key may do, and where a request may come from."""

import json

import banyan
import pytest
from banyan.server.app import create_app
from banyan.server.security.keys import Keys
from starlette.testclient import TestClient

from ..conftest import load_test_module

small_base = load_test_module("small_base")
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}


@pytest.fixture
def resources(tmp_path, hashed_embedder):
    small_base.people(tmp_path, "people", hashed_embedder)
    with banyan.Resources(banyan.Settings(home=tmp_path, llm_base_url=None, _env_file=None),
                          hashed_embedder) as resources:
        yield resources


@pytest.fixture
def client(resources):
    with TestClient(create_app(resources), base_url="http://127.0.0.1") as client:
        yield client


def posted(client, tool, key=None, **arguments):
    """The response to the call of a tool."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    return client.post("/mcp", json=call, headers=HEADERS | ({"Authorization": f"Bearer {key}"} if key else {}))


def result(response):
    assert response.status_code == 200, response.text
    (data,) = [line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: {")]
    return json.loads(data)["result"]


def test_without_keys_whoever_is_on_this_machine_may_ask(client):
    said = result(posted(client, "ask", knowledge_base="people", question="Where was Ada Byron born?"))
    assert said["structuredContent"]["citations"][0]["document"] == "ada"


def test_a_key_does_what_its_scopes_allow(client, resources):
    key = Keys.of(resources.settings).make("reader", ["read", "ask"])
    assert posted(client, "search", knowledge_base="people", query="Ada").status_code == 401
    assert posted(client, "search", "wrong", knowledge_base="people", query="Ada").status_code == 401
    assert not result(posted(client, "search", key, knowledge_base="people", query="Ada"))["isError"]
    refused = [result(posted(client, "add_document", key, knowledge_base="people", document="x.md", text="Text.")),
               result(posted(client, "decide_schema", key, knowledge_base="people", who="Eve", decisions=[
                   {"kind": "relation", "name": "born_in", "verdict": "reject"}]))]
    assert [answer["isError"] for answer in refused] == [True, True]
    assert ["lacks the scope" in answer["content"][0]["text"] for answer in refused] == [True, True]
    kb = resources.knowledge_base("people")
    assert (kb.documents.count_documents(), kb.schemas.version()) == (4, 1)


def test_a_page_of_another_origin_is_refused(client):
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert client.post("/mcp", json=call, headers=HEADERS | {"Origin": "https://evil.example"}).status_code == 403


def test_what_langgraphs_server_mounts_leaves_mcp_to_it(resources):
    assert "/mcp" not in {getattr(route, "path", "") for route in create_app(resources, hosted=True).routes}
