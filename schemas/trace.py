"""The trace of a question: each step of the retrieval graph in short texts for people."""

from typing import Any, Literal

from pydantic import Field

from .documents import Frozen
from .lookups import Tool
from .retrieval import Grade

StepName = Literal["question", "first_look", "decompose", "search", "reflect", "answer"]


class TracedFinding(Frozen):
    """One of the first findings of a lookup: its text, and the documents that support it."""

    text: str
    documents: tuple[str, ...] = ()


class TraceStep(Frozen):
    """One step; `step` determines which fields are filled.

    - question: `text`, the question as asked (a follow-up is made self-contained).
    - first_look: the first `found` of `total` items that are shown before any call; `table` if these begin with one.
    - decompose, reflect: `sufficient`, `text` (the thought), and the next `lookups`; `notes` say what was left out.
    - search: `tool`, `text` (the lookup), the first `found` of `total` items, `table` of a triple_search; `notes` say
      what is missing.
    - answer: `text`, `abstained`, `confidence`, `grade`, `documents` cited.

    `table` has the arguments of a computed table, as `kb.table` and REST take them; it is empty if they are very long.
    `round` counts from 1: the first look is the first. All texts are shortened, and no passage is repeated whole.
    """

    step: StepName
    round: int = 1
    text: str = ""
    notes: tuple[str, ...] = ()
    lookups: tuple[str, ...] = ()
    tool: Tool | None = None
    found: tuple[TracedFinding, ...] = ()
    total: int = 0
    table: dict[str, Any] = Field(default={})
    sufficient: bool | None = None
    abstained: bool | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)
    grade: Grade | None = None
    documents: tuple[str, ...] = ()
