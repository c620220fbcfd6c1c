"""The surface forms of each id: entities of a graph with all their names, and parts of persons' names."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from networkx.utils import UnionFind

from ...graph_store.graph.resolved_graph import ResolvedGraph
from ...schemas.naming import normalise

PERSON = "Person"
_WORD = re.compile(r"[^\W\d_]+")
_NUMERAL = re.compile(r"[IVX]+")
_SHORTEST = 3
_TITLES = frozenset([
    "mrs", "miss", "lord", "lady", "sir", "madame", "monsieur", "captain", "doctor", "professor", "saint", "king",
    "queen", "prince", "princess", "count", "uncle", "aunt", "father", "mother", "bishop", "duke", "duchess", "emperor",
    "pope", "general", "colonel", "president", "the", "and", "von", "van", "der", "den", "della", "del", "los", "las"])


class NamedEntity(NamedTuple):
    """An entity to be anonymised: its type in capitals, the name to show, and its surface forms."""

    kind: str
    name: str
    forms: tuple[str, ...]


def named_entities(graph: ResolvedGraph, types: Collection[str], texts: Sequence[str]) -> list[NamedEntity]:
    """Return the entities of some types, one for each set of surface forms, sorted by name.

    A word of a person's name refers to that person if no other person has it ("Curie" for "Marie Curie"), and to a
    separate entity, the family, if several persons do. Words that the texts also write in lower case are not names.

    Args:
        graph: the graph, with the names of each entity resolved.
        types: the entity types, as named in the schema.
        texts: the texts to anonymise.
    """
    bearers: dict[str, set[str]] = {}  # entities with the same name cannot be distinguished
    entities: dict[str, NamedEntity] = {}
    for entity in graph.entity_ids():
        kind = graph.type(entity)
        if kind in types:
            forms = tuple(sorted({form.strip() for form in graph.names(entity) if _usable(form)}))
            if forms:
                entities[entity] = NamedEntity(kind.upper(), graph.name(entity), forms)
            for form in forms:
                bearers.setdefault(normalise(form), set()).add(entity)
    merged = _merge_by_form(entities, bearers)
    return sorted([*merged, *_parts(merged, texts)])


def _usable(form: str) -> bool:
    return len(form.strip()) > 1 and any(character.isalpha() for character in form)


def _merge_by_form(entities: dict[str, NamedEntity], bearers: dict[str, set[str]]) -> list[NamedEntity]:
    """Merge entities that share a form, because a form can only have one id."""
    same = UnionFind(entities)
    for sharing in bearers.values():
        same.union(*sharing)
    groups = [(entities[min(group)], {form for entity in group for form in entities[entity].forms})
              for group in same.to_sets()]
    return [NamedEntity(first.kind, first.name, tuple(sorted(forms))) for first, forms in groups]


def _parts(entities: Iterable[NamedEntity], texts: Sequence[str]) -> Iterator[NamedEntity]:
    """Yield the words of persons' names that refer to a person or a family on their own."""
    small = {word for text in texts for word in _WORD.findall(text) if word.islower()}
    taken = {normalise(form) for entity in entities for form in entity.forms}
    bearers: dict[str, list[NamedEntity]] = {}
    for entity in entities:
        if entity.kind != PERSON.upper():
            continue
        words = {word for form in entity.forms for word in _WORD.findall(form)}
        for word in sorted(words):
            lower = word.lower()
            if (len(word) >= _SHORTEST and word[0].isupper() and not _NUMERAL.fullmatch(word)
                    and lower not in small | _TITLES and normalise(word) not in taken):
                bearers.setdefault(word, []).append(entity)
    mentioned = Counter(word for text in texts for word in _WORD.findall(text))
    for word, persons in bearers.items():
        if not mentioned[word] and not mentioned[word.upper()]:
            continue
        only = persons[0]
        yield NamedEntity(only.kind, only.name, (word,)) if len(persons) == 1 else NamedEntity(only.kind, word, (word,))
