"""The knowledge graph: entities and triples made of the ledger's rows, and where chunks state them.

A place is [start, end] in a chunk's text. The graph is made whole and never changes. What derives something from all of
it reads its columns (`graph_columns`), everybody else asks by ids.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...schemas.documents import Frozen
from ...schemas.naming import canonical_name, is_descriptive
from ...text.times import Validity
from ..ledger.extractions import AdmittedRows
from .graph_columns import TEXT_COLUMNS, GraphColumns, LaterDates, Numbers, find_firsts, read_columns, sort_rows

EdgeKey = tuple[str, str, str]  # head entity's id, relation, tail entity's id
Places = dict[str, list[Any]]  # places by the id of their chunk: [start, end], for a triple with its confidence


class GraphEntity(Frozen):
    """An entity of the graph as others see it."""

    id: str
    name: str
    type: str


class EntityLabels(NamedTuple):
    """What an entity is called: the name that most chunks use, its type, and its other names, sorted."""

    name: str  # may be one that only a person gave
    type: str
    other_names: tuple[str, ...]  # those that chunks use


class Mention(NamedTuple):
    """A place in a chunk that names an entity, given by its id."""

    entity: str
    name: str
    start: int
    end: int


class KnowledgeGraph:
    """Entities and triples with their support. Methods that take an entity's id raise KeyError for an unknown one."""

    def __init__(self, columns: GraphColumns, later: LaterDates | None = None,
                 rows: Mapping[str, int] | None = None) -> None:
        """Wrap a graph's columns; `later` says when others replace facts; `rows` has the entities' rows, if known."""
        self.columns = columns
        self.later = later or LaterDates()
        self._rows = {entity: row for row, entity in enumerate(columns.ids)} if rows is None else rows

    @classmethod
    def of_rows(cls, rows: AdmittedRows) -> "KnowledgeGraph":
        """Make the graph of some of the ledger's rows; references stay attribute values."""
        return KnowledgeGraph(read_columns(rows))

    def __contains__(self, entity: object) -> bool:
        return entity in self._rows

    def row(self, entity: str) -> int:
        """Return an entity's row in the columns."""
        return self._rows[entity]

    def entity_ids(self) -> list[str]:
        """Return all entities' ids, sorted."""
        return list(self.columns.ids)

    def count_entities(self) -> int:
        """Return the number of entities."""
        return len(self.columns.ids)

    def entity(self, entity: str) -> GraphEntity:
        """Return an entity by id, with its name (see `name`) and type."""
        name, kind, _ = self.labels_of(self._rows[entity])
        return GraphEntity(id=entity, name=name, type=kind)

    def type(self, entity: str) -> str:
        """Return an entity's type."""
        return self.columns.texts[int(self.columns.types[self._rows[entity]])]

    def name(self, entity: str) -> str:
        """Return the name that most chunks use for an entity; of equally frequent ones, the first alphabetically."""
        return self.columns.texts[int(self.columns.names[self._rows[entity]])]

    def all_names(self) -> dict[str, str]:
        """Return the name of each entity (see `name`), by its id, sorted."""
        texts = self.columns.texts
        return {entity: texts[name] for entity, name in zip(self.columns.ids, self.columns.names.tolist(), strict=True)}

    def spellings(self, entity: str) -> dict[str, Places]:
        """Return all names of an entity, sorted, each with the places where chunks use it, if any do."""
        spellings: dict[str, Places] = self._nest_rows("mentions", self._rows[entity])
        shown_name = self.name(entity)  # no chunk uses it if a person gave it
        return dict(sorted({shown_name: {}, **spellings}.items()))

    def names(self, entity: str) -> list[str]:
        """Return all names of an entity, sorted: those that chunks use, and the one that a person gave it."""
        return self.names_of(self._rows[entity])

    def names_of(self, row: int) -> list[str]:
        """Return all names of the entity of a row; see `names`."""
        name, _, other_names = self.labels_of(row)
        return sorted((name, *other_names))

    def labels_of(self, row: int) -> EntityLabels:
        """Return the name, the type and the other names of the entity in a row."""
        return read_labels(self.columns, row)

    def entity_support(self, entity: str) -> list[str]:
        """Return the chunks that mention an entity, sorted."""
        row = self._rows[entity]
        start, end = self.columns.starts["mentions"][row:row + 2].tolist()
        # Texts are numbered in their order, so sorting numbers sorts ids.
        return [self.columns.texts[number] for number in np.unique(self.columns.mentions.chunk[start:end]).tolist()]

    def mention_pairs(self) -> tuple[Numbers, Numbers]:
        """Return the distinct pairs of an entity's row and the number of a chunk that mentions it, sorted."""
        entities, chunks = self.columns.mentions.entity, self.columns.mentions.chunk
        order = sort_rows(entities, chunks)
        order = order[find_firsts(entities[order], chunks[order])]
        return entities[order], chunks[order]

    def mentioned_in(self, chunk_id: str) -> list[Mention]:
        """Return what a chunk mentions, sorted."""
        number, table = self.columns.number_of(chunk_id), self.columns.mentions
        rows: Any = self.columns.by_chunk[number] if number >= 0 else []  # -1: the graph has nothing from this chunk
        cells = (column[rows].tolist() for column in (table.entity, table.name, table.start, table.end))
        return [Mention(self.columns.ids[entity], self.columns.texts[name], start, end)
                for entity, name, start, end in zip(*cells, strict=True)]

    def entity_text(self, entity: str) -> str:
        """Return the text that is embedded for an entity: its name in canonical form."""
        return canonical_name(self.name(entity))

    def _nest_rows(self, table: str, owner: int) -> dict[str, Any]:
        """Return the rows of a table about an entity or triple, nested by their texts, the chunk's id last."""
        columns, texts = getattr(self.columns, table), self.columns.texts
        text_count = len(TEXT_COLUMNS.intersection(columns._fields))  # text columns come first, behind the owner
        nested = dict[str, Any]()
        start, end = self.columns.starts[table][owner:owner + 2].tolist()
        for cells in zip(*(column[start:end].tolist() for column in columns[1:]), strict=True):
            innermost = nested
            for number in cells[:text_count - 1]:
                innermost = innermost.setdefault(texts[number], {})
            innermost[texts[cells[text_count - 1]]] = list(cells[text_count:])
        return nested

    # Attribute values.

    def values(self, entity: str) -> dict[str, dict[str, Places]]:
        """Return where chunks state an entity's attribute values, sorted: {attribute: {value: places}}."""
        return self._nest_rows("values", self._rows[entity])

    def value_times(self, entity: str) -> dict[str, dict[str, dict[str, Places]]]:
        """Return where chunks say when an entity's values hold: {attribute: {value: {words that say when: places}}}."""
        return self._nest_rows("value_times", self._rows[entity])

    def descriptive_values(self, entity: str) -> dict[str, dict[str, Places]]:
        """Return those of an entity's values that describe it (`is_descriptive`): {attribute: {value: places}}."""
        name = self.name(entity)
        descriptive = {attribute: {value: places for value, places in values.items()
                                   if is_descriptive(name, attribute, value)}
                       for attribute, values in self.values(entity).items()}
        return {attribute: values for attribute, values in descriptive.items() if values}

    def attribute_names(self) -> list[str]:
        """Return the attributes that entities have, sorted."""
        return [self.columns.texts[number] for number in np.unique(self.columns.values.attribute).tolist()]

    def values_of(self, attributes: Sequence[str]) -> Iterator[tuple[str, list[tuple[str, Places]]]]:
        """Yield the entities that have any of some attributes, each with its values of these and their places."""
        wanted = [self.columns.number_of(name) for name in attributes]
        owners = self.columns.values.entity[np.isin(self.columns.values.attribute, wanted)]
        for row in np.unique(owners).tolist():
            entity = self.columns.ids[row]
            values = self.values(entity)
            yield entity, [value for name in attributes for value in values.get(name, {}).items()]

    def count_attributes(self) -> int:
        """Return the number of distinct attribute values that describe entities."""
        texts, names, keys = self.columns.texts, self.columns.names, self.columns.values[:3]
        distinct_values = np.stack(keys, axis=1)[find_firsts(*keys)].tolist()
        return sum(is_descriptive(texts[names[entity]], texts[attribute], texts[value])
                   for entity, attribute, value in distinct_values)

    def validities(self, entity: str) -> dict[str, dict[str, Validity]]:
        """Return when an entity's values hold, {attribute: {value: validity}}; values without a time are left out."""
        row, number_of = self._rows[entity], self.columns.number_of
        validities: dict[str, dict[str, Validity]] = {}
        for attribute, values in self.value_times(entity).items():
            for value, times in values.items():
                later = self.later.values.get((row, number_of(attribute), number_of(value)), ())
                validities.setdefault(attribute, {})[value] = Validity.of(times, later)
        return validities

    # Triples.

    def edges(self, relations: Iterable[str] | None = None) -> list[EdgeKey]:
        """Return the keys of all triples, or of those with some relations, sorted."""
        ids, texts, triples = self.columns.ids, self.columns.texts, self.columns.triples
        if relations is not None:
            triples = triples[np.isin(triples[:, 1], [self.columns.number_of(relation) for relation in relations])]
        return [(ids[head], texts[relation], ids[tail]) for head, relation, tail in triples.tolist()]

    def count_triples(self) -> int:
        """Return the number of triples."""
        return len(self.columns.triples)

    def relations(self) -> list[str]:
        """Return the relations of all triples, sorted."""
        return [self.columns.texts[number] for number in np.unique(self.columns.triples[:, 1]).tolist()]

    def triple_row(self, key: EdgeKey) -> int:
        """Return a triple's row in the columns, or raise KeyError."""
        if (row := self.find_triple(key)) is None:
            raise KeyError(key)
        return row

    def find_triple(self, key: EdgeKey) -> int | None:
        """Return a triple's row in the columns, or None if the graph does not have the triple."""
        head, tail = self._rows.get(key[0], -1), self._rows.get(key[2], -1)
        wanted, triples = [head, self.columns.number_of(key[1]), tail], self.columns.triples
        row = bisect_left(triples, wanted, key=np.ndarray.tolist)  # they are sorted, and no number in them is negative
        return row if row < len(triples) and triples[row].tolist() == wanted else None

    def edge(self, row: int) -> EdgeKey:
        """Return the key of the triple of a row."""
        head, relation, tail = self.columns.triples[row].tolist()
        return self.columns.ids[head], self.columns.texts[relation], self.columns.ids[tail]

    def incident(self, entity: str) -> list[EdgeKey]:
        """Return the triples in which an entity is head or tail, sorted."""
        return [self.edge(row) for row in self.columns.incident[self._rows[entity]].tolist()]

    def ends_of(self, row: int) -> tuple[int, int]:
        """Return the rows of the head and the tail of a triple."""
        head, _, tail = self.columns.triples[row].tolist()
        return head, tail

    def neighbours(self, entity: str) -> set[str]:
        """Return the other entities that triples join an entity to."""
        return {self.columns.ids[row] for row in self.columns.adjacent_to(self._rows[entity]).tolist()}

    def degree(self, entity: str) -> int:
        """Return how often an entity is the head or the tail of a triple; a triple with itself counts twice."""
        row = self._rows[entity]
        return int(np.count_nonzero(self.columns.triples[self.columns.incident[row]][:, [0, 2]] == row))

    def support(self, triple: EdgeKey | int) -> Places:
        """Return the chunks that support a triple, given by key or row, sorted, each with start, end and confidence."""
        return self._nest_rows("support", self.triple_row(triple) if isinstance(triple, tuple) else triple)

    def times_of(self, row: int) -> dict[str, Places]:
        """Return where chunks say when the triple in a row holds: {words that say when: places}."""
        return self._nest_rows("triple_times", row)

    def validity(self, triple: EdgeKey | int) -> Validity:
        """Return when a triple, given by key or row, holds."""
        row = self.triple_row(triple) if isinstance(triple, tuple) else triple
        times = self.times_of(row)
        return Validity.of(times, self.later.triples.get(row, ())) if times else Validity()

    def stated_in(self, chunk_id: str) -> Iterator[tuple[EdgeKey, int, int]]:
        """Yield the triples that a chunk states, each with start and end of the text that states it or its time."""
        number = self.columns.number_of(chunk_id)
        for table in (self.columns.support, self.columns.triple_times):
            for row in np.flatnonzero(table.chunk == number).tolist():
                yield self.edge(int(table.triple[row])), int(table.start[row]), int(table.end[row])

    # In words.

    def words(self, key: EdgeKey) -> str:
        """Return a triple in words: "Ana Ruiz leads Orio"."""
        head, relation, tail = key
        return f"{self.name(head)} {relation_text(relation)} {self.name(tail)}"

    def statement_of(self, row: int) -> str:
        """Return the triple of a row in words, with its time: "Ana Ruiz leads Orio (since 2019)"."""
        return self.validity(row).with_note(self.words(self.edge(row)))

    def value_statement(self, entity: str, attribute: str, value: str) -> str:
        """Return an attribute value in words, with its time: "Orio price: 499 USD (in 2018)"."""
        validity = self.validities(entity).get(attribute, {}).get(value, Validity())
        return validity.with_note(f"{self.name(entity)} {relation_text(attribute)}: {value}")

    def triple_text(self, key: EdgeKey) -> str:
        """Return the text that is embedded for a triple; it does not depend on the spelling of names."""
        head, relation, tail = key
        return f"{self.entity_text(head)} {relation_text(relation)} {self.entity_text(tail)}"


def read_labels(columns: GraphColumns, row: int) -> EntityLabels:
    """Return the name, the type and the other names of the entity in a row."""
    shown_name = int(columns.names[row])
    start, end = columns.starts["mentions"][row:row + 2].tolist()
    others = sorted({*columns.mentions.name[start:end].tolist()} - {shown_name})
    # Texts are numbered in their order, so sorting numbers sorts names.
    return EntityLabels(columns.texts[shown_name], columns.texts[int(columns.types[row])],
                        tuple(columns.texts[number] for number in others))


def relation_text(relation: str) -> str:
    """Return a relation's name as words."""
    return relation.replace("_", " ")
