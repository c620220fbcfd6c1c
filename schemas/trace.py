"""The trace of a question: each step of the retrieval graph in short texts for people."""

from typing import Literal

from pydantic import Field

from .documents import Frozen
from .retrieval import Route, SubAnswer

StepName = Literal["question", "decompose", "search", "survey", "fuse", "reflect", "answer"]


class TracedSubQuery(Frozen):
    """A sub-query as searched: its number among all, and the numbers of the sub-queries that it builds on."""

    number: int
    question: str
    entity_types: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    routes: tuple[Route, ...] = ()
    follows: tuple[int, ...] = ()


class TracedFinding(Frozen):
    """One of the best findings of a search: its text, how it was reached, and the documents that support it."""

    text: str
    score: float
    how: str = ""
    documents: tuple[str, ...] = ()


class TracedPassage(Frozen):
    """One of the best passages of the fused ranking."""

    chunk_id: str
    document: str
    title: str = ""
    score: float


class TraceStep(Frozen):
    """One step; `step` determines which fields are filled.

    - question: `text`, the question as asked (a follow-up is made self-contained).
    - decompose: `sub_queries`; `notes` explain what was mapped or dropped.
    - search: `number` and `route`, the best `found` of `total` findings.
    - survey: `found`, what some of the reports say, of `total` items read.
    - fuse: `passages`, the best of `total`; `text` says whether a cross-encoder reordered them.
    - reflect: `sufficient`, `text` (what is missing), `sub_answers`, the next `sub_queries`, `notes`.
    - answer: `text`, `abstained`, `confidence`, `documents` cited.

    `round` counts from 1. All texts are shortened to a few words, and no passage is repeated.
    """

    step: StepName
    round: int = 1
    text: str = ""
    notes: tuple[str, ...] = ()
    sub_queries: tuple[TracedSubQuery, ...] = ()
    number: int | None = None
    route: Route | None = None
    found: tuple[TracedFinding, ...] = ()
    passages: tuple[TracedPassage, ...] = ()
    total: int = 0
    sufficient: bool | None = None
    sub_answers: tuple[SubAnswer, ...] = ()
    abstained: bool | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)
    documents: tuple[str, ...] = ()
