"""Both graphs in LangGraph's own development server, with Banyan's app on the same port.

Listed, interrupted and resumed, streamed, called remotely; what clients may not do is refused.
"""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from langgraph_sdk import get_sync_client
from langserve import RemoteRunnable

from .. import command_line, langgraph_server

pytestmark = pytest.mark.integration

# "Defeat" is no attribute of the schema, and the tables of two documents ask for it.
DOCUMENTS = {
    "otto-kern.md": "# Otto Kern\n\nOtto Kern was a chess player. He was born in Vienna. "
                    "Otto Kern defeated Tom Hale in 1911.\n\n"
                    "| Person | Defeat |\n|---|---|\n| Otto Kern | Tom Hale |\n",
    "ada-blum.md": "# Ada Blum\n\nAda Blum was a chess player. She was born in Warsaw. "
                   "Ada Blum defeated Otto Kern in 1920.\n\n"
                   "| Person | Defeat |\n|---|---|\n| Ada Blum | Otto Kern |\n"}
REVIEW = {"review": True}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = langgraph_server.project_in(tmp_path_factory.mktemp("server"))
    for place in ("chess", "secret"):
        (folder / place).mkdir()
        for name, text in DOCUMENTS.items():
            (folder / place / name).write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def log(folder) -> Path:
    return folder / "server.log"


@pytest.fixture(scope="module")
def url(folder, log) -> Iterator[str]:
    with langgraph_server.langgraph_dev(folder, log, BANYAN_SERVER_DOCUMENTS=str(folder / "chess")) as address:
        yield address


@pytest.fixture(scope="module")
def client(url):
    with get_sync_client(url=url) as client:
        yield client


@pytest.fixture(scope="module")
def reviewed(client, folder):
    """A build that asked for a decision: what was streamed, the thread as it waited, and the result."""
    thread = client.threads.create()["thread_id"]
    streamed = list(client.runs.stream(
        thread, "construction", input={"knowledge_base": "chess", "paths": [str(folder / "chess")]}, context=REVIEW,
        stream_mode=["custom", "updates"]))
    waiting = client.threads.get_state(thread)
    result = client.runs.wait(thread, "construction", context=REVIEW, command={"resume": {"decisions": [
        {"kind": "attribute", "name": "defeat", "verdict": "rename", "new_name": "won_against"}]}})
    return streamed, waiting, result


def failed(client, graph, given):
    """Why a run ended with an error."""
    events = list(client.runs.stream(None, graph, input=given))
    assert events[-1].event == "error"
    return events[-1].data["message"]


def test_both_graphs_are_listed_with_descriptions(client):
    listed = {assistant["name"]: assistant["description"] for assistant in client.assistants.search()}
    assert set(listed) >= {"construction", "retrieval"}
    assert listed["construction"].startswith("Builds a knowledge base")
    assert listed["retrieval"].startswith("Answers a question")


def test_a_build_with_review_stops_with_what_a_person_can_read(reviewed):
    streamed, waiting, _ = reviewed
    assert not [part for part in streamed if part.event == "error"]
    steps = [part.data["step"] for part in streamed if part.event == "custom"]
    assert steps == ["read", "extract"]
    assert waiting["next"] == ["accept_or_reject"]
    (asked,) = waiting["interrupts"]
    assert list(asked["value"]) == ["action_requests", "review_configs", "title", "question", "how_to_answer",
                                    "examples", "delta"]
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
    report = reviewed[2]["report"]
    assert (report["kb"], report["documents"], report["chunks"], report["chunks_failed"]) == ("chess", 2, 2, 0)
    assert (report["schema_version"], report["rejected"], report["stopped"]) == (2, {}, "")
    assert (report["triples"], report["attributes"]) == (2, 4), "descriptions, and what waited"
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


class TestRefused:
    @pytest.mark.parametrize("more", [
        {"paths": ["secret"]}, {"paths": ["chess/../secret/ada-blum.md"]}, {"paths": ["chess", "/etc/passwd"]},
        {"paths": ["chess"], "schema": "secret/ada-blum.md"},
        {"paths": ["secret/that-is-not-there"]}])
    def test_files_that_clients_may_not_read(self, client, folder, more):
        inside = {key: [str(folder / one) for one in value] if key == "paths" else str(folder / value)
                  for key, value in more.items()}
        told = failed(client, "construction", {"knowledge_base": "stolen", **inside})
        assert "may not be read by a run that comes through a server: give documents as text" in told
        assert "BANYAN_SERVER_DOCUMENTS" in told
        assert not (folder / "home" / "stolen").exists()

    def test_a_client_cannot_say_that_it_is_no_client(self, client, folder):
        events = list(client.runs.stream(
            None, "construction", input={"knowledge_base": "stolen", "paths": [str(folder / "secret")]},
            context={"langgraph_request_id": None, "langgraph_auth_user": None}))
        assert "may not be read" in events[-1].data["message"]


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
            assert http.get("/chat/kb/chess/playground/").status_code == 200
        chat = RemoteRunnable(f"{url}/chat")
        assert "Vienna" in chat.invoke({"knowledge_base": "chess", "question": "Where was Otto Kern born?"}).content


def test_an_unknown_knowledge_base_is_an_error_that_names_it(client, reviewed):
    """The server would show "An internal error occurred" in the place of a message that it does not trust."""
    told = failed(client, "retrieval", {"knowledge_base": "nowhere", "question": "Who?"})
    assert "there is no knowledge base 'nowhere'" in told
    assert "there are: chess" in told


def test_no_node_blocked_the_servers_loop(reviewed, log):
    text = log.read_text("utf-8", errors="replace")
    assert "Background run succeeded" in text, "this is the log that would say so"
    assert "BlockingError" not in text
    assert "Blocking call" not in text
