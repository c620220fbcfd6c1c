"""Groups of entities that share an attribute's value which a question names: what "which ... of ..." asks for."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..graph_store.bounding.grounding import words
from .index import RetrievalIndex
from .query import Query

_MOST = 100
"""Entities of a value that are read; one that more have tells little of any of them."""


class Member(NamedTuple):
    """An entity of a group, its value as a document writes it, and the words that state it."""

    entity: str
    value: str
    chunk: str
    start: int
    end: int


class ValueGroup(NamedTuple):
    """The entities that have one value of an attribute; one that several chunks say it of is there for each."""

    attribute: str
    members: Sequence[Member]


def value_groups(index: RetrievalIndex, query: Query) -> list[ValueGroup]:
    """Return the groups of the values that a sub-query names, in the order of these, then by attribute."""
    groups = dict[tuple[str, str], list[Member]]()
    for named in query.meaning.values:
        for entity in named.entities[:_MOST]:
            for attribute, member in _members(index, entity, named.name):
                groups.setdefault((named.name, attribute), []).append(member)
    return [ValueGroup(attribute, groups[name, attribute]) for name, attribute in sorted(
        groups, key=lambda key: ([named.name for named in query.meaning.values].index(key[0]), key[1]))]


def _members(index: RetrievalIndex, entity: str, name: str) -> Iterator[tuple[str, Member]]:
    for attribute, values in index.attributes(entity).items():
        for value, support in values.items():
            if " ".join(words(value)) == name:
                yield from ((attribute, Member(entity, value, chunk, start, end))
                            for chunk, (start, end) in support.items())
