"""Find entities by a name that a question or a model writes, and names that are spelt alike."""

import re
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from ..graph_store.bounding.words import words
from ..schemas.naming import canonical_name
from .index import RetrievalIndex

_ARTICLE = re.compile(r"^(?:the|an?) ")
_SHOWN = 5
_MOST_PARTS = 3
"""The most entities that may be meant by a part of their names."""


class FoundEntities(NamedTuple):
    """The entities that have a name, sorted by id; where none has, names like it."""

    entities: tuple[str, ...]
    near: tuple[str, ...] = ()


def find_entities(index: RetrievalIndex, name: str) -> FoundEntities:
    """Return the entities of a name: those that have it, else the few whose name contains it, else names like it."""
    wanted = " ".join(words(name))
    known = set(index.by_alias.get(canonical_name(name), ()))
    for named in index.names.find(name):
        if named.name in (wanted, _ARTICLE.sub("", wanted)):
            known.update(named.entities)
    if known:
        return FoundEntities(tuple(sorted(known)))
    near = index.spellings().near(name, _SHOWN)
    inside = {entity for other in near if wanted and f" {wanted} " in f" {' '.join(words(other))} "
              for named in index.names.find(other) for entity in named.entities}
    return FoundEntities(tuple(sorted(inside))) if 0 < len(inside) <= _MOST_PARTS else FoundEntities((), near)


def named_entities(index: RetrievalIndex, question: str) -> dict[str, str]:
    """Return the entities that a question names, by any name that texts or metadata give, with the words that do."""
    places = [(named.start, named.end, entity) for named in index.names.find(question) for entity in named.entities]
    places += [(named.start, named.end, entity) for named in index.values.find(question)
               for entity in index.by_alias.get(canonical_name(question[named.start:named.end]), ())]
    return {entity: question[start:end] for start, end, entity in sorted(places)}


def unknown_names_near(index: RetrievalIndex, names: Sequence[str], limit: int) -> list[str]:
    """Return the names that are like some unknown names, nearest first."""
    near = (index.spellings().near(name, limit) for name in names if not index.names.find(name))
    return list(dict.fromkeys(chain.from_iterable(near)))[:limit]
