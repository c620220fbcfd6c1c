"""What LangGraph's own clients expect of a server: `langgraph_sdk` against `langgraph dev`, one server for all."""

import asyncio
import time
from contextlib import contextmanager

import httpx
import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.errors import APIStatusError
from mcp import Client

from .. import langgraph_server
from ..collector import collecting

pytestmark = pytest.mark.integration

GIVEN = [{"id": f"{name}.md", "text": f"# {name}\n\n{name} was a chess player. {name} was born in {city}.\n\n"
         f"| Person | Defeat |\n|---|---|\n| {name} | {other} |\n"}
         for name, city, other in (("Otto Kern", "Vienna", "Tom Hale"), ("Ada Blum", "Warsaw", "Otto Kern"))]
BORN = {"messages": [{"role": "user", "content": "Where was Ada Blum born?"}]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return langgraph_server.project_in(tmp_path_factory.mktemp("server"))


@pytest.fixture(scope="module")
def collector():
    with collecting() as collector:
        yield collector


@pytest.fixture(scope="module")
def url(folder, collector):
    (folder / ".env").write_text("BANYAN_SERVER_DOCUMENTS=/srv/named-in-env-file\n", "utf-8")
    with langgraph_server.langgraph_dev(folder, folder / "server.log", LANGSMITH_TRACING="true",
                                        LANGSMITH_ENDPOINT=collector.url, LANGSMITH_API_KEY="lsv2-test") as address:
        yield address


@pytest.fixture(scope="module")
def client(url):
    with get_sync_client(url=url) as client:
        yield client


def build(client, name, thread=None, **more):
    return client.runs.wait(thread, "construction", input={"knowledge_base": name, "documents": GIVEN}, **more)


@pytest.fixture(scope="module")
def chess(client):
    """The only knowledge base, and what was said before there was any."""
    asked = failure(client, BORN)
    build(client, "chess")
    return asked


@pytest.fixture(scope="module")
def both(client, chess):
    """Two knowledge bases; the second says nothing of Ada Blum."""
    assert "Warsaw" in client.runs.wait(None, "retrieval", input=BORN)["answer"], "there is one knowledge base"
    client.runs.wait(None, "construction", input={"knowledge_base": "rivers", "documents": [
        {"id": "mur.md", "text": "# Mur\n\nThe Mur is a river. The Mur flows through Graz."}]})


def failure(client, given, assistant="retrieval"):
    told = client.runs.wait(None, assistant, input=given, raise_error=False)
    return told["__error__"]["message"]


class TestMessagesAlone:
    def test_without_a_knowledge_base_the_error_says_how_to_make_one(self, chess):
        assert chess == "there is no knowledge base yet: make one with `banyan build PATH --kb NAME`"

    def test_they_are_asked_of_the_only_one_and_of_several_none_is_guessed(self, client, both):
        assert failure(client, BORN).startswith("which knowledge base? There are chess, rivers: name one")
        assert "there are: chess, rivers" in failure(client, {**BORN, "knowledge_base": "nowhere"})

    def test_the_context_and_the_assistant_name_one(self, client, both):
        told = client.runs.wait(None, "retrieval", input=BORN, context={"knowledge_base": "chess"})
        assert "Warsaw" in told["messages"][-1]["content"]
        offered = {one["name"]: one for one in client.assistants.search()}
        assert offered.keys() == {"construction", "retrieval", "chess", "rivers"}
        assert "Warsaw" in client.runs.wait(None, offered["chess"]["assistant_id"], input=BORN)["answer"]

    def test_a_thread_follows_the_assistant_that_it_goes_on_with(self, client, both):
        thread = client.threads.create()["thread_id"]
        ids = {one["name"]: one["assistant_id"] for one in client.assistants.search()}
        river = {"messages": [{"role": "user", "content": "Through which city does the Mur flow?"}]}
        assert "Warsaw" in client.runs.wait(thread, ids["chess"], input=BORN)["answer"]
        assert "Graz" in client.runs.wait(thread, ids["rivers"], input=river)["answer"]


@contextmanager
def refused(status, why):
    """The block ends with the response of this status."""
    with pytest.raises((APIStatusError, httpx.HTTPStatusError)) as told:
        yield
    assert (told.value.response.status_code, why in told.value.response.text) == (status, True)


def agent_chat_ui_actions(interrupt):
    """The actions that agent-chat-ui and Agent Inbox show of an interrupt, or None where they show plain JSON.

    A double of their check: `HITLRequest` has lists `action_requests`, of a `name`, an object `args` and, where there
    is one, a text `description`; and `review_configs`, of an `action_name` and its `allowed_decisions`.
    """
    value = interrupt.get("value")
    requests, configs = (value.get(part) if isinstance(value, dict) else None
                         for part in ("action_requests", "review_configs"))
    if not (isinstance(requests, list) and requests and isinstance(configs, list) and configs):
        return None
    allowed = {one.get("action_name"): one.get("allowed_decisions") for one in configs}
    fits = all(isinstance(one.get("name"), str) and isinstance(one.get("args"), dict)
               and isinstance(one.get("description", ""), str)
               and set(allowed.get(one["name"]) or ["none"]) <= {"approve", "edit", "reject", "respond"}
               for one in requests)
    return requests if fits else None


def waiting(client, name):
    """A build that asks a person about the schema."""
    thread = client.threads.create()["thread_id"]
    build(client, name, thread, context={"review": True})
    return thread


def resume(client, thread, answer):
    """Resume as front ends do, which know nothing of the context that the run began with."""
    return client.runs.wait(thread, "construction", command={"resume": answer}, raise_error=False)


def decided(client, name):
    history = client.http.client.get(f"/api/knowledge-bases/{name}/schema/history").json()
    return [(version["version"], version["who"]) for version in history["items"]]


class TestReview:
    def test_it_is_shown_and_approved_in_the_standard_form(self, client):
        thread = waiting(client, "approved")
        (interrupt,) = client.threads.get_state(thread)["interrupts"]
        (action,) = agent_chat_ui_actions(interrupt)
        assert action["args"] == {"kind": "attribute", "name": "defeat", "domain": ["Person"], "merge_into": ""}
        report = resume(client, thread, {"decisions": [{"type": "approve"}]})["report"]
        assert (report["schema_version"], report["stopped"]) == (2, "")
        assert decided(client, "approved") == [(1, "seed"), (2, "local")], "a person, not `auto`"

    def test_an_edit_and_a_rejection_are_carried_out_without_the_context(self, client):
        thread = waiting(client, "edited")
        edited = {"name": "add_to_schema", "args": {"name": "won_against"}}
        admitted = resume(client, thread, {"decisions": [{"type": "edit", "edited_action": edited}]})["report"]
        schema = client.http.client.get("/api/knowledge-bases/edited/schema").json()["schema"]
        assert "won_against" in {one["name"] for one in schema["attribute_types"]}
        thread = waiting(client, "rejected")
        report = resume(client, thread, {"decisions": [{"type": "reject", "message": "no attribute"}]})["report"]
        assert decided(client, "rejected")[0] == (1, "seed")
        schema = client.http.client.get("/api/knowledge-bases/rejected/schema").json()["schema"]
        assert "defeat" not in {one["name"] for one in schema["attribute_types"]}
        assert report["attributes"] < admitted["attributes"], "nothing was admitted instead"

    def test_a_resume_of_what_does_not_wait_is_refused(self, client):
        thread = waiting(client, "ended")
        resume(client, thread, "reject")
        with refused(409, "waits for no decision"):
            client.runs.wait(thread, "construction", command={"resume": {"decisions": [{"type": "approve"}]}})
        fresh = client.threads.create()["thread_id"]
        with refused(409, "waits for no decision"):
            client.runs.wait(fresh, "construction", command={"resume": "accept"})
        assert "defeat" not in str(client.http.client.get("/api/knowledge-bases/ended/schema").json()["schema"])


def mcp(url, *calls):
    """What the tools of an MCP server are called, and the results of some calls."""
    async def ask():
        async with Client(f"{url}/mcp") as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            return names, [await client.call_tool(name, arguments) for name, arguments in calls]

    return asyncio.run(ask())


class TestOtherProtocols:
    def test_a2a_has_a_card_that_says_what_it_does_and_answers_messages(self, client, both):
        (assistant,) = client.assistants.search(metadata={"knowledge_base": "chess"})
        http, path = client.http.client, f"/a2a/{assistant['assistant_id']}"
        card = http.get(f"{path}/.well-known/agent-card.json").json()
        assert card["name"] == "chess"
        assert card["description"].startswith("Answers questions from the documents of the knowledge base 'chess'")
        told = http.post(path, headers={"Accept": "application/json"}, json={
            "jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": {
                "role": "user", "messageId": "m", "parts": [{"kind": "text", "text": "Where was Ada Blum born?"}]}}})
        (artifact,) = told.json()["result"]["artifacts"]
        assert "Warsaw" in artifact["parts"][0]["text"]


class TestConfiguration:
    def test_the_users_env_file_counts(self, client):
        told = failure(client, {"knowledge_base": "files", "paths": ["/etc/passwd"]}, "construction")
        assert "(now '/srv/named-in-env-file')" in told

    def test_runs_are_traced_where_the_user_asks_for_it(self, collector, both):
        deadline = time.monotonic() + 30
        while not collector.bodies:
            assert time.monotonic() < deadline, "LANGSMITH_TRACING=true was set over"
            time.sleep(0.1)
