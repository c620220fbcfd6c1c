"""What is imported, and when: a start that imports all takes seconds."""

import subprocess
import sys

import pytest
from banyan.config import Settings
from banyan.models.embedding.embedding_models import load_embedder

LATE = {"chromadb", "langchain_core", "langgraph", "networkx", "numpy", "scipy", "sklearn", "torch", "fastapi"}


def run(program: str, *arguments: str) -> str:
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
from banyan.models.embedding.embedding_models import load_embedder
load_embedder(Settings()).encode(["a"])
"""
PARSER = """
from banyan.models.parsing.parser import Parser
assert Parser().entities(["Ada met Bob."])[0][0].text == "Ada"
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


@pytest.fixture(scope="module")
def exported() -> None:
    load_embedder(Settings())


STEPS = {
    "the package": ("import banyan; assert set(banyan.__all__) <= set(dir(banyan))", LATE | {"pydantic"}),
    "a command without a graph": (COMMAND, {"langgraph", "langchain_core", "langsmith", "chromadb", "networkx"}),
    "a reasoner before its first call": (REASONER, {"openai", "langchain_openai"}),
    "the retrieval graph": ("import banyan.agents.retrieval.graph",
                            {"scipy", "bm25s", "networkx", "chromadb", "sklearn"}),
    "a question before it is asked": (QUESTION, {"torch", "spacy", "chromadb", "onnxruntime", "sklearn", "openai",
                                                 "fastapi", "banyan.models.rules.reader", "banyan.ingest.loaders",
                                                 "banyan.agents.schema_proposal"}),
    "an embedder that has been exported": (EMBEDDER, {"torch", "transformers", "sentence_transformers", "onnx"}),
    "a parser": (PARSER, {"torch"}),
    "a build without Ray": (BUILD, {"ray", "torch", "fastapi"}),
}
"""What is done one after the other in an interpreter, and what none of it imports until then."""


def test_what_is_not_needed_is_not_imported(exported):
    program = "import sys\n" + "".join(f"{code}\nprint({step!r}, {late} & set(sys.modules))\n"
                                       for step, (code, late) in STEPS.items())
    assert run(program).splitlines() == [f"{step} set()" for step in STEPS]


def test_help_lists_all_commands_and_imports_none_of_them():
    said = run(f"import sys; from banyan.cli.main import main\ntry: main()\nfinally: print({LATE} & set(sys.modules))",
               "--help")
    assert said.endswith("set()\n")
