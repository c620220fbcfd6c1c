"""A reasoner that says what a test wants and records what it was asked, and resources that use it.

A test module takes the fixtures as its own: `opened, resources = asking.opened, asking.resources`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import AskContext
from banyan.config import Settings
from banyan.models.embedding.embedder import Embedder
from banyan.schemas.retrieval import Claim, DraftAnswer, Passage, Quote, Reflection, SubQuery

from .small_base import people


class Fake:
    """A `Reasoner` whose answers are attributes; `calls` lists (step, arguments)."""

    fingerprint = "fake"
    reasons = True

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.parts: list[SubQuery] = []
        self.reflections: list[Reflection] = []
        self.instructions = ""
        self.draft: Callable[[list[Passage]], DraftAnswer] = lambda _: DraftAnswer(answerable=False)

    def steps(self) -> list[str]:
        return [step for step, _ in self.calls]

    def said_to(self, step: str) -> list[tuple[Any, ...]]:
        return [arguments for name, arguments in self.calls if name == step]

    def with_instructions(self, instructions):
        self.instructions = instructions
        return self

    def decompose(self, question, schema, limit):
        self.calls.append(("decompose", (question, schema, limit)))
        return self.parts

    def reflect(self, question, history, passages, schema):
        self.calls.append(("reflect", (question, list(history), list(passages), schema)))
        return self.reflections.pop(0) if self.reflections else Reflection(sufficient=True)

    def answer(self, question, history, passages, mode):
        self.calls.append(("answer", (question, list(history), list(passages), mode)))
        return self.draft(list(passages))

    def condense(self, question, messages):
        self.calls.append(("condense", (question, list(messages))))
        return f"{question} (of Ada Byron)"

    async def adecompose(self, *arguments):
        return self.decompose(*arguments)

    async def areflect(self, *arguments):
        return self.reflect(*arguments)

    async def aanswer(self, *arguments):
        return self.answer(*arguments)

    async def acondense(self, *arguments):
        return self.condense(*arguments)


class FakeResources(Resources):
    """Resources with that reasoner."""

    def __init__(self, home: Path, embedder: Embedder) -> None:
        super().__init__(Settings(home=home, llm_base_url=None, _env_file=None), embedder)
        self.fake = Fake()

    def reasoner(self, name, models=None):
        return self.fake


@pytest.fixture(scope="module")
def opened(tmp_path_factory, hashed_embedder):
    """The people of `small_base` as the knowledge base "kb"."""
    home = tmp_path_factory.mktemp("home")
    people(home, "kb", hashed_embedder)
    with FakeResources(home, hashed_embedder) as resources:
        yield resources


@pytest.fixture
def resources(opened):
    """The same, with a reasoner that was not told anything yet."""
    opened.fake = Fake()
    return opened


PLAIN = "Where was Ada Byron born?"
"""A question that is not decomposed by a call."""


def ask(resources, question="So where was Ada Byron born?", **context):
    return build_graph(resources).invoke({"knowledge_base": "kb", "question": question}, context=AskContext(**context))


def quoting(*quotes: tuple[str, str], answerable=True) -> Callable[[list[Passage]], DraftAnswer]:
    """A draft with one claim for each (document, words)."""

    def draft(passages):
        number = {passage.document: n for n, passage in enumerate(passages, 1)}
        return DraftAnswer(answerable=answerable, claims=[
            Claim(text=f"Claim on {document}: {' '.join(words.split())}",
                  quotes=[Quote(passage=number[document], words=words)])
            for document, words in quotes])

    return draft
