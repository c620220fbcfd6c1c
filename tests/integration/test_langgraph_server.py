"""Both graphs in LangGraph's own development server: listed, interrupted and resumed, streamed, called remotely."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk import get_sync_client

from ..conftest import load_test_module

pytestmark = pytest.mark.integration

command_line = load_test_module("command_line")
STARTS_WITHIN = 60
# "defeated" is no relation of the schema, and two documents ask for it.
DOCUMENTS = {
    "otto-kern.md": "# Otto Kern\n\nOtto Kern was a chess player. He was born in Vienna. "
                    "Otto Kern defeated Tom Hale in 1911.\n",
    "ada-blum.md": "# Ada Blum\n\nAda Blum was a chess player. She was born in Warsaw. "
                   "Ada Blum defeated Otto Kern in 1920.\n"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder that looks like the project's root to the server, and takes what the server leaves behind."""
    folder = tmp_path_factory.mktemp("server")
    for entry in command_line.PROJECT.iterdir():
        if not entry.name.startswith("."):
            (folder / entry.name).symlink_to(entry)
    documents = folder / "chess"
    documents.mkdir()
    for name, text in DOCUMENTS.items():
        (documents / name).write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def log(folder) -> Path:
    return folder / "server.log"


@pytest.fixture(scope="module")
def url(folder, log) -> Iterator[str]:
    """The address of a running `langgraph dev`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [str(Path(sys.executable).with_name("langgraph")), "dev", "--no-browser", "--no-reload", "--host",
               "127.0.0.1", "--port", str(port), "--n-jobs-per-worker", "4"]
    environment = command_line.clean_environment(
        BANYAN_HOME=str(folder / "home"), LANGSMITH_TRACING="false", LANGGRAPH_CLI_NO_ANALYTICS="1")
    with log.open("wb") as output, subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            start_new_session=True) as server:
        try:
            _wait(f"{address}/ok", server, log)
            yield address
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                server.wait(timeout=20)
            with suppress(ProcessLookupError):  # nobody of its group is left
                os.killpg(server.pid, signal.SIGKILL)


def _wait(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + STARTS_WITHIN
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, TimeoutError):
            said = log.read_text("utf-8", errors="replace")[-4000:]
            assert server.poll() is None, f"the server ended:\n{said}"
            assert time.monotonic() < deadline, f"no answer within {STARTS_WITHIN} s:\n{said}"
            time.sleep(0.1)


@pytest.fixture(scope="module")
def client(url):
    with get_sync_client(url=url) as client:
        yield client


@pytest.fixture(scope="module")
def reviewed(client, folder):
    """A build that asked for a decision: what was streamed, the thread as it waited, and the result."""
    thread = client.threads.create()["thread_id"]
    context = {"review": True}
    streamed = list(client.runs.stream(
        thread, "construction", input={"knowledge_base": "chess", "paths": [str(folder / "chess")]}, context=context,
        stream_mode=["custom", "updates"]))
    waiting = client.threads.get_state(thread)
    result = client.runs.wait(thread, "construction", context=context, command={"resume": {"decisions": [
        {"kind": "relation", "name": "defeated", "verdict": "rename", "new_name": "won_against"}]}})
    return streamed, waiting, result


def test_both_graphs_are_listed_with_descriptions(client):
    listed = {assistant["graph_id"]: assistant["description"] for assistant in client.assistants.search()}
    assert set(listed) == {"construction", "retrieval"}
    assert listed["construction"].startswith("Builds a knowledge base")
    assert listed["retrieval"].startswith("Answers a question")


def test_the_schemas_ask_for_little(client):
    """What Studio and MCP show: the input's fields and the context's, none of the state's inner ones."""
    by_graph = {a["graph_id"]: client.assistants.get_schemas(a["assistant_id"]) for a in client.assistants.search()}
    inputs = {name: set(schemas["input_schema"]["properties"]) for name, schemas in by_graph.items()}
    assert inputs == {"construction": {"knowledge_base", "paths", "schema", "examples", "recorded"},
                      "retrieval": {"knowledge_base", "question", "messages"}}
    assert set(by_graph["construction"]["output_schema"]["properties"]) == {"report"}
    assert {"answer", "abstained", "citations"} <= set(by_graph["retrieval"]["output_schema"]["properties"])
    assert {"review", "max_tokens"} <= set(by_graph["construction"]["context_schema"]["properties"])


