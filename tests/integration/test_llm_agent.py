"""The agent's rounds over HTTP, with an endpoint that knows the parts of a question and their answers, nothing else."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from banyan.agents.construction import graph as construction
from banyan.agents.resources import Resources
from banyan.agents.retrieval import graph as retrieval
from banyan.agents.retrieval.state import AskContext
from banyan.config import Settings

from .. import gold_brain, hashed_embedding, llm_server

pytestmark = pytest.mark.integration


_REST = (" The county's register has a page on this, which a clerk keeps in the town hall and reads aloud on the first "
         "Monday of every month, whether or not anybody has come to listen.")
TEXTS = {title: text + _REST for title, text in {
    "Northern Lamp": "The Northern Lamp is a lighthouse. It was built by Ada Brandt.",
    "Ada Brandt": "Ada Brandt was an engineer. She was born in Kalmar.",
    "Kalmar": "Kalmar is a town. Its oldest bridge was opened in 1889.",
    **{f"Hill {number}": f"Hill {number} is {100 + number} metres high. Sheep graze on it." for number in range(6)},
}.items()}
QUESTION = "When was the oldest bridge opened of the town where the builder of the Northern Lamp was born?"
STEPS = (("Who built the Northern Lamp?", "Ada Brandt", "Northern Lamp"),
         ("Where was {answer 1} born?", "Kalmar", "Ada Brandt"),
         ("When was the oldest bridge of {answer 2} opened?", "1889", "Kalmar"))


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A knowledge base of the texts, built without an LLM."""
    folder = tmp_path_factory.mktemp("agent")
    source = folder / "texts.jsonl"
    source.write_text("".join(json.dumps({"id": title, "title": title, "text": text}) + "\n"
                              for title, text in TEXTS.items()), "utf-8")
    given: Any = {"knowledge_base": "own", "paths": [str(source)]}
    settings = Settings(home=folder / "home", llm_base_url=None, _env_file=None)
    with Resources(settings, hashed_embedding.HashedEmbedder()) as resources:
        construction.build_graph(resources).invoke(given, {"max_concurrency": 3})
    return folder / "home"


@pytest.fixture
def home(built, tmp_path) -> Path:
    """A copy for each test: what one was answered would be answered again from the ledger."""
    shutil.copytree(built, tmp_path / "home")
    return tmp_path / "home"


def settings_of(home: Path, server: Any) -> Settings:
    # Room for one passage in a round: not all parts can be answered at once.
    return Settings(home=home, llm_base_url=server.base_url, llm_model="small", context_tokens=200, _env_file=None)


def ask(home: Path, parts: Any, **caps: int) -> tuple[dict[str, Any], Any]:
    with llm_server.LlmServer(gold_brain.gold_brain({QUESTION: parts})) as server:
        settings = settings_of(home, server)
        with Resources(settings, hashed_embedding.HashedEmbedder()) as resources:
            said = retrieval.build_graph(resources).invoke({"knowledge_base": "own", "question": QUESTION},
                                                           context=AskContext(**caps))
        return dict(said), server.stats


def gold(text: str = "") -> list[Any]:
    """The parts; with a text, it is that from which the last is answered, which is not in the knowledge base."""
    return [gold_brain.GoldPart(question, answer, title, text if text and title == "Kalmar" else TEXTS[title])
            for question, answer, title in STEPS]


def test_parts_are_looked_up_in_rounds_and_answered(home):
    said, stats = ask(home, gold())
    assert (said["answer"], said["short"], said["grade"]) == ("It is 1889. [1]", "1889", "stated")
    assert [(citation["document"], citation["quote"]) for citation in said["citations"]] == [
        ("texts.jsonl/Kalmar", "1889")]
    assert said["iterations"] == 3
    assert "passage_search: When was the oldest bridge of Kalmar opened?" in said["sub_queries"]
    assert stats.steps == {"decompose": 1, "reflect": 2}


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_what_cannot_be_answered_ends_at_the_cap_on_rounds(home, rounds):
    said, stats = ask(home, gold("Nothing of this is known. In 1889 it snowed."), max_rounds=rounds)
    assert (said["abstained"], said["grade"]) == (True, "none")
    assert said["iterations"] <= rounds + 1
    assert stats.answers <= rounds + 1
