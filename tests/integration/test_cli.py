"""Every command as a process, with the real embedding model and the rules reasoner, on the English examples."""

import json
import re
import subprocess
import sys

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


def test_build_reports_what_it_made(built):
    assert set(built) >= BUILD_KEYS
    assert (built["kb"], built["documents"], built["chunks_failed"]) == ("english", 16, 0)
    assert built["chunks"] >= 16
    assert min(built["entities"], built["triples"], built["attributes"], built["communities"]) > 0
    assert built["tokens"] == {"prompt": 0, "completion": 0, "calls": 0}


def test_an_answer_cites_its_document(ask):
    answer = ask(MARIE)
    assert set(answer) == {"answer", "abstained", "confidence", "grade", "citations", "sub_queries", "iterations"}
    assert not answer["abstained"]
    assert re.search(r"7 November 1867.*\[1\]", answer["answer"], re.DOTALL)
    command_line.check_citations(answer["citations"], ENGLISH)
    assert "marie-curie.md" in {citation["document"] for citation in answer["citations"]}
    assert answer["sub_queries"][0] == MARIE
    assert answer["iterations"] >= 1


def test_python_m_banyan_is_banyan(banyan):
    done = subprocess.run([sys.executable, "-m", "banyan", "--help"], cwd=banyan.folder, capture_output=True,
                          text=True, encoding="utf-8", timeout=60, check=False, env=command_line.clean_environment())
    assert done.returncode == 0, done.stderr
    assert "Usage: " in done.stdout
    assert "Knowledge graphs from documents" in done.stdout
