"""Both graphs in LangGraph's own development server, with Banyan's app on the same port: one server for all.

Listed, interrupted and resumed, streamed, called remotely; what LangGraph's own clients expect; what is refused.
"""

from itertools import groupby

import httpx
import pytest
from langchain.agents.middleware.human_in_the_loop import HITLRequest
from langgraph_sdk import get_sync_client
from langserve import RemoteRunnable
from pydantic import TypeAdapter

from .. import command_line, langgraph_server, rest
from ..http_servers import collecting
from ..langgraph_server import refused
from ..waiting import wait_for

pytestmark = pytest.mark.integration

REVIEW = {"review": True}
DOCUMENTS, GIVEN = rest.DEFEATS, rest.GIVEN
BORN = {"messages": [{"role": "user", "content": "Where was Ada Blum born?"}]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = langgraph_server.project_in(tmp_path_factory.mktemp("server"))
    for place in ("chess", "secret"):
        (folder / place).mkdir()
        for name, text in DOCUMENTS.items():
            (folder / place / name).write_text(text, "utf-8")
    (folder / ".env").write_text(f"BANYAN_SERVER_DOCUMENTS={folder / 'chess'}\n", "utf-8")
    return folder


@pytest.fixture(scope="module")
def collector():
    with collecting() as collector:
        yield collector


@pytest.fixture(scope="module")
def url(folder, collector):
    with langgraph_server.langgraph_dev(folder, folder / "server.log", LANGSMITH_TRACING="true",
                                        LANGSMITH_ENDPOINT=collector[0], LANGSMITH_API_KEY="lsv2-test") as address:
        yield address


@pytest.fixture(scope="module")
def client(url):
    with get_sync_client(url=url) as client:
        yield client


@pytest.fixture(scope="module")
def reviewed(client, folder):
    """A build that asked for a decision: what was said before it, its thread, what was streamed, the thread as it
    waited, and the result.
    """
    said = failure(client, BORN)
    thread = client.threads.create()["thread_id"]
    streamed = list(client.runs.stream(
        thread, "construction", input={"knowledge_base": "chess", "paths": [str(folder / "chess")]}, context=REVIEW,
        stream_mode=["custom", "updates"]))
    waiting = client.threads.get_state(thread)
    result = client.runs.wait(thread, "construction", context=REVIEW, command={"resume": {"decisions": [
        {"kind": "attribute", "name": "defeat", "verdict": "rename", "new_name": "won_against"}]}})
    return said, thread, streamed, waiting, result


@pytest.fixture(scope="module")
def both(client, reviewed):
    assert "Warsaw" in client.runs.wait(None, "retrieval", input=BORN)["answer"], "there is one knowledge base"
    client.runs.wait(None, "construction", input={"knowledge_base": "rivers", "documents": [
        {"id": "mur.md", "text": "# Mur\n\nThe Mur is a river. The Mur flows through Graz."}]})


def failure(client, given, assistant="retrieval", **more):
    told = client.runs.wait(None, assistant, input=given, raise_error=False, **more)
    return told["__error__"]["message"]


def test_both_graphs_are_listed_with_descriptions(client):
    listed = {assistant["name"]: assistant["description"] for assistant in client.assistants.search()}
    assert set(listed) >= {"construction", "retrieval"}
    assert listed["construction"].startswith("Builds a knowledge base")
    assert listed["retrieval"].startswith("Answers a question")


def test_a_build_with_review_stops_with_what_a_person_can_read(reviewed):
    _, _, streamed, waiting, _ = reviewed
    assert not [part for part in streamed if part.event == "error"]
    steps = [part.data["step"] for part in streamed if part.event == "custom"]
    assert [step for step, _ in groupby(steps)] == ["read", "extract"]
    assert waiting["next"] == ["accept_or_reject"]
    (asked,) = waiting["interrupts"]
    assert list(asked["value"]) == ["action_requests", "review_configs", "title", "question", "how_to_answer", "delta"]
    assert asked["value"]["title"] == "Schema review of 'chess': 1 candidate"
    (action,) = asked["value"]["action_requests"]
    shown = action["description"]
    assert shown.startswith("1. attribute 'defeat' (Person: text), in 2 documents, confidence 1")
    assert 'otto-kern.md: "| Person: Otto Kern | Defeat: Tom Hale |"' in shown
    (candidate,) = asked["value"]["delta"]["candidates"]
    assert (candidate["kind"], candidate["name"], candidate["documents"]) == ("attribute", "defeat", 2)
    assert {"document": "otto-kern.md", "item": "(Otto Kern; Defeat: Tom Hale)",
            "words": "| Person: Otto Kern | Defeat: Tom Hale |"} in candidate["examples"]


def test_a_build_resumed_with_decisions_ends_with_a_report(reviewed):
    report = reviewed[-1]["report"]
    assert (report["kb"], report["documents"], report["chunks"], report["chunks_failed"]) == ("chess", 2, 2, 0)
    assert (report["schema_version"], report["rejected"], report["stopped"]) == (2, {}, "")
    assert (report["triples"], report["attributes"]) == (0, 2), "what waited"
    assert report["communities"] > 0


def test_a_question_is_streamed_to_a_cited_answer(client, reviewed, folder):
    thread = client.threads.create()["thread_id"]
    streamed = list(client.runs.stream(
        thread, "retrieval", input={"knowledge_base": "chess", "question": "Where was Ada Blum born?"},
        context={"mode": "reject"}, stream_mode=["custom", "updates", "values"]))
    assert not [part for part in streamed if part.event == "error"]
    assert {"first_look", "decompose", "answer"} <= {part.data["step"] for part in streamed if part.event == "custom"}
    nodes = [node for part in streamed if part.event == "updates" for node in part.data]
    assert nodes == ["condense", "first_look", "decompose", "answer"]
    final = [part.data for part in streamed if part.event == "values"][-1]
    assert "Warsaw" in final["answer"]
    assert (final["abstained"], final["grade"]) == (False, "stated")
    command_line.check_citations(final["citations"], folder / "chess")
    assert final["citations"][0]["document"] == "ada-blum.md"


class TestMessagesAlone:
    def test_without_a_knowledge_base_the_error_says_how_to_make_one(self, reviewed):
        assert reviewed[0] == "there is no knowledge base yet: make one with `banyan build PATH --kb NAME`"

    def test_they_are_asked_of_the_only_one_and_of_several_none_is_guessed(self, client, both):
        assert failure(client, BORN).startswith("which knowledge base? There are chess, rivers: name one")
        assert "there are: chess, rivers" in failure(client, {**BORN, "knowledge_base": "nowhere"})

    def test_the_context_and_the_assistant_name_one(self, client, both):
        told = client.runs.wait(None, "retrieval", input=BORN, context={"knowledge_base": "chess"})
        answered, sources = told["messages"][-1]["content"]
        assert "Warsaw" in answered["text"]
        assert [note["cited_text"] for note in answered["annotations"]] == ["She was born in Warsaw."]
        assert sources["text"].startswith("\n\nSources:  \n[1] ada-blum.md, characters ")
        offered = {one["name"]: one for one in client.assistants.search()}
        assert offered.keys() == {"construction", "retrieval", "chess", "rivers"}
        assert "Warsaw" in client.runs.wait(None, offered["chess"]["assistant_id"], input=BORN)["answer"]

    def test_a_thread_follows_the_assistant_that_it_goes_on_with(self, client, both):
        thread = client.threads.create()["thread_id"]
        ids = {one["name"]: one["assistant_id"] for one in client.assistants.search()}
        river = {"messages": [{"role": "user", "content": "Through which city does the Mur flow?"}]}
        assert "Warsaw" in client.runs.wait(thread, ids["chess"], input=BORN)["answer"]
        assert "Graz" in client.runs.wait(thread, ids["rivers"], input=river)["answer"]


class TestRefused:
    @pytest.mark.parametrize("more", [
        {"paths": ["chess/../secret/ada-blum.md"]}, {"paths": ["chess"], "schema": "secret/ada-blum.md"}])
    def test_files_that_clients_may_not_read(self, client, folder, more):
        inside = {key: [str(folder / one) for one in value] if key == "paths" else str(folder / value)
                  for key, value in more.items()}
        told = failure(client, {"knowledge_base": "stolen", **inside}, "construction")
        assert "may not be read by a run that comes through a server: give documents as text" in told
        assert f"BANYAN_SERVER_DOCUMENTS (now '{folder / 'chess'}')" in told, "the user's .env counts"
        assert not (folder / "home" / "stolen").exists()

    def test_a_client_cannot_say_that_it_is_no_client(self, client, folder):
        told = failure(client, {"knowledge_base": "stolen", "paths": [str(folder / "secret")]}, "construction",
                       context={"langgraph_request_id": None, "langgraph_auth_user": None})
        assert "may not be read" in told


class TestAppOnTheSamePort:
    def test_it_has_page_rest_and_chat(self, url, reviewed):
        with httpx.Client(base_url=url) as http:
            page = http.get("/")
            assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
            assert "default-src 'self'" in page.headers["content-security-policy"]
            names = [one["name"] for one in http.get("/api/knowledge-bases").json()["items"]]
            assert "chess" in names
            asked = http.post("/api/knowledge-bases/chess/ask", json={"question": "Where was Ada Blum born?"}).json()
            assert "Warsaw" in asked["answer"]
        chat = RemoteRunnable(f"{url}/chat/kb/chess")
        assert "Vienna" in chat.invoke({"messages": [("user", "Where was Otto Kern born?")]}).content


def waiting(client, name):
    thread = client.threads.create()["thread_id"]
    client.runs.wait(thread, "construction", input={"knowledge_base": name, "documents": GIVEN}, context=REVIEW)
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
        # What agent-chat-ui and Agent Inbox show as actions; all else is plain JSON there.
        (action,) = TypeAdapter(HITLRequest).validate_python(interrupt["value"])["action_requests"]
        assert action["args"] == {"kind": "attribute", "name": "defeat", "domain": ["Person"], "merge_into": ""}
        report = resume(client, thread, {"decisions": [{"type": "approve"}]})["report"]
        assert (report["schema_version"], report["stopped"]) == (2, "")
        assert decided(client, "approved") == [(1, "seed"), (2, "local")], "a person, not `auto`"

    def test_a_resume_of_what_does_not_wait_is_refused(self, client, reviewed):
        for thread in (reviewed[1], client.threads.create()["thread_id"]):
            with refused(409, "waits for no decision"):
                client.runs.wait(thread, "construction", command={"resume": {"decisions": [{"type": "approve"}]}})
        assert [version for version, _ in decided(client, "chess")] == [1, 2]


def test_runs_are_traced_where_the_user_asks_for_it(collector, both):
    wait_for(lambda: collector[1])


def test_no_node_blocked_the_servers_loop(reviewed, folder):
    text = (folder / "server.log").read_text("utf-8", errors="replace")
    assert "Background run succeeded" in text, "this is the log that would say so"
    assert "BlockingError" not in text
    assert "Blocking call" not in text
