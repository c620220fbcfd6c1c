"""A reasoner that says what a test wants and records what it was asked, and resources that use it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import AskContext
from banyan.config import Settings
from banyan.models.embedding.embedder import Embedder
from banyan.runtime.threads import in_thread
from banyan.schemas.inquiry import Inquiry, Judgement
from banyan.schemas.lookups import Lookup, PassageLookup
from banyan.schemas.retrieval import Claim, DraftAnswer, Passage, Quote

from .small_base import people, summarise

NO_ANSWER = Judgement(draft=DraftAnswer(answerable=False, confidence=0.0))


class Fake:
    """A `Reasoner` that gives its `replies` in order and then what `reply` returns; it records what it was asked."""

    fingerprint = "fake"
    can_reason = True
    resolves = False

    def __init__(self) -> None:
        self.inquiries: list[Inquiry] = []
        self.condensed: list[tuple[str, list[tuple[str, str]]]] = []
        self.replies: list[Judgement] = []
        self.reply: Callable[[Inquiry], Judgement] = lambda _: NO_ANSWER
        self.instructions = ""

    def with_instructions(self, instructions):
        self.instructions = instructions
        return self

    async def summarise(self, communities):
        return summarise(communities)

    async def judge(self, inquiry):
        self.inquiries.append(inquiry)
        return self.replies.pop(0) if self.replies else await in_thread(self.reply, inquiry)

    async def condense(self, question, messages):
        self.condensed.append((question, list(messages)))
        return f"{question} (of Ada Byron)"


class FakeResources(Resources):
    def __init__(self, home: Path, embedder: Embedder, **settings: Any) -> None:
        super().__init__(Settings(home=home, llm_base_url=None, _env_file=None, **settings), embedder)
        self.fake = Fake()

    def reasoner(self, name, models=None, calls=None):
        return self.fake


@pytest.fixture
def served(tmp_path, hashed_embedder):
    """Resources with that reasoner for a server, whose knowledge base is "people"."""
    people(tmp_path, "people", hashed_embedder)
    with FakeResources(tmp_path, hashed_embedder) as resources:
        yield resources


QUESTION = "Where was Ada Byron born?"


def ask(resources, question=QUESTION, **context):
    return build_graph(resources).invoke({"knowledge_base": "kb", "question": question}, context=AskContext(**context))


def look(*lookups: Lookup | str, **more: Any) -> Judgement:
    return Judgement(lookups=[PassageLookup(query=one) if isinstance(one, str) else one for one in lookups], **more)


def answer(*claims: Claim, answerable=True, short="", confidence=1.0) -> Judgement:
    return Judgement(draft=DraftAnswer(answerable=answerable, claims=list(claims), short=short, confidence=confidence))


def claim(text: str, *quotes: int | tuple[int, str], unstated="") -> Claim:
    """A claim with the numbers of the items that it quotes, or (number, words)."""
    return Claim(text=text, unstated=unstated, quotes=[
        Quote(item=one) if isinstance(one, int) else Quote(item=one[0], words=one[1]) for one in quotes])


def passages(inquiry: Inquiry) -> dict[str, int]:
    return {item.document: number for number, item in enumerate(inquiry.items(), 1) if item.kind == "passage"}


def quoting(*quotes: tuple[str, str], **more: Any) -> Callable[[Inquiry], Judgement]:
    """An answer with one claim for each (document, words)."""
    return lambda inquiry: answer(*(
        claim(f"Claim on {document}: {' '.join(words.split())}", (passages(inquiry)[document], words))
        for document, words in quotes), **more)


def items(inquiry: Inquiry) -> list[Passage]:
    return list(inquiry.items())
