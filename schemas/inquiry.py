"""A question under way: what was looked up so far, and what a reasoner makes of it."""

from collections.abc import Iterator

from pydantic import BaseModel, Field

from .documents import Frozen
from .lookups import Lookup, TripleLookup
from .retrieval import DraftAnswer, Mode, Passage


class Block(Frozen):
    """What one lookup found: a title, citable items, and a note such as what was left out.

    `table` is the lookup of a table that the question itself asks for, before any call.
    """

    title: str
    items: tuple[Passage, ...] = ()
    note: str = ""
    table: TripleLookup | None = None


class Round(Frozen):
    """One round of lookups: the thought that led to them, the lookups, and what they found.

    The first look has neither thought nor lookups.
    """

    thought: str = ""
    lookups: tuple[Lookup, ...] = ()
    blocks: tuple[Block, ...] = ()


class Inquiry(Frozen):
    """All that a reasoner reads to answer a question or to look further.

    `terms` are the schema's terms with their numbers of rows. `tools` are the lookups that are switched on. `dropped`
    are the numbers, from 1, of items that no longer fit the budget. `is_last` means that no lookups are left.
    """

    question: str
    mode: Mode = "reject"
    terms: str = ""
    tools: tuple[str, ...] = ()
    rounds: tuple[Round, ...] = ()
    dropped: frozenset[int] = frozenset()
    is_last: bool = False

    def items(self) -> Iterator[Passage]:
        """Yield all items in the order of their numbers, dropped ones among them."""
        for one in self.rounds:
            for block in one.blocks:
                yield from block.items


class Judgement(BaseModel):
    """What a reasoner makes of an inquiry: an answer, or lookups; neither means that nothing answers the question.

    `keep` are the numbers of the items that an answer will need.
    """

    thought: str = ""
    draft: DraftAnswer | None = None
    lookups: list[Lookup] = Field(default_factory=list)
    keep: list[int] = Field(default_factory=list)
