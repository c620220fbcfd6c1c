"""Processes come to the same whatever their hash seed, go on after a fork as Celery's do, and resume each other."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from banyan.agents.construction.graph import build_graph as construction
from banyan.agents.retrieval.graph import build_graph as retrieval
from langgraph.checkpoint.serde._msgpack import STRICT_MSGPACK_ENABLED
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from .. import command_line, in_process, rest, warm_start
from ..seeded_results import write_results


def test_the_hash_seed_changes_nothing(tmp_path):
    """This process has a seed of its own; the facts of the tree come in another order in the other one."""
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    subprocess.run([sys.executable, "-m", "tests.seeded_results", tmp_path / "there", "1"], cwd=command_line.PROJECT,
                   env={**os.environ, "PYTHONHASHSEED": "42"}, check=True, timeout=240)
    write_results(tmp_path / "here", 0)
    first, other = (json.loads((tmp_path / name / "results.json").read_text("utf-8")) for name in ("here", "there"))
    assert min(len(first[part]) for part in ("history", "tree")) > 1
    assert sum(len(community["members"]) for community in first["tree"] if community["level"] == 0) == 45
    assert other == first


_PROGRAM = """
import multiprocessing, os, sys
import banyan

def ask(question):
    return kb.ask(question).text

if __name__ == "__main__":
    kb = banyan.open("kb")
    kb.add("ada.md")
    print(ask("Where was Ada Byron born?"))
    with multiprocessing.get_context("fork").Pool(2) as workers:  # they end without clean-up, as Celery's do
        print(workers.map_async(ask, ["When was Ada Byron born?", "Where was Ada Byron born?"]).get(60))
    child = os.fork()
    if not child:  # ends with clean-up, as gunicorn's do
        print("child:", ask("When was Ada Byron born?"))
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
    kb.add("bob.md")
    print("parent:", ask("Where was Bob Stone born?"))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform in {"darwin", "win32"}, reason="there is no fork, or it is unsafe")
def test_a_process_that_forks_after_a_question_answers_in_its_children(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(_PROGRAM, "utf-8")
    (tmp_path / "ada.md").write_text("# Ada\n\nAda Byron was born in Ulm in 1801.", "utf-8")
    (tmp_path / "bob.md").write_text("# Bob\n\nBob Stone was born in Turku in 1802.", "utf-8")
    done = warm_start.run([sys.executable, "program.py"], cwd=tmp_path, timeout=240,
                          env=command_line.clean_environment(BANYAN_HOME=str(tmp_path / "home")))
    assert done.returncode == 0, done.stderr
    assert "Ulm" in done.stdout
    assert "1801" in done.stdout.partition("child:")[2]
    assert "Turku" in done.stdout.partition("parent:")[2], "the parent goes on"


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
    with in_process.opened(tmp_path / "home", hashed_embedder, "people") as resources:
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
    elsewhere("construction", {"knowledge_base": "chess", "documents": rest.GIVEN}, 'context=BuildContext(review=True)')
    graph = construction(resources, saver)
    (interrupt,) = graph.get_state(CONFIG).interrupts
    assert interrupt.value["title"] == "Schema review of 'chess': 1 candidate"
    report = graph.invoke(Command(resume={"decisions": [{"type": "approve"}]}), CONFIG)["report"]
    assert (report["schema_version"], report["attributes"], report["stopped"]) == (2, 2, "")
