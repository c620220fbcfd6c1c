"""Entity resolution: what is asked about two entities, what is answered, and what became of it."""

from typing import Literal

from pydantic import Field

from .documents import Frozen

Rule = Literal["manual", "verdict", "stated", "date", "spelling", "article", "accents", "legal_form", "title",
               "inverted", "qualifier", "place", "numeral", "spacing", "order", "middle_name", "initials", "acronym",
               "plural", "similar", "meaning"]
"""What suggests that two names are of one thing; a score says how strongly, with all else."""


class EntityCard(Frozen):
    """An entity as a reasoner is shown it."""

    name: str
    type: str
    facts: tuple[str, ...] = Field(default=(), description="some of what is known of it, in words")


class EntityPair(Frozen):
    """Two entities that may be one."""

    first: EntityCard
    second: EntityCard


class PairVerdict(Frozen):
    """Whether two entities are the same thing, and how sure that is."""

    same: bool
    confidence: float = Field(default=1.0, ge=0, le=1)


class Evidence(Frozen):
    """Words of a chunk that tie two names together."""

    chunk: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)


class EntityDecision(Frozen):
    """What a person decided on two entities."""

    verdict: Literal["merge", "split"]
    first: str = Field(description="an entity's id")
    second: str
    who: str
    why: str = ""
    decided_at: str = ""


class Alias(Frozen):
    """A member of a group besides its canonical entity, and what tied it to the others."""

    id: str
    name: str
    type: str
    rule: Rule
    score: float
    evidence: tuple[Evidence, ...] = ()


class EntityGroup(Frozen):
    """Entities that became one node."""

    id: str
    name: str
    type: str
    aliases: tuple[Alias, ...]


class AliasRow(Frozen):
    """An entity that is the same as another, its canonical one; `type` is that of their node.

    `partner` is the member of the group that it was tied to.
    """

    id: str
    canonical: str
    type: str
    partner: str
    rule: Rule
    score: float
    evidence: tuple[Evidence, ...] = ()


Pair = tuple[str, str]
"""Two entities' ids, ascending."""


def pair_of(first: str, second: str) -> Pair:
    """Two ids in ascending order."""
    return (first, second) if first < second else (second, first)
