"""The papers' benchmarks over the protocol server: stopped and resumed; names replaced, and back to the byte."""

import json
import sys

import pytest
from banyan.agents.resources import Resources
from banyan.benchmarks.papers import __main__ as papers
from banyan.benchmarks.papers.arm_answers import chosen_arms
from banyan.benchmarks.papers.published_datasets import load_dataset
from banyan.benchmarks.papers.running import Plan
from banyan.config import Settings
from typer.testing import CliRunner

from .. import bench_brain, command_line, llm_server

pytestmark = pytest.mark.integration

ARMS = "full,zero-shot,naive-both,agentic-text"
PASSAGES = {
    "Northern Lamp": "The Northern Lamp is a lighthouse. It was built by Ada Brandt.",
    "Ada Brandt": "Ada Brandt was an engineer. She was born in Kalmar.",
    "Kalmar": "Kalmar is a town. Its oldest bridge was opened in 1889.",
    "Grey Hill": "Grey Hill is 120 metres high. Sheep graze on it.",
}


def write_gbench(folder):
    """GraphRAG-Bench: a file for each type, and a textbook."""
    folder.mkdir()
    more = {"Rationale": "It says so.", "Level-1 Topic": "Towns", "Level-2 Topic": "Light"}
    for name, question, answer in (
            ("FB", "The Northern Lamp was built by ____.", "Ada Brandt"),
            ("MC", "Where was Ada Brandt born?\nA. Oslo\nB. Kalmar\nC. Turku", "B"),
            ("MS", "Which are true?\nA. Kalmar is a town.\nB. Grey Hill is a lake.\nC. Sheep graze.", "AC"),
            ("TF", "Grey Hill is 500 metres high.", "False"),
            ("OE", "What is the Northern Lamp?", "A lighthouse, built by an engineer.")):
        record = {"Question": question, "Answer": answer, **more}
        (folder / f"{name}.jsonl").write_text(json.dumps(record), "utf-8")
    book = folder / "textbooks" / "towns.md"
    book.parent.mkdir()
    book.write_text("# Towns\n\n" + "\n\n".join(f"## {title}\n\n{text}" for title, text in PASSAGES.items()), "utf-8")


@pytest.mark.slow
def test_a_run_that_was_stopped_and_resumed_pays_for_nothing_twice(tmp_path, hashed_embedder):
    write_gbench(tmp_path / "data")
    dataset = load_dataset("gbench", tmp_path / "data")
    with llm_server.LlmServer(bench_brain.bench_brain(dataset.questions)) as server:
        settings = Settings(home=tmp_path / "home", llm_base_url=server.base_url, llm_model="scripted",
                            llm_concurrency=1, llm_retries=0, _env_file=None)

        def measure(folder, **options):
            with Resources(settings, hashed_embedder) as resources:
                plan = Plan(arms=chosen_arms(ARMS, with_llm=True), judge="scripted", **options)
                return papers.measure(resources, dataset, plan, tmp_path / folder)

        stopped = measure("report", max_tokens=400)
        assert "the token budget is reached" in stopped.stopped
        assert not stopped.complete
        last = measure("report")
        asked = len(server.requests)
        again = measure("report")
        assert len({json.dumps(request["messages"]) for request in server.requests}) == asked == len(server.requests)
    assert last.complete
    assert [row.accuracy.value for row in last.rows] == [row.accuracy.value for row in again.rows]
    assert (tmp_path / "report" / "report.md").is_file()


def test_there_and_back(tmp_path, monkeypatch):
    texts = tmp_path / "texts"
    texts.mkdir()
    for name in ("marie-curie", "pierre-curie", "warsaw", "irene-joliot-curie"):
        (texts / f"{name}.md").write_bytes((command_line.EXAMPLES / "en" / f"{name}.md").read_bytes())
    (texts / "crlf.txt").write_bytes(b"Marie Curie lived.\r\nShe met [PERSON#9].\r\n")
    monkeypatch.setenv("BANYAN_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "argv", ["papers"])

    def anonymise(*arguments):
        return CliRunner().invoke(papers.app, ["anonymise", *map(str, arguments)], catch_exceptions=True)

    out, key = tmp_path / "out", tmp_path / "key.json"
    assert anonymise(texts, "-o", out, "--key", key).exit_code == 0
    assert "Curie" not in "".join(path.read_text("utf-8") for path in out.glob("*.md"))
    dataset = load_dataset("anonyrag", out)
    assert len(dataset.documents) == 5
    assert {question.kind for question in dataset.questions} >= {"reversion"}
    assert anonymise(out / "crlf.txt", *out.glob("*.md"), "--revert", "--key", key, "-o",
                     tmp_path / "again").exit_code == 0
    for path in texts.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()
    refused = anonymise(texts, "-o", out, "--key", out / "key.json")
    assert "name another place (--key)" in str(refused.exception)
