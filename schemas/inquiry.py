"""A question under way: what was looked up so far, what a reasoner makes of it, and the trace that people read."""

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from pydantic import BaseModel, Field

from .documents import Frozen
from .lookups import Lookup, TableQuery, Tool, TripleLookup
from .retrieval import DraftAnswer, Grade, Mode, Passage

StepName = Literal["question", "first_look", "decompose", "search", "reflect", "answer"]


class Block(Frozen):
    """What one lookup found: a title, citable items, and a note such as what is wrong with the lookup."""

    title: str
    items: tuple[Passage, ...] = ()
    note: str = ""
    left: int = 0  # how many items were left out
    left_hint: str = ""  # what these are and how to see them
    table: TripleLookup | TableQuery | None = None  # what gave a table, or the one that the question itself asks for


class Round(Frozen):
    """One round: the thought that led to its lookups, these, and what they found; the first look has blocks alone."""

    thought: str = ""
    lookups: tuple[Lookup, ...] = ()
    blocks: tuple[Block, ...] = ()


def items_of(rounds: Iterable[Round]) -> Iterator[Passage]:
    """Yield the items of rounds in the order of their numbers, including dropped ones."""
    return (item for lookup_round in rounds for block in lookup_round.blocks for item in block.items)


class Inquiry(Frozen):
    """All that a reasoner reads to answer a question or to look further."""

    question: str
    mode: Mode = "reject"
    terms: str = ""  # the relations and attributes that the question may mean
    tools: tuple[str, ...] = ()  # the lookups that are switched on
    rounds: tuple[Round, ...] = ()
    dropped: frozenset[int] = frozenset()  # the numbers, from 1, of items that no longer fit the budget
    is_last: bool = False  # no lookups are left

    def items(self) -> Iterator[Passage]:
        """Yield the items of all rounds (see `items_of`)."""
        return items_of(self.rounds)


class Judgement(BaseModel):
    """What a reasoner makes of an inquiry: an answer, or lookups; neither means that nothing answers the question."""

    thought: str = ""
    draft: DraftAnswer | None = None
    lookups: list[Lookup] = Field(default_factory=list)
    refused: list[tuple[str, str]] = Field(default_factory=list)
    """The tool of each lookup that the reasoner wrote and that cannot be made, and why."""


class TracedFinding(Frozen):
    """One of the first findings of a lookup: its text, and the documents that support it."""

    text: str
    documents: tuple[str, ...] = ()


class TraceStep(Frozen):
    """One step; `step` determines which fields are filled.

    - question: `text`, the question as asked (a follow-up is made self-contained).
    - first_look: the first `found` of `total` items that are shown before any call; `table` if these begin with one.
    - decompose, reflect: `sufficient`, `text` (the thought), and the next `lookups`; `notes` say what was left out.
    - search: `tool`, `text` (the lookup), the first `found` of `total` items, `table` of tables; `notes` say
      what is missing.
    - answer: `text`, `abstained`, `confidence`, `grade`, `documents` cited.

    `table` has the arguments of the lookup that gave a table: `sql`, or `relation` and what limits it; it is empty if
    they are very long.
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
