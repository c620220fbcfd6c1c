"""Processes with different hash seeds come to the same, and those that fork after a question go on, as Celery's do."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ..conftest import TESTS


def test_the_hash_seed_changes_nothing(tmp_path):
    running = []
    for seed, shuffling in (("0", "0"), ("42", "1")):  # the second is the order in which the tree's facts come
        (tmp_path / seed).mkdir()
        running.append(subprocess.Popen([sys.executable, str(TESTS / "seeded_results.py"), tmp_path / seed, shuffling],
                                        env={**os.environ, "PYTHONHASHSEED": seed}))
    assert [process.wait(240) for process in running] == [0, 0]
    first, other = (json.loads((tmp_path / seed / "results.json").read_text("utf-8")) for seed in ("0", "42"))
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


@pytest.mark.skipif(sys.platform in {"darwin", "win32"}, reason="there is no fork, or it is unsafe")
def test_a_process_that_forks_after_a_question_answers_in_its_children(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "program.py").write_text(_PROGRAM, "utf-8")
    (tmp_path / "ada.md").write_text("# Ada\n\nAda Byron was born in Ulm in 1801.", "utf-8")
    (tmp_path / "bob.md").write_text("# Bob\n\nBob Stone was born in Turku in 1802.", "utf-8")
    monkeypatch.setenv("BANYAN_HOME", str(tmp_path / "home"))
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=240,
                          check=False)
    assert done.returncode == 0, done.stderr
    assert "Ulm" in done.stdout
    assert "1801" in done.stdout.partition("child:")[2]
    assert "Turku" in done.stdout.partition("parent:")[2], "the parent goes on"