def test_a_build_with_review_stops_with_the_schema_delta(reviewed):
    streamed, waiting, _ = reviewed
    assert not [part for part in streamed if part.event == "error"]
    steps = [part.data["step"] for part in streamed if part.event == "custom"]
    assert steps == ["read", "extract"]
    assert waiting["next"] == ["accept_or_reject"]
    (asked,) = waiting["interrupts"]
    assert "decisions" in asked["value"]["question"]
    (candidate,) = asked["value"]["delta"]["candidates"]
    assert (candidate["kind"], candidate["name"], candidate["documents"]) == ("relation", "defeated", 2)
    assert (candidate["subject_types"], candidate["object_types"]) == (["Person"], ["Person"])
    assert {"document": "otto-kern.md", "item": "(Otto Kern; defeated; Tom Hale)",
            "words": "Otto Kern defeated Tom Hale in 1911."} in candidate["examples"]


def test_a_build_resumed_with_decisions_ends_with_a_report(reviewed):
    report = reviewed[2]["report"]
    assert (report["kb"], report["documents"], report["chunks"], report["chunks_failed"]) == ("chess", 2, 2, 0)
    assert (report["schema_version"], report["rejected"], report["stopped"]) == (2, {}, "")
    assert report["triples"] == 4, "born_in twice, and what waited for the new relation"
    assert report["communities"] > 0


def test_a_question_is_streamed_to_a_cited_answer(client, reviewed, folder):
    thread = client.threads.create()["thread_id"]
    streamed = list(client.runs.stream(
        thread, "retrieval", input={"knowledge_base": "chess", "question": "Where was Ada Blum born?"},
        context={"mode": "reject"}, stream_mode=["custom", "updates", "values"]))
    assert not [part for part in streamed if part.event == "error"]
    assert {"decompose", "fuse"} <= {part.data["step"] for part in streamed if part.event == "custom"}
    nodes = [node for part in streamed if part.event == "updates" for node in part.data]
    assert nodes[:2] == ["condense", "decompose"]
    assert nodes[-3:] == ["fuse", "reflect", "answer"]
    final = [part.data for part in streamed if part.event == "values"][-1]
    assert "Warsaw" in final["answer"]
    assert not final["abstained"]
    command_line.check_citations(final["citations"], folder / "chess")
    assert final["citations"][0]["document"] == "ada-blum.md"


def test_a_thread_keeps_the_conversation(client, reviewed):
    thread = client.threads.create()["thread_id"]
    for question, expected in (("Where was Ada Blum born?", "Warsaw"), ("Whom did she defeat?", "Otto Kern")):
        said = client.runs.wait(thread, "retrieval", input={
            "knowledge_base": "chess", "messages": [{"role": "user", "content": question}]})
        assert expected in said["answer"], said
    assert [message["type"] for message in said["messages"]] == ["human", "ai", "human", "ai"]


def test_the_graph_is_called_remotely(client, reviewed):
    remote = RemoteGraph("retrieval", sync_client=client)  # one made from a URL could not be closed
    answer = remote.invoke({"knowledge_base": "chess", "question": "Where was Otto Kern born?"})
    assert "Vienna" in answer["answer"]
    assert answer["citations"][0]["document"] == "otto-kern.md"


def test_an_unknown_knowledge_base_is_an_error_that_names_it(client, reviewed):
    """The server would show "An internal error occurred" in the place of a message that it does not trust."""
    events = list(client.runs.stream(None, "retrieval", input={"knowledge_base": "nowhere", "question": "Who?"}))
    assert events[-1].event == "error"
    assert "there is no knowledge base 'nowhere'" in events[-1].data["message"]
    assert "chess" in events[-1].data["message"]


def test_no_node_blocked_the_servers_loop(reviewed, log):
    text = log.read_text("utf-8", errors="replace")
    assert "Background run succeeded" in text, "this is the log that would say so"
    assert "BlockingError" not in text
    assert "Blocking call" not in text
