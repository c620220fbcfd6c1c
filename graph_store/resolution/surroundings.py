"""Read what surrounds an entity in the graph of mentions, to find evidence for or against two being the same."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations, product
from typing import NamedTuple

from ...schemas.graph_schema import ROOT_TYPE, GraphSchema
from ...schemas.naming import content_id, label_key
from ...schemas.resolution import NameLink, Pair, pair_of
from ...text.dates import parse_date
from ...text.lexicon import read_patterns
from ..graph.knowledge_graph import KnowledgeGraph
from .name_comparison import FoldedName, NameMatch, candidate_pairs, fold, is_alias_relation, match_names

_FORMS = read_patterns("entity_names.toml")
_ORGANISATIONS, _PERSONS = frozenset(_FORMS["organisations"].split()), frozenset(_FORMS["persons"].split())
_CUES_OF_EVENT = {event: cues.split() for event, cues in _FORMS["events"].items()}
"""If two entities have different dates for one of these events, they are not the same. A population or a rank, however,
may differ between two passages."""
_SURE_SPELLING = 0.9  # the prior of two spellings of one name; "The Who" and "WHO" have the same key and a lower one
_SHARED_NAMES = 3  # the number of other names that documents of two entities must share to be about one subject
_SHARED_WEIGHT = 0.5  # how much of the doubt a common neighbour removes if only these two entities have it

Places = tuple[NameLink, ...]
PairPlaces = Iterator[tuple[Pair, Places]]  # pairs of entities that are the same, with the places that say so


class _StatedName(NamedTuple):
    """Another name of an entity, which a value of an attribute such as "alias" states."""

    entity: str
    name: str
    places: Places


def _places(span_in: Mapping[str, Sequence[int]]) -> Places:
    """Return the places that are given as {chunk: [start, end, ...]}, sorted by chunk."""
    return tuple(NameLink(chunk=chunk, start=start, end=end) for chunk, (start, end, *_) in sorted(span_in.items()))


class Surroundings:
    """Reads one graph of mentions; everything is computed when first asked for."""

    def __init__(self, graph: KnowledgeGraph, schema: GraphSchema, document_of: Mapping[str, str]) -> None:
        self._graph = graph
        self._document_of = document_of
        self._schema = schema

    @cached_property
    def names(self) -> dict[str, str]:
        """Each entity's most used name, by its id."""
        return self._graph.all_names()

    def folded_name(self, entity: str) -> FoldedName:
        """Return the folded form of an entity's name."""
        return fold(self.names[entity])

    @cached_property
    def keys(self) -> dict[str, str]:
        """The key of each entity's folded name, by its id."""
        return {entity: fold(name).key for entity, name in self.names.items()}

    def candidates(self) -> set[Pair]:
        """Return the pairs of entities to compare because of their names."""
        return candidate_pairs((entity, fold(name)) for entity, name in self.names.items())

    def name_match(self, first: str, second: str) -> NameMatch | None:
        """Return the rule by which the names of two entities match, given their types, or None (see `match_names`)."""
        return match_names(self.folded_name(first), self.folded_name(second),
                           organisation=self._all_have_type((first, second), _ORGANISATIONS),
                           person=self._all_have_type((first, second), _PERSONS))

    def support(self, entity: str) -> frozenset[str]:
        """Return the chunks that mention an entity."""
        return frozenset(self._graph.entity_support(entity))

    def documents(self, chunks: Iterable[str]) -> frozenset[str]:
        """Return the documents of some chunks; a chunk of no known document counts as one of its own."""
        return frozenset(self._document_of.get(chunk, chunk) for chunk in chunks)

    def documents_with_facts(self, entity: str) -> frozenset[str]:
        """Return the documents that have facts of an entity."""
        chunks = set[str]().union(*map(self._graph.support, self._graph.incident(entity)))
        for span_in_by_value in self._graph.values(entity).values():
            chunks.update(*span_in_by_value.values())
        return self.documents(chunks)

    def mention(self, entity: str) -> NameLink:
        """Return the place of an entity's most used name in the first chunk, by id, that has this name."""
        return _places(self._graph.spellings(entity)[self.names[entity]])[0]

    def entities_by_name(self, chunk: str) -> Mapping[str, Sequence[str]]:
        """Return the entities that a chunk mentions, by the names it uses."""
        entities: dict[str, list[str]] = {}
        for entity, name, *_ in self._graph.mentioned_in(chunk):
            entities.setdefault(name, []).append(entity)
        return entities

    def type(self, entity: str) -> str:
        """Return an entity's type."""
        return self._graph.type(entity)

    def type_depth(self, entity: str) -> int:
        """Return how special an entity's type is: its depth in the type hierarchy; 0 for a type that says nothing."""
        return self._depth_of_type(self.type(entity))

    def _depth_of_type(self, type_name: str) -> int:
        """Return the depth of a type: 0 for the root, a blank, and the type that a schema gives as a last resort."""
        element = self._schema.entity_type(type_name)
        is_last_resort = element is not None and element.last_resort
        says_nothing = is_last_resort or label_key(type_name) in {"", label_key(ROOT_TYPE)}
        return 0 if says_nothing else len(self._schema.ancestors(type_name))

    def have_compatible_types(self, first: str, second: str) -> bool | None:
        """Return True if one thing can have the types of both entities, False if not, None if a type says nothing."""
        one, other = self.type(first), self.type(second)
        is_above = one in self._schema.ancestors(other) or other in self._schema.ancestors(one)
        if is_above or label_key(one) == label_key(other):
            return True
        # In a bounded schema, entities of types that do not fit could not share their facts, so they stay apart.
        is_untyped = not (self._depth_of_type(one) and self._depth_of_type(other))
        return None if self._schema.open and is_untyped else False

    def _all_have_type(self, entities: Iterable[str], labels: frozenset[str]) -> bool:
        """Return True if the types of all entities, or types above them, have one of some labels."""
        def has_label(type_name: str) -> bool:
            element = self._schema.entity_type(type_name)
            return not labels.isdisjoint(map(label_key, element.all_names() if element else (type_name,)))

        return all(any(map(has_label, self._schema.ancestors(self.type(entity)))) for entity in entities)

    def neighbours(self, entity: str) -> frozenset[str]:
        """Return the folded names of an entity's neighbours, and its attributes with their values."""
        attributes = {f"{name} {value}" for name, values in self._graph.values(entity).items() for value in values}
        return frozenset({self.keys[end] for end in self._graph.neighbours(entity)} | attributes) - {""}

    @cached_property
    def _triples_with_key(self) -> Mapping[str, int]:
        """The number of triples of all entities whose names have the same folded key, by this key."""
        counts = Counter[str]()
        for entity, key in self.keys.items():
            counts[key] += self._graph.degree(entity)
        return counts

    def weigh_shared(self, first: str, second: str) -> float:
        """Return how much of the doubt common neighbours remove, 0 to 1; a neighbour with few triples removes more."""
        doubt = 1.0
        common = self.neighbours(first) & self.neighbours(second)
        for key in sorted(common - {self.keys[first], self.keys[second]}):
            # At least one for each of the two entities; a value of an attribute has no triples of its own.
            triples = max(self._triples_with_key.get(key, 0), 2)
            doubt *= 1 - _SHARED_WEIGHT / math.log2(triples)
        return 1 - doubt

    def alias_facts(self) -> Iterator[tuple[str, str, NameLink]]:
        """Yield the pairs of entities that a fact says to be the same, with each place that states the fact."""
        for head, relation, tail in self._graph.edges(filter(is_alias_relation, self._graph.relations())):
            for place in _places(self._graph.support((head, relation, tail))):
                yield head, tail, place

    def _find_stated_names(self) -> Iterator[_StatedName]:
        """Yield the values of all attributes that give another name of their owner."""
        alias_attributes = [name for name in self._graph.attribute_names() if is_alias_relation(name)]
        for entity, values in self._graph.values_of(alias_attributes):
            for value, span_in in values:
                yield _StatedName(entity, value, _places(span_in))

    def shared_contacts(self) -> PairPlaces:
        """Yield the pairs of entities with the same handle or mail address, and where it is stated for one of them."""
        places_by_address: dict[str, dict[str, Places]] = defaultdict(dict)
        for entity, value, places in self._find_stated_names():
            if "@" in value:
                places_by_address[value.casefold()][entity] = places
        for places_of in places_by_address.values():
            documents = [self.documents(place.chunk for place in places) for places in places_of.values()]
            if sum(map(len, documents)) != len(frozenset().union(*documents)):
                continue  # some document gives the address for two: it is an office's, not a person's
            for first, second in combinations(sorted(places_of), 2):
                if self.have_compatible_types(first, second) and not self.have_different_dates(first, second):
                    yield (first, second), min(places_of[first], places_of[second], key=len)  # the shorter evidence

    @cached_property
    def _key_holders(self) -> dict[str, list[_StatedName]]:
        """By folded key ("EIP-20"): the documents whose names begin with it and a colon ("EIP-20: Token")."""
        holders: dict[str, list[_StatedName]] = defaultdict(list)
        for stated in self._find_stated_names():
            has_digit = any(map(str.isdigit, stated.name))  # a word alone ("Token:") is no key
            if has_digit and self.names[stated.entity].startswith(f"{stated.name}:"):
                holders[fold(stated.name).key].append(stated)
        return holders

    @cached_property
    def keyed_documents(self) -> frozenset[str]:
        """The documents whose names begin with a key."""
        return frozenset(stated.entity for holders in self._key_holders.values() for stated in holders)

    def document_keys(self) -> PairPlaces:
        """Yield each document named by a key with each entity of that name, and where the key is stated."""
        for entity, key in self.keys.items():
            holders = self._key_holders.get(key, ())
            if len(holders) == 1:  # otherwise the key does not say which document is meant
                yield pair_of(holders[0].entity, entity), holders[0].places

    def same_names(self) -> PairPlaces:
        """Yield pairs of entities of one name and several types that are the same thing, with a mention of either.

        They are the same in one of these cases, unless their dates or a fact between them say otherwise:
        - Documents have both, at least half of those with the rarer one: chunks of one text gave it several types.
        - The type of one says nothing, as that of a table's row, and only one other type of the name says something.
        - One has no facts, and its documents share several names with those of the other: its type is a wrong guess.
        """
        by_key: dict[str, list[str]] = defaultdict(list)
        for entity, key in self.keys.items():
            by_key[key].append(entity)
        for entities in by_key.values():
            typed = [entity for entity in entities if self.type_depth(entity)]
            for pair in combinations(sorted(entities), 2):
                match = self.name_match(*pair)
                is_sure_spelling = match is not None and match.prior >= _SURE_SPELLING
                if not is_sure_spelling or self.type(pair[0]) == self.type(pair[1]):
                    continue
                is_typed_by_other = len(typed) == 1 and typed[0] in pair
                are_one_thing = is_typed_by_other or self.share_documents(*pair) or self._is_wrongly_typed(*pair)
                if are_one_thing and not self.has_fact_between(*pair) and not self.have_different_dates(*pair):
                    yield pair, (self.mention(pair[0]), self.mention(pair[1]))

    def share_documents(self, first: str, second: str) -> bool:
        """Return True if at least half of the documents with the rarer of two entities have the other one, too."""
        documents, other_documents = (self.documents(self.support(entity)) for entity in (first, second))
        return len(documents & other_documents) * 2 >= min(len(documents), len(other_documents))

    def _is_wrongly_typed(self, *pair: str) -> bool:
        """Return True if one of two entities of a name has no facts, and its documents are about those of the other."""
        with_facts, without_facts = sorted(pair, key=lambda entity: not self.documents_with_facts(entity))
        has_one_facts = self.documents_with_facts(with_facts) and not self.documents_with_facts(without_facts)
        # A more special type is no guess.
        if not has_one_facts or self.type_depth(without_facts) > self.type_depth(with_facts):
            return False
        # "Paris" beside London and Oslo is the city; "Paris" beside Ada may be a person.
        documents = (self.documents(self.support(entity)) for entity in pair)
        names, other_names = (set[str]().union(*map(self._names_in_document.__getitem__, ids)) for ids in documents)
        return len((names & other_names) - {self.names[entity] for entity in pair}) >= _SHARED_NAMES

    @cached_property
    def _names_in_document(self) -> dict[str, set[str]]:
        """The names of the entities that each document mentions."""
        names_in: dict[str, set[str]] = defaultdict(set)
        for entity, name in self.names.items():
            for document in self.documents(self.support(entity)):
                names_in[document].add(name)
        return names_in

    def has_fact_between(self, first: str, second: str) -> bool:
        """Return True if there is a fact between two entities that does not say that they are the same."""
        fewer, other = sorted((first, second), key=self._graph.degree)  # look through the fewer triples
        return any(other in {head, tail} and not is_alias_relation(relation)
                   for head, relation, tail in self._graph.incident(fewer))

    def have_different_dates(self, first: str, second: str) -> bool:
        """Return True if two entities have different dates of birth, death or founding."""
        dates, other_dates = self._dates(first), self._dates(second)
        for event in dates.keys() & other_dates.keys():
            # The same day may be given with different precision: "1903" and "1903-04-02".
            have_common_date = any(date.startswith(other) or other.startswith(date)
                                   for date, other in product(dates[event], other_dates[event]))
            if not have_common_date:
                return True
        return False

    def may_be_one(self, first: str, second: str) -> bool:
        """Return True if neither types, facts, dates nor names speak against two entities being the same."""
        return (self.have_compatible_types(first, second) is not False and not self.has_fact_between(first, second)
                and self.folded_name(first).date == self.folded_name(second).date
                and not self.have_different_dates(first, second))

    def _dates(self, entity: str) -> dict[str, set[str]]:
        """Return the dates of an entity's birth, death and founding, by event, from its values and triples."""
        labelled = [(name, value) for name, values in self._graph.values(entity).items() for value in values]
        labelled += [(relation, self.names[tail]) for head, relation, tail in self._graph.incident(entity)
                     if head == entity]
        dates: dict[str, set[str]] = defaultdict(set)
        for label, value in labelled:
            key = label_key(label)
            date = parse_date(value).rstrip("~")  # "~" marks a date as approximate
            if not date[:1].isdigit() or "X" in date:  # it is no date, or its year is unknown (X)
                continue
            for event, cues in _CUES_OF_EVENT.items():
                if any(cue in key for cue in cues):
                    dates[event].add(date)
        return dates

    def facts(self, entity: str, most: int | None = None) -> list[tuple[str, str]]:
        """Return the ids and words of all or `most` facts of an entity: its values first, then its triples."""
        attributes = [(content_id(entity, name, value), f"{name}: {value}")
                      for name, values in self._graph.values(entity).items() for value in values]
        triples = [(content_id(*edge), self._graph.words(edge)) for edge in self._graph.incident(entity)[:most]]
        return (attributes + triples)[:most]

    def documents_naming(self, first: str, second: str) -> frozenset[str]:
        """Return the documents with a fact of one of the two entities whose value or other end has the other's name."""
        chunks = set[str]()
        for entity, other in ((first, second), (second, first)):
            other_name = self.names[other].casefold()
            for values in self._graph.values(entity).values():
                chunks.update(*(span_in for value, span_in in values.items() if other_name in value.casefold()))
            for edge in self._graph.incident(entity):
                if any(other_name in self.names[end].casefold() for end in {edge[0], edge[2]} - {entity}):
                    chunks.update(self._graph.support(edge))
        return self.documents(chunks)
