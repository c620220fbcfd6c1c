"""What is imported, and when: a start that imports all takes seconds."""

import subprocess
import sys

import pytest
from banyan.config import Settings
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.models.embedding.embedder_loading import load_embedder
from banyan.schemas.naming import entity_id

from .. import small_base
from ..conftest import TESTS

LATE = {"chromadb", "langchain_core", "langgraph", "networkx", "numpy", "scipy", "sklearn", "torch", "fastapi"}


def run(program: str, *arguments: str) -> str:
    """What a program prints in an interpreter of its own."""
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=120,
                          check=True)
    assert done.stderr == ""
    return done.stdout


REASONER = """
from banyan.config import Settings
from banyan.models.llm.llm_reasoner import LlmReasoner
LlmReasoner(Settings(_env_file=None, llm_base_url="http://127.0.0.1:9/v1"), object())
"""
COMMAND = """
from banyan.cli.main import command
command("status")
import banyan.agents.resources
"""
EMBEDDER = """
from banyan.config import Settings
from banyan.models.embedding.embedder_loading import load_embedder
load_embedder(Settings()).encode(["a"])
"""
PARSER = """
from banyan.models.parsing.parser import Parser
assert Parser().parse("Ada met Bob.")[0].text == "Ada"
"""
QUESTION = """
from banyan.cli.main import command
command("ask")
from banyan.models.rules.rules_reasoner import RulesReasoner
"""
BUILD = """
import banyan
from banyan.cli.main import command
command("build")
banyan.open
from banyan.models.llm.llm_reasoner import LlmReasoner
"""
VIEWS = """
import sys
from pathlib import Path
home, tests, entity = sys.argv[1:]
sys.path.insert(0, tests)
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.server.app import create_app
from hashed_embedding import HashedEmbedder
from starlette.testclient import TestClient
with Resources(Settings(_env_file=None, home=Path(home)), HashedEmbedder()) as resources:
    with TestClient(create_app(resources), base_url="http://127.0.0.1", client=("127.0.0.1", 7)) as client:
        bases = client.get("/api/knowledge-bases").json()["items"]
        for route in ("", "/graph/types", "/graph/overview", "/tree", "/introduction", "/summaries",
                      "/graph/search?q=ulm", "/graph/names?names=Ulm", f"/graph/entity?id={entity}",
                      f"/graph/neighbourhood?id={entity}",
                      f"/graph/path?start={entity}&end={entity}", f"/graph/among?id={entity}"):
            answer = client.get(f"/api/knowledge-bases/{bases[0]['name']}{route}")
            assert answer.status_code == 200, answer.text
        cited = {"citations": [{"document": "ulm", "start": 0, "end": 21}]}
        for route in ("graph/evidence", "questions/next"):
            answer = client.post(f"/api/knowledge-bases/people/{route}", json=cited)
            assert answer.status_code == 200, answer.text
print({"networkx", "chromadb", "sklearn"} & set(sys.modules))
"""


@pytest.fixture(scope="module")
def exported() -> None:
    """The model has been exported, which takes torch."""
    load_embedder(Settings())


STEPS = {
    "the package": ("import banyan; assert set(banyan.__all__) <= set(dir(banyan))", LATE | {"pydantic"}),
    "a command without a graph": (COMMAND, {"langgraph", "langchain_core", "langsmith", "chromadb", "networkx"}),
    "a reasoner before its first call": (REASONER, {"openai", "langchain_openai"}),
    "the retrieval graph": ("import banyan.agents.retrieval.graph",
                            {"scipy", "bm25s", "networkx", "chromadb", "sklearn"}),
    "a question before it is asked": (QUESTION, {"torch", "spacy", "chromadb", "onnxruntime", "sklearn", "openai",
                                                 "fastapi", "banyan.models.rules.reader"}),
    "an embedder that has been exported": (EMBEDDER, {"torch", "transformers", "sentence_transformers", "onnx"}),
    "a parser": (PARSER, {"torch"}),
    "a build without Ray": (BUILD, {"ray", "torch", "fastapi"}),
}
"""What is done one after the other in an interpreter, and what none of it imports until then."""


def test_what_is_not_needed_is_not_imported(exported):
    program = "import sys\n" + "".join(f"{code}\nprint({step!r}, {late} & set(sys.modules))\n"
                                       for step, (code, late) in STEPS.items())
    assert run(program).splitlines() == [f"{step} set()" for step in STEPS]


def test_the_pages_views_of_a_graph_need_neither_networkx_nor_chroma(tmp_path, hashed_embedder):
    home = tmp_path / "home"
    small_base.people(home, "people", hashed_embedder)
    with KnowledgeBase.open(home, "people", hashed_embedder) as kb:
        kb.save_index()
    assert run(VIEWS, str(home), str(TESTS), entity_id("Ulm", "City")) == "set()\n"


def test_help_lists_all_commands_and_imports_none_of_them():
    said = run(f"import sys; from banyan.cli.main import main\ntry: main()\nfinally: print({LATE} & set(sys.modules))",
               "--help")
    assert said.endswith("set()\n")
