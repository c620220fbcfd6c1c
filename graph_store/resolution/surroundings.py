"""What is around an entity in the graph of mentions: what speaks for or against two of them being one."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import combinations

from ...schemas.graph_schema import ROOT_TYPE, GraphSchema
from ...schemas.naming import cached_if_short, content_id, label_key
from ...schemas.resolution import NameLink, Pair, pair_of
from ...text.dates import parse_date
from ..graph.knowledge_graph import KnowledgeGraph
from .name_comparison import FoldedName, NameMatch, contradict, fold, match_names
from .pair_candidates import candidate_pairs
from .stated_aliases import is_alias_relation

# What a thing has one of. A population or a rank may well differ between two passages; its first day does not.
# ruff: noqa: SIM905  (lists of words read better as text)
_ONCE = {kind: tuple(cues.split()) for kind, cues in {
    "birth": "born birth birthdate birthday 出生 生于 诞生 родился родилась рождения",
    "death": "died death deceased 逝世 去世 卒于 умер умерла смерти",
    "founding": "founded established inception incorporated founding 成立 创立 创办 建立 основан основана"}.items()}
_ORGANISATIONS = frozenset("""organization organisation company corporation institution business firm enterprise bank
    university 组织 机构 公司 企业 组织机构 银行 организация компания""".split())
_PERSONS = frozenset("person people human 人物 人 人名 человек персона per".split())
_RARER = 2
"""How many times as many documents have a name under its usual type as under a guessed one."""
_SHARED_NAMES = 3
_SHARED = 0.5
"""How much of the doubt one shared neighbour takes away that hardly anything else has."""


class Surroundings:
    """Reads one graph of mentions; everything is computed when first asked for."""

    def __init__(self, graph: KnowledgeGraph, schema: GraphSchema, document_of: Mapping[str, str]) -> None:
        """Read a graph."""
        self._graph = graph
        self._document_of = document_of
        self._schema = schema
        self._chain = cache(schema.ancestors)
        self.support = cache(lambda entity: frozenset(graph.entity_support(entity)))
        """The chunks that mention an entity."""
        self.neighbours = cache(self._neighbours)
        """The folded names of what an entity is tied to, and its attributes' values."""
        self._once = cache(self._dates)
        self._names_of_type = cache(self._type_names)
        self._types_agree = cache(self._agree)
        self._are_all = cache(self._both_of)

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

    @cached_property
    def candidates(self) -> set[Pair]:
        """The pairs of entities to compare because of their names."""
        return candidate_pairs((entity, fold(name)) for entity, name in self.names.items())

    def match(self, first: str, second: str) -> NameMatch | None:
        """Return what ties the names of two entities, of the types that they have (see `match_names`)."""
        types = self.type(first), self.type(second)
        return match_names(self.folded_name(first), self.folded_name(second),
                           organisation=self._are_all(types, _ORGANISATIONS), person=self._are_all(types, _PERSONS))

    def text(self, entity: str) -> str:
        """Return the text embedded for an entity."""
        return self._graph.entity_text(entity)

    @cached_property
    def known_keys(self) -> frozenset[str]:
        """The keys of all entities' names."""
        return frozenset(self.keys.values())

    @cached_property
    def _types(self) -> dict[str, str]:
        return {entity: self._graph.type(entity) for entity in self._graph.entity_ids()}

    def type(self, entity: str) -> str:
        """Return an entity's type."""
        return self._types[entity]

    def documents(self, chunks: Iterable[str]) -> frozenset[str]:
        """Return the documents of some chunks."""
        return frozenset(self._document_of.get(chunk, chunk) for chunk in chunks)

    def documents_with_facts(self, entity: str) -> frozenset[str]:
        """Return the documents that have facts of an entity."""
        triples = map(self._graph.support, self._graph.incident(entity))
        values = (support for given in self._graph.values(entity).values() for support in given.values())
        return self.documents(chunk for support in (*triples, *values) for chunk in support)

    def mention(self, entity: str) -> NameLink:
        """Return an entity's first mention under its most used name."""
        places = self._graph.spellings(entity)[self.names[entity]]
        chunk = min(places)
        return NameLink(chunk=chunk, start=places[chunk][0], end=places[chunk][1])

    def entities_by_name(self, chunk: str) -> Mapping[str, Sequence[str]]:
        """Return the entities that a chunk mentions, by the names it uses."""
        called: dict[str, list[str]] = {}
        for entity, name, *_ in self._graph.mentioned_in(chunk):
            called.setdefault(name, []).append(entity)
        return called

    # Types.

    def depth(self, entity: str) -> int:
        """Return how special an entity's type is; 0 for the type of which everything is."""
        return self._depth(self.type(entity))

    def _depth(self, kind: str) -> int:
        known = self._schema.entity_type(kind)
        neutral = label_key(kind) in {"", label_key(ROOT_TYPE)} or (known is not None and known.last_resort)
        return 0 if neutral else len(self._chain(kind))

    def same_type(self, first: str, second: str) -> bool | None:
        """Return whether two entities' types can be of one thing; None where one of them says nothing."""
        return self._types_agree(self.type(first), self.type(second))

    def _agree(self, entity: str, other: str) -> bool | None:
        if label_key(entity) == label_key(other) or entity in self._chain(other) or other in self._chain(entity):
            return True
        if self._schema.open and 0 in {self._depth(entity), self._depth(other)}:
            return None
        return False

    def _both_of(self, types: Iterable[str], words: frozenset[str]) -> bool:
        return all(self._names_of_type(kind) & words for kind in types)

    def _type_names(self, type_name: str) -> frozenset[str]:
        """Return the names of a type and of its ancestors."""
        known = [(above, self._schema.entity_type(above)) for above in self._chain(type_name)]
        return frozenset(label_key(name) for above, element in known
                         for name in (element.all_names() if element else (above,)))

    # Facts.

    def _neighbours(self, entity: str) -> frozenset[str]:
        values = {f"{name} {value}" for name, held in self._graph.attributes(entity).items() for value in held}
        return frozenset({self.keys[end] for end in self._graph.neighbours(entity)} | values) - {""}

    @cached_property
    def _known_to(self) -> Mapping[str, int]:
        """How many triples each folded name is in."""
        counts: dict[str, int] = {}
        for entity, key in self.keys.items():
            counts[key] = counts.get(key, 0) + self._graph.degree(entity)
        return counts

    def weigh_shared(self, first: str, second: str) -> float:
        """Return how much of the doubt shared neighbours take away, 0 to 1; rare ones say more."""
        doubt = 1.0
        common = self.neighbours(first) & self.neighbours(second)
        for key in sorted(common - {self.keys[first], self.keys[second]}) if common else ():
            doubt *= 1 - _SHARED / math.log2(max(self._known_to.get(key, 2), 2))
        return 1 - doubt

    def alias_facts(self) -> Iterator[tuple[str, str, NameLink]]:
        """Yield the facts that say of two entities that they are the same, with where they are."""
        for head, relation, tail in self._graph.iterate_edges(filter(is_alias_relation, self._graph.relations())):
            if head != tail:
                for chunk, place in self._graph.support((head, relation, tail)).items():
                    yield head, tail, NameLink(chunk=chunk, start=place[0], end=place[1])

    def _stated_names(self) -> Iterator[tuple[str, str, list[NameLink]]]:
        """Yield the values that are other names of entities: the entity, the name, and where it is stated."""
        aliases = [name for name in self._graph.attribute_names() if is_alias_relation(name)]
        for entity, held in self._graph.values_of(aliases):
            for value, places in held:
                yield entity, value, [NameLink(chunk=chunk, start=place[0], end=place[1])
                                      for chunk, place in sorted(places.items())]

    def shared_contacts(self) -> Iterator[tuple[Pair, tuple[NameLink, ...]]]:
        """Yield the pairs of entities of one type that have a handle or mail address in common, which names one person.

        With each pair comes where the fewer documents say so. An address that one document gives for two is an
        office's.
        """
        holders: dict[str, dict[str, list[NameLink]]] = {}
        for entity, value, stated in self._stated_names():
            if "@" in value:
                holders.setdefault(value.casefold(), {})[entity] = stated
        for of_entity in holders.values():
            said = [self.documents(one.chunk for one in evidence) for evidence in of_entity.values()]
            if len(of_entity) > 1 and sum(map(len, said)) == len(frozenset().union(*said)):
                for first, second in combinations(sorted(of_entity), 2):
                    yield (first, second), _fewer(of_entity[first], of_entity[second])

    @cached_property
    def key_holders(self) -> dict[str, list[tuple[str, tuple[NameLink, ...]]]]:
        """The documents whose names begin with a key ("EIP-20: Token"), by the folded key, with where it is stated."""
        holders: dict[str, list[tuple[str, tuple[NameLink, ...]]]] = {}
        for entity, value, stated in self._stated_names():
            if any(map(str.isdigit, value)) and self.names[entity].startswith(f"{value}:"):
                holders.setdefault(fold(value).key, []).append((entity, tuple(stated)))
        return holders

    @cached_property
    def keyed_documents(self) -> frozenset[str]:
        """The documents whose names begin with a key."""
        return frozenset(entity for holders in self.key_holders.values() for entity, _ in holders)

    def document_keys(self) -> Iterator[tuple[Pair, tuple[NameLink, ...]]]:
        """Yield the pairs of a document and what others call by its key: "EIP-20: Token" and "EIP-20".

        A key names one document whatever type a text gives it. With each pair comes where the document states its key.
        """
        for other, key in sorted(self.keys.items()) if self.key_holders else ():
            holders = self.key_holders.get(key, ())
            if len(holders) == 1 and holders[0][0] != other:
                yield pair_of(holders[0][0], other), holders[0][1]

    def guessed_types(self) -> Iterator[tuple[Pair, tuple[NameLink, ...]]]:
        """Yield the pairs of one name under two types, if no document says anything of it under one of them.

        Such a type is a reader's guess. It is the thing that documents say something of, or that most call it. In other
        documents it is that thing only among the same names: "Paris" beside London and Oslo, and not Paris beside Ada.
        """
        named: dict[str, list[str]] = {}
        for entity, name in self.names.items():
            named.setdefault(name, []).append(entity)
        for alike in named.values():
            said = {entity: len(self.documents_with_facts(entity)) for entity in alike} if len(alike) > 1 else {}
            main, *others = sorted(alike, key=lambda entity: (-said.get(entity, 0), -len(self.support(entity)), entity))
            for other in others:
                of_main, of_other = self.documents(self.support(main)), self.documents(self.support(other))
                told = said[main] or len(of_other) * _RARER <= len(of_main)
                within = of_other <= of_main and len(self.support(other)) < len(self.support(main))
                special = self.depth(other) > self.depth(main) > 0
                if not said[other] and not special and (within or (told and self._share_names(main, other))):
                    yield pair_of(main, other), (self.mention(other), self.mention(main))

    def _share_names(self, first: str, second: str) -> bool:
        """Return True if the documents of two entities have other names in common."""
        here, there = ({name for document in self.documents(self.support(entity))
                        for name in self._names_of_documents.get(document, ())} for entity in (first, second))
        return len(here & there - {self.names[first], self.names[second]}) >= _SHARED_NAMES

    @cached_property
    def _names_of_documents(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for entity, name in self.names.items():
            for document in self.documents(self.support(entity)):
                found.setdefault(document, set()).add(name)
        return found

    def has_fact_between(self, first: str, second: str) -> bool:
        """Return True if a fact ties two entities to each other, other than that they are the same."""
        return any(not is_alias_relation(relation) for relation in self._relations(first, second))

    def _relations(self, first: str, second: str) -> list[str]:
        fewer, other = sorted((first, second), key=self._graph.degree)
        return [relation for head, relation, tail in self._graph.incident(fewer) if other in {head, tail}]

    def contradict(self, first: str, second: str) -> bool:
        """Return True if two entities differ in what a thing has one of: its birth, its death, its founding."""
        here, there = self._once(first), self._once(second)
        return any(not _compatible(here[kind], there[kind]) for kind in here.keys() & there.keys())

    def may_be_one(self, first: str, second: str) -> bool:
        """Return True if neither types, facts nor names speak against two entities being one."""
        return (self.same_type(first, second) is not False and not self.has_fact_between(first, second)
                and not contradict(self.folded_name(first), self.folded_name(second))
                and not self.contradict(first, second))

    def _dates(self, entity: str) -> dict[str, set[str]]:
        labelled = [(name, value) for name, values in self._graph.attributes(entity).items() for value in values]
        labelled += [(relation, self.names[tail]) for head, relation, tail in self._graph.incident(entity)
                     if head == entity]
        dates: dict[str, set[str]] = {}
        for label, value in labelled:
            kind = _kind_of(label)
            if kind is not None:
                date = parse_date(value).rstrip("~")
                if date[:1].isdigit() and "X" not in date:
                    dates.setdefault(kind, set()).add(date)
        return dates

    def facts(self, entity: str, most: int) -> list[tuple[str, str]]:
        """Return some of an entity's values and triples, in order of their ids: id and words of each."""
        values = [(content_id(entity, name, value), f"{name}: {value}")
                  for name, given in self._graph.attributes(entity).items() for value in given]
        triples = [(content_id(*edge), self._graph.words(edge)) for edge in self._graph.incident(entity)[:most]]
        return (values + triples)[:most]

    def present(self, ids: Iterable[str]) -> set[str]:
        """Return those ids that are of entities which documents mention, and the ids of all facts of these entities."""
        entities = [one for one in ids if one in self.names]
        found = set(entities)
        for entity in entities:
            found.update(content_id(entity, name, value)
                         for name, given in self._graph.attributes(entity).items() for value in given)
            found.update(content_id(*edge) for edge in self._graph.incident(entity))
        return found

    def documents_naming(self, first: str, second: str) -> frozenset[str]:
        """Return the documents that state a fact of one of two entities in which the other's name occurs."""
        chunks = set[str]()
        for entity, other in ((first, second), (second, first)):
            wanted = self.names[other].casefold()
            for given in self._graph.values(entity).values():
                for value, places in given.items():
                    if wanted in value.casefold():
                        chunks |= places.keys()
            for edge in self._graph.incident(entity):
                ends = {edge[0], edge[2]} - {entity}
                if any(wanted in self.names[end].casefold() for end in ends):
                    chunks |= self._graph.support(edge).keys()
        return self.documents(chunks)


def _fewer(first: Sequence[NameLink], second: Sequence[NameLink]) -> tuple[NameLink, ...]:
    return tuple(first if len(first) <= len(second) else second)


@cached_if_short(10_000)
def _kind_of(label: str) -> str | None:
    """Return what a thing has one of that a label speaks of, if of any."""
    key = label_key(label)
    return next((kind for kind, cues in _ONCE.items() if any(cue in key for cue in cues)), None)


def _compatible(first: set[str], second: set[str]) -> bool:
    """Return True if any two dates can be one, said with different precision."""
    return any(entity.startswith(other) or other.startswith(entity) for entity in first for other in second)
