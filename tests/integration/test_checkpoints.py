"""Checkpoints that one process writes and another resumes, in LangGraph's strict mode: all tests run in it."""

import json
import sys
from typing import Any

import banyan
import pytest
from banyan.agents.construction.graph import build_graph as construction
from banyan.agents.retrieval.graph import build_graph as retrieval
from langgraph.checkpoint.serde._msgpack import STRICT_MSGPACK_ENABLED
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from .. import command_line, rest, small_base, warm_start

pytestmark = pytest.mark.integration

ASKED = {"knowledge_base": "people", "question": "Where was Ada Byron born?"}
CONFIG: Any = {"configurable": {"thread_id": "one"}}
OTHER = """
import json, sys
from banyan.agents.{graph}.graph import build_graph
from banyan.agents.construction.state import BuildContext
from banyan.agents.retrieval.state import AskContext
from langgraph.checkpoint.sqlite import SqliteSaver
with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
    build_graph(checkpointer=saver).invoke(json.loads(sys.argv[2]), {config}, {more})
"""


@pytest.fixture
def resources(tmp_path, hashed_embedder):
    small_base.people(tmp_path / "home", "people", hashed_embedder)
    settings = banyan.Settings(home=tmp_path / "home", llm_base_url=None, _env_file=None)
    with banyan.Resources(settings, hashed_embedder) as resources:
        yield resources


@pytest.fixture
def elsewhere(tmp_path):
    """Runs a graph in a process of its own, until it stops; what it has written is in `saver`."""
    def run(graph: str, given: dict[str, Any], more: str) -> None:
        code = OTHER.format(graph=graph, config=CONFIG, more=more)
        done = warm_start.run(
            [sys.executable, "-c", code, str(tmp_path / "checkpoints"), json.dumps(given)], cwd=tmp_path,
            env=command_line.clean_environment(BANYAN_HOME=str(tmp_path / "home"), **{warm_start.HASHED: "1"}),
            timeout=command_line.SECONDS)
        assert done.returncode == 0, done.stderr
        assert "allowlist" not in done.stderr

    return run


@pytest.fixture
def saver(tmp_path):
    with SqliteSaver.from_conn_string(str(tmp_path / "checkpoints")) as saver:
        yield saver


def test_a_question_goes_on_in_another_process(resources, elsewhere, saver):
    elsewhere("retrieval", ASKED, 'interrupt_before=["answer"]')
    assert STRICT_MSGPACK_ENABLED
    graph = retrieval(resources, saver)
    assert graph.get_state(CONFIG).next == ("answer",)
    said = graph.invoke(None, CONFIG)
    assert (said["short"], said["citations"][0]["document"]) == ("Ulm", "ada")
    assert [message.type for message in said["messages"]] == ["ai"]


def test_a_review_is_answered_in_another_process(resources, elsewhere, saver):
    elsewhere("construction", {"knowledge_base": "chess", "documents": rest.GIVEN},
              'context=BuildContext(review=True)')
    graph = construction(resources, saver)
    (interrupt,) = graph.get_state(CONFIG).interrupts
    assert interrupt.value["title"] == "Schema review of 'chess': 1 candidate"
    report = graph.invoke(Command(resume={"decisions": [{"type": "approve"}]}), CONFIG)["report"]
    assert (report["schema_version"], report["attributes"], report["stopped"]) == (2, 2, "")
