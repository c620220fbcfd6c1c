"""Every command as a process, with the real embedding model and the rules reasoner, on the English examples."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import banyan as package
import networkx as nx
import pytest

from .. import command_line

pytestmark = pytest.mark.integration

ENGLISH = command_line.EXAMPLES / "en"
BUILD_KEYS = {"kb", "documents", "chunks", "chunks_failed", "entities", "triples", "attributes", "communities",
              "schema_version", "rejected", "tokens", "seconds"}
MARIE = "When was Marie Curie born?"


@pytest.fixture(scope="module")
def banyan(english_folder):
    return command_line.CommandLine(english_folder)


@pytest.fixture(scope="module")
def built(english_folder):
    """The report of the build that the tests below read; those that write build their own."""
    return json.loads((english_folder / "report.json").read_text("utf-8"))


def test_what_the_build_left_is_what_networkx_reads(banyan, built):
    home = banyan.folder / "home"
    loaded = nx.node_link_graph(json.loads((home / "english" / "graph.json").read_text("utf-8")))
    with package.open("english", home=home) as kb:
        assert nx.utils.graphs_equal(loaded, kb.graph)
        assert package.list(home=home) == ["english"]
    assert sum(data["kind"] == "entity" for _, data in loaded.nodes(data=True)) == built["entities"]


@pytest.fixture(scope="module")
def ask(banyan, built):
    return lambda question, *more: banyan("ask", question, "--kb", "english", "--json", *more).json


@pytest.fixture(scope="module")
def questions(banyan) -> Path:
    """Every third English question, the unanswerable among them: each takes half a second and more."""
    path = banyan.folder / "questions.jsonl"
    path.write_text("".join(line + "\n" for line in _english()[1::3]), "utf-8")
    return path


def _english() -> list[str]:
    """The lines of the English questions: their gold documents are those of `examples/en`."""
    lines = (command_line.EXAMPLES / "questions.jsonl").read_text("utf-8").splitlines()
    return [line for line in lines if json.loads(line)["language"] == "en"]


# build, ask, chat

def test_build_reports_what_it_made(built):
    assert set(built) >= BUILD_KEYS
    assert (built["kb"], built["documents"], built["chunks_failed"]) == ("english", 16, 0)
    assert built["chunks"] >= 16
    assert min(built["entities"], built["triples"], built["attributes"], built["communities"]) > 0
    assert built["tokens"] == {"prompt": 0, "completion": 0, "calls": 0}


def test_an_answer_cites_its_document(ask):
    answer = ask(MARIE)
    assert set(answer) == {"answer", "abstained", "confidence", "citations", "sub_queries", "iterations"}
    assert not answer["abstained"]
    assert re.search(r"7 November 1867.*\[1\]", answer["answer"], re.DOTALL)
    command_line.check_citations(answer["citations"], ENGLISH)
    assert "marie-curie.md" in {citation["document"] for citation in answer["citations"]}
    assert answer["sub_queries"][0] == MARIE
    assert answer["iterations"] >= 1


def test_an_unanswerable_question_abstains(ask):
    answer = ask("What was Niels Bohr's favourite food?")
    assert answer["abstained"]
    assert "No short answer was found" in answer["answer"]
    command_line.check_citations(answer["citations"], command_line.EXAMPLES / "en")


def test_without_agent_and_decomposition_there_is_one_round_and_one_query(ask):
    question = "On which river does the birthplace of the discoverer of polonium lie?"
    answer = ask(question, "--no-agent", "--no-decompose")
    assert (answer["sub_queries"], answer["iterations"]) == ([question], 1)
    assert len(ask(question)["sub_queries"]) > 1


def test_a_chat_understands_a_follow_up(banyan, built):
    said = banyan("chat", "--kb", "english", stdin=f"{MARIE}\nWhere was she born?\n")
    assert said.code == 0
    _, first, second, *_ = said.out.split("> ")
    assert "7 November 1867" in first
    assert second.startswith("Found: Warsaw\n“She was born in Warsaw")
    assert re.search(r"^  \[1\] marie-curie\.md \d+-\d+$", second, re.MULTILINE)
    assert said.err.count("the rules reasoner is used") == 1


# Looking at it

def test_documents(banyan, built):
    listed = banyan("documents", "--kb", "english", "--json").json
    assert {entry["id"] for entry in listed} == {path.name for path in ENGLISH.iterdir()}
    assert sum(entry["chunks"] for entry in listed) == built["chunks"]
    assert {entry["failed"] for entry in listed} == {0}


def test_status(banyan, built):
    status = banyan("status", "--kb", "english", "--json").json
    shared = ("kb", "documents", "chunks", "chunks_failed", "entities", "triples", "attributes", "communities",
              "schema_version", "rejected")
    assert {key: status[key] for key in shared} == {key: built[key] for key in shared}
    assert (status["chunks_waiting"], status["failures"], status["tokens"]) == (0, [], [])
    assert status["embedding_model"] == "all-MiniLM-L6-v2"


def test_verify_finds_nothing_wrong(banyan, built):
    verified = banyan("verify", "--kb", "english")
    assert (verified.code, verified.out) == (0, "all is well\n")


# Changing it

def test_delete_and_reindex(banyan):
    some = banyan.folder / "some"
    some.mkdir()
    for name in ("marie-curie.md", "warsaw.md"):
        (some / name).write_bytes((ENGLISH / name).read_bytes())
    before = banyan("build", some, "--kb", "shrinking", "--json").json
    deleted = banyan("delete", "marie-curie.md", "--kb", "shrinking")
    assert (deleted.code, deleted.out) == (0, "deleted marie-curie.md\n")
    assert banyan("verify", "--kb", "shrinking", "--json").json == {"kb": "shrinking", "problems": []}
    after = banyan("status", "--kb", "shrinking", "--json").json
    assert after["documents"] == 1
    assert 0 < after["entities"] < before["entities"]
    assert banyan("reindex", "--kb", "shrinking").code == 0
    assert banyan("verify", "--kb", "shrinking").out == "all is well\n"
    assert banyan("status", "--kb", "shrinking", "--json").json == after


def test_deleting_what_is_not_there_is_an_error(banyan, built):
    deleted = banyan("delete", "nobody.md", "--kb", "english")
    assert deleted.code == 1
    assert "there is no document 'nobody.md'" in deleted.err


@pytest.mark.parametrize(("schema", "admitted"), [("general", 1), ("open", 2)])
def test_imported_triples_are_bounded_by_the_schema(banyan, schema, admitted):
    record = {"id": "p1", "title": "Otto Kern", "text": "Otto Kern was born in Vienna. Otto Kern defeated Tom Hale.",
              "entities": [{"name": "Otto Kern", "type": "Person"}, {"name": "Tom Hale", "type": "Person"},
                           {"name": "Vienna", "type": "Location"}],
              "triples": [["Otto Kern", "born_in", "Vienna"], ["Tom Hale", "located_in", "Vienna"]]}
    path = banyan.folder / f"{schema}.jsonl"
    path.write_text(json.dumps(record) + "\n", "utf-8")
    kb = f"import-{schema}"
    report = banyan("import", path, "--format", "triples", "--kb", kb, "--schema", schema, "--json").json
    assert set(report) >= BUILD_KEYS
    assert (report["documents"], report["triples"]) == (1, admitted)
    assert report["rejected"] == ({} if schema == "open" else {"domain_range": 1})


def test_a_broken_line_of_an_import_is_reported_and_the_rest_read(banyan):
    path = banyan.folder / "broken.jsonl"
    good = {"id": "p1", "title": "Kern", "text": "Otto Kern was born in Vienna.",
            "entities": [{"name": "Otto Kern", "type": "Person"}], "triples": []}
    path.write_text("{not json\n" + json.dumps(good) + "\n", "utf-8")
    imported = banyan("import", path, "--format", "triples", "--kb", "broken", "--json")
    assert imported.code == 1
    assert imported.report["documents"] == 1
    assert len(imported.report["files_failed"]) == 1
    assert "line 1: not JSON" in imported.err


# Measuring it

def test_eval_retrieval(banyan, built, questions):
    arguments = ("eval", "retrieval", "--kb", "english", "--format", "generic", "--questions", questions, "--json")
    report = banyan(*arguments).json
    assert set(report) == {"questions", "recall", "interval", "latency_ms", "gold_absent", "by_type",
                           "rows"}
    assert report["gold_absent"] == 0
    gold = [json.loads(line)["gold"] for line in questions.read_text("utf-8").splitlines()]
    assert 8 < report["questions"] == sum(map(bool, gold)) < len(gold)
    assert set(report["recall"]) == {"2", "5", "10", "20"}
    recall = list(report["recall"].values())
    assert recall == sorted(recall)
    assert recall[0] > 60
    assert recall[-1] == 100, "every passage of 16 documents is among the first 20"
    assert 0 < report["latency_ms"]["p50"] <= report["latency_ms"]["p95"]


def test_eval_retrieval_with_the_gold_decomposition(banyan, built):
    """Of four three-hop questions, the gold sub-queries with the answers filled in find every passage."""
    few = banyan.folder / "few.jsonl"
    few.write_text("".join(line + "\n" for line in _english() if '"id": "en-three' in line), "utf-8")
    report = banyan("eval", "retrieval", "--kb", "english", "--format", "generic", "--questions", few, "--json",
                    "--k", "1, 8", "--sub-queries", "gold", "--routes", "entity,triple").json
    assert report["questions"] == 4
    assert report["recall"]["8"] == 100
    assert report["recall"]["1"] <= 34, "one passage cannot be three"


@pytest.mark.parametrize(("option", "value", "message"), [
    ("--k", "0", "--k takes positive numbers"), ("--k", "2,-5", "--k takes positive numbers"),
    ("--routes", "entity,air", "there is no route 'air'; there are: entity, triple, community, dfs"),
    ("--questions", "nowhere.jsonl", "there is no question file nowhere.jsonl")])
def test_eval_retrieval_refuses(banyan, built, questions, option, value, message):
    options: dict[str, Any] = {"--kb": "english", "--format": "generic", "--questions": questions, option: value}
    refused = banyan("eval", "retrieval", *(part for pair in options.items() for part in pair))
    assert refused.code == 1
    assert refused.out == ""
    assert message in refused.err


# Help and mistakes

def test_every_command_has_help(banyan):
    shown = banyan("--help")
    assert shown.code == 0
    commands = re.findall(r"^│ (\w+) ", shown.out, re.MULTILINE)
    assert set(commands) >= {"build", "import", "ask", "chat", "documents", "status", "verify", "delete", "reindex",
                             "eval"}
    for command in [[one] for one in commands] + [["eval", "retrieval"], ["eval", "extraction"]]:
        helped = banyan(*command, "--help")
        assert helped.code == 0, command
        assert f"Usage: banyan {' '.join(command)} " in helped.out


def test_python_m_banyan_is_banyan(banyan):
    done = subprocess.run([sys.executable, "-m", "banyan", "--help"], cwd=banyan.folder, capture_output=True,
                          text=True, encoding="utf-8", timeout=60, check=False, env=command_line.clean_environment())
    assert done.returncode == 0, done.stderr
    assert "Usage: " in done.stdout
    assert "Knowledge graphs from documents" in done.stdout


@pytest.mark.parametrize("command", [
    ("ask", MARIE), ("documents",), ("status",), ("verify",), ("reindex",), ("delete", "x")], ids=lambda c: c[0])
def test_an_unknown_knowledge_base_is_named_and_not_made(banyan, built, command):
    refused = banyan(*command, "--kb", "nowhere")
    assert refused.code == 1
    assert "there is no knowledge base 'nowhere'" in refused.err
    assert "english" in refused.err
    assert not (banyan.folder / "home" / "nowhere").exists()


def test_a_build_of_nothing_makes_nothing(banyan):
    refused = banyan("build", "no-such-folder", "--kb", "nothing", "--json")
    assert refused.code == 1
    assert "no-such-folder does not exist" in refused.err
    assert not (banyan.folder / "home" / "nothing" / "ledger.sqlite").exists()
