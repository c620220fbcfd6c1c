"""Entity resolution: pairs of entities, verdicts on them, and the resulting groups."""

from typing import Literal

from pydantic import Field

from .documents import Frozen

Rule = Literal["manual", "verdict", "stated", "key", "date", "spelling", "legal_form", "title", "qualifier", "place",
               "person", "acronym"]
"""The reason to consider two names the same; a score combines its strength with other evidence."""


class EntityCard(Frozen):
    """An entity as shown to a reasoner."""

    name: str
    type: str
    facts: tuple[str, ...] = Field(default=(), description="some of what is known of it, in words")


class EntityPair(Frozen):
    """Two entities that may be the same."""

    first: EntityCard
    second: EntityCard
    documents: frozenset[str] = Field(default=frozenset(), description="the documents that speak of either; pairs of "
                                                                      "other documents are judged apart")


class PairVerdict(Frozen):
    """Whether two entities are the same, with a confidence."""

    same: bool
    confidence: float = Field(default=1.0, ge=0, le=1)


class NameLink(Frozen):
    """Words of a chunk that connect two names."""

    chunk: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)


class EntityDecision(Frozen):
    """A person's decision on two entities."""

    verdict: Literal["merge", "split"]
    first: str = Field(description="an entity's id")
    second: str
    who: str
    why: str = ""
    decided_at: str = ""


class Alias(Frozen):
    """A member of a group other than its canonical entity, and the reason for its membership."""

    id: str
    name: str
    type: str
    rule: Rule
    score: float
    evidence: tuple[NameLink, ...] = ()


class EntityGroup(Frozen):
    """Entities that are merged into one node."""

    id: str
    name: str
    type: str
    aliases: tuple[Alias, ...]


class AliasRow(Frozen):
    """An entity that is the same as its canonical one, and `partner`, with which it matched; `type` is their node's."""

    id: str
    canonical: str
    type: str
    partner: str
    rule: Rule
    score: float
    evidence: tuple[NameLink, ...] = ()


Pair = tuple[str, str]  # the ids of two entities in ascending order


def pair_of(first: str, second: str) -> Pair:
    """Return two ids in ascending order, in which both orders are the same pair."""
    return (first, second) if first < second else (second, first)
