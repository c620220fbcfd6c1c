"""What LangGraph's own clients expect of a server: `langgraph_sdk` against `langgraph dev`, one server for all."""

import pytest
from langgraph_sdk import get_sync_client

from .. import langgraph_server

pytestmark = pytest.mark.integration

GIVEN = [{"id": f"{name}.md", "text": f"# {name}\n\n{name} was a chess player. {name} was born in {city}.\n\n"
         f"| Person | Defeat |\n|---|---|\n| {name} | {other} |\n"}
         for name, city, other in (("Otto Kern", "Vienna", "Tom Hale"), ("Ada Blum", "Warsaw", "Otto Kern"))]
BORN = {"messages": [{"role": "user", "content": "Where was Ada Blum born?"}]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return langgraph_server.project_in(tmp_path_factory.mktemp("server"))


@pytest.fixture(scope="module")
def url(folder):
    with langgraph_server.langgraph_dev(folder, folder / "server.log") as address:
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

    def test_a_thread_stays_with_the_knowledge_base_that_its_input_named(self, client, both):
        thread = client.threads.create()["thread_id"]
        client.runs.wait(thread, "retrieval", input={"knowledge_base": "chess", **BORN})
        more = {"messages": [{"role": "user", "content": "Where was Otto Kern born?"}]}
        assert "Vienna" in client.runs.wait(thread, "retrieval", input=more)["answer"]

    def test_the_assistant_of_a_dropped_knowledge_base_goes_with_it(self, client, both, url):
        build(client, "short")
        assert "short" in {one["name"] for one in client.assistants.search()}
        client.http.client.delete("/api/knowledge-bases/short").raise_for_status()
        assert "short" not in {one["name"] for one in client.assistants.search()}
