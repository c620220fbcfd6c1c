"""A question that stops at a checkpoint and is answered by another process."""

import json
import subprocess
import sys

import pytest

from ..conftest import TESTS, load_test_module

pytestmark = pytest.mark.integration
small_base, command_line = load_test_module("small_base"), load_test_module("command_line")

PROGRAM = """
import json, sys, warnings
warnings.simplefilter("error")
import banyan
from banyan.agents.retrieval.graph import build_graph
from hashed_embedding import HashedEmbedder
from langgraph.checkpoint.sqlite import SqliteSaver

home, database, node = sys.argv[1:]
settings = banyan.Settings(home=home, llm_base_url=None, _env_file=None)
asked = {"knowledge_base": "people", "question": "On which river does the birthplace of Ada Byron lie?"}
config = {"configurable": {"thread_id": "t"}}
with SqliteSaver.from_conn_string(database) as saver, banyan.Resources(settings, HashedEmbedder()) as resources:
    graph = build_graph(resources, saver)
    resumes = bool(graph.get_state(config).next)
    output = graph.invoke(None if resumes else asked, config, interrupt_before=[node])
    print(json.dumps({"resumes": resumes, "next": graph.get_state(config).next, "answer": output.get("answer"),
                      "citations": output.get("citations")}))
"""


def run(home, database, node):
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(home), str(database), node], capture_output=True,
                          text=True, check=False, timeout=command_line.SECONDS,
                          env=command_line.clean_environment() | {"PYTHONPATH": str(TESTS)})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_question_goes_on_in_other_processes_as_if_it_had_never_stopped(tmp_path, hashed_embedder):
    home = tmp_path / "home"
    small_base.people(home, "people", hashed_embedder)
    whole = run(home, tmp_path / "whole.sqlite", "nowhere")
    first, second, last = (run(home, tmp_path / "stopped.sqlite", node) for node in ("fuse", "answer", "nowhere"))
    assert ([first["resumes"], *first["next"]], [second["resumes"], *second["next"]]) == (
        [False, "fuse"], [True, "answer"])
    assert last["resumes"]
    assert not last["next"]
    assert (last["answer"], last["citations"]) == (whole["answer"], whole["citations"])
    assert last["citations"]
