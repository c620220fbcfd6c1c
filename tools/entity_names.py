"""Finding entities by a name that a question or a model writes, and names of similar spelling."""

import re
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from ..graph_store.bounding.words import words
from ..graph_store.graph_index import GraphIndex
from ..schemas.naming import canonical_name

_ARTICLE = re.compile(r"^(?:the|an?) ")
_MAX_SIMILAR = 5
_MAX_PARTIAL = 3
"""A part of a name means the entities that have it only if they are at most this many."""


class FoundEntities(NamedTuple):
    """The entities that have a name, sorted by id; if there are none, `near` has names of similar spelling."""

    entities: tuple[str, ...]
    near: tuple[str, ...] = ()


def find_entities(index: GraphIndex, name: str) -> FoundEntities:
    """Return the entities that have a name.

    If no entity has it, those whose name contains it as whole words are returned, provided that they are few; else
    only names of similar spelling.
    """
    wanted = " ".join(words(name))
    entities = set(index.by_alias.get(canonical_name(name), ()))
    for occurrence in index.name_trie.find(name):
        if occurrence.name in (wanted, _ARTICLE.sub("", wanted)):
            entities.update(occurrence.entities)
    if entities:
        return FoundEntities(tuple(sorted(entities)))
    similar_names = index.similar_names(name, _MAX_SIMILAR)
    names_with_part = [other for other in similar_names if wanted and f" {wanted} " in f" {' '.join(words(other))} "]
    partial = {entity for other in names_with_part for occurrence in index.name_trie.find(other)
               for entity in occurrence.entities}
    if 0 < len(partial) <= _MAX_PARTIAL:
        return FoundEntities(tuple(sorted(partial)))
    return FoundEntities((), similar_names)


def named_entities(index: GraphIndex, question: str) -> dict[str, str]:
    """Return the entities that a question names, each with the words of the question that name it.

    An entity may be named by any of its names, or by a value that is also a name of it.
    """
    spans = [(occurrence.start, occurrence.end, entity)
             for occurrence in index.name_trie.find(question) for entity in occurrence.entities]
    spans += [(occurrence.start, occurrence.end, entity) for occurrence in index.value_trie.find(question)
              for entity in index.by_alias.get(canonical_name(question[occurrence.start:occurrence.end]), ())]
    return {entity: question[start:end] for start, end, entity in sorted(spans)}


def unknown_names_near(index: GraphIndex, names: Sequence[str], limit: int) -> list[str]:
    """Return names in the knowledge base that are spelt like those of `names` that it does not have, nearest first."""
    similar = (index.similar_names(name, limit) for name in names if not index.name_trie.find(name))
    return list(dict.fromkeys(chain.from_iterable(similar)))[:limit]
