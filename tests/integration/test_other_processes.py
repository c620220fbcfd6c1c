"""Processes with different hash seeds come to the same, and those that fork after a question go on, as Celery's do."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .. import command_line, warm_start
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
