"""Peers as arms (`benchmarks/peer_arms.py`): over the settings' model and this process's embeddings, paid once."""

import sys
import time
from pathlib import Path
from typing import Any

import pytest
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.evaluation.bench.arms import chosen_arms
from banyan.evaluation.bench.bench_bases import BenchError
from banyan.evaluation.bench.bench_report import make_report
from banyan.evaluation.bench.dataset_loading import load_dataset
from banyan.evaluation.bench.results import Results
from banyan.evaluation.bench.running import Plan, Progressed, identity
from banyan.evaluation.datasets import DatasetError

from .. import bench_files, llm_server
from .. import hashed_embedding as hashed

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from peer_arms import ask_peer, peers_of

pytestmark = pytest.mark.integration
PROGRAM = Path(__file__).parents[1] / "peer_program.py"


def reply(request: dict[str, Any]) -> str:
    text = request["messages"][0]["content"]
    assert request["model"] == "scripted"
    if text.startswith("Build"):
        return "built"
    assert "reply only: unanswerable" in text
    return "Unanswerable." if "Blue Hill" in text else "Kalmar"


def test_a_peer_is_asked_once_and_counted(tmp_path, monkeypatch):
    add = Results.add
    # A busy machine: the peer would have its first answer before what it cost until now is read.
    monkeypatch.setattr(Results, "add", lambda self, **line: (add(self, **line), time.sleep(0.3 * ("base" in line))))
    bench_files.DATASETS["generic"](tmp_path / "data")
    dataset = load_dataset("generic", tmp_path / "data")
    (peer,) = peers_of([f"other={sys.executable} {PROGRAM}"])
    with llm_server.LlmServer(reply, key="sk-ours") as server:
        settings = Settings(home=tmp_path / "home", llm_base_url=server.base_url, llm_model="scripted",
                            llm_api_key="sk-ours", _env_file=None)
        with Resources(settings, hashed.HashedEmbedder()) as resources:
            this_run = identity(resources, dataset, Plan(arms=chosen_arms("full", with_llm=True)))
            with Results(tmp_path / "report", this_run) as results:
                for _ in range(2):
                    done = Progressed()
                    ask_peer(peer, resources, dataset, "reject", results, done)
                report = make_report(dataset, this_run, results, {"other": peer.about}, judge="", bases=done.bases)
            with Results(tmp_path / "again", this_run) as results:
                ask_peer(peer, resources, dataset, "reject", results, Progressed())
    (row,) = report.rows
    assert (row.accuracy.value, row.null_declined, row.about) == (100.0, 100.0, "peer: peer_program.py")
    assert row.calls == 2, "one streamed, one from the ledger"
    assert row.recall == {}
    assert row.prompt_tokens > 0
    assert report.bases["other"].tokens["build"] > 0
    assert server.stats.requests == 3, "the build and two questions, each paid once"


def test_a_peer_that_cannot_answer_is_explained(tmp_path):
    bench_files.DATASETS["generic"](tmp_path / "data")
    dataset = load_dataset("generic", tmp_path / "data")
    settings = Settings(home=tmp_path / "home", llm_base_url="http://127.0.0.1:9/v1", llm_model="m", _env_file=None)
    with Resources(settings, hashed.HashedEmbedder()) as resources:
        this_run = identity(resources, dataset, Plan(arms=chosen_arms("full", with_llm=True)))
        with Results(tmp_path / "report", this_run) as results:
            for command, said in ((f"{sys.executable} {PROGRAM}", "answered 0 of 2 questions and ended with 1: see"),
                                  ("/nowhere/python x.py", "cannot be started")):
                with pytest.raises(BenchError, match=said):
                    ask_peer(peers_of([f"other={command}"])[0], resources, dataset, "open", results, Progressed())
    with pytest.raises(DatasetError, match="write NAME=PYTHON PROGRAM"):
        peers_of(["lightrag"])
