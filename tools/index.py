"""What retrieval reads of one state of a knowledge base: entities, triples, chunks and communities, mapped."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeVar, overload

import numpy as np
import orjson
from numpy.typing import NDArray

from ..graph_store.bounding.grounding import words
from ..graph_store.graph.knowledge_graph import EdgeKey
from ..graph_store.index.browsing import Browsing
from ..graph_store.index.columns import Ids, Lists, Texts, Words, distinct
from ..graph_store.index.lexical import LexicalIndex
from ..graph_store.index.name_trie import NameTrie
from ..graph_store.index.stated import Stated
from ..graph_store.index.vector_rows import COMPARED, StoredVectors
from ..graph_store.knowledge_base import KnowledgeBase
from ..graph_store.ledger.communities import Community
from ..graph_store.vectors.vector_store import Kind
from ..models.embedding.embedder import Vectors
from ..schemas.documents import Chunk
from ..schemas.naming import canonical_name
from ..text.times import Validity
from .best import Rows
from .field_columns import FieldColumn, join_columns
from .nearness import Nearness, nearness
from .spreading import SpreadingGraph

_Item = TypeVar("_Item")
_KEPT = 1 << 13
# Communities have many members.
_COMMUNITIES_KEPT = 1 << 8
_COLUMNS_KEPT = 1 << 6
_ALIAS = "alias"
"""The attribute whose values are names, too."""


class Dated(NamedTuple):
    """When a fact holds, and the chunks that say so."""

    validity: Validity = Validity()
    chunks: frozenset[str] = frozenset()

    def is_of(self, chunk: str) -> bool:
        """Return True unless a chunk states the fact without the time that others give it."""
        return not self.chunks or chunk in self.chunks


class Made(Sequence[_Item]):
    """Items by row, made when they are asked for."""

    def __init__(self, size: int, make: Callable[[int], _Item]) -> None:
        self._size, self._make = size, make

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, row: int) -> _Item: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[_Item]: ...
    def __getitem__(self, row: int | slice) -> _Item | Sequence[_Item]:
        if isinstance(row, slice):
            return [self[one] for one in range(*row.indices(self._size))]
        if not -self._size <= row < self._size:
            raise IndexError(row)
        return self._make(row % self._size)


class RetrievalIndex:
    """Rows, lists and look-ups over one state of a knowledge base. Read-only, safe for many threads."""

    def __init__(self, knowledge_base: KnowledgeBase) -> None:
        """Map the knowledge base as it is now."""
        self.store = knowledge_base
        self.embedder = knowledge_base.embedder
        self.reliability = knowledge_base.reliability.current()
        self._arrays = arrays = knowledge_base.index()
        self._vectors = {kind: StoredVectors.read(arrays, kind) for kind in COMPARED}
        self.entity_row = Ids(arrays, "entities")
        # Rankings and lookups read the same few again and again.
        self.entity_at = lru_cache(_KEPT)(self.entity_row.get)
        """The row of an entity; None where there is none."""
        self.about = lru_cache(_KEPT)(self._read_about)
        self._entities, self._attributes = Texts(arrays, "entities.about"), Texts(arrays, "entities.attributes")
        self._times, self._value_times = Texts(arrays, "triples.times"), Texts(arrays, "entities.times")
        self._attribute_names, self._owners = Texts(arrays, "attributes"), Lists(arrays, "cells.owners")
        self._held, self._held_texts = arrays["cells.values"], Texts(arrays, "cells.texts")
        self.column = lru_cache(_COLUMNS_KEPT)(self._read_column)
        """The rows of a relation or attribute by its name; with "<" before the name, turned round."""
        self.support = Lists(arrays, "entities.chunks")
        """For each entity the rows of the chunks that mention it."""
        self.titled = Lists(arrays, "entities.titled")
        """For each entity the rows of the chunks of documents that have its name for their title."""
        self._incident = Lists(arrays, "entities.triples")
        self.triples: NDArray[np.int32] = arrays["triples.ends"]
        """For each triple its head's row, its relation's number and its tail's row, shape (n, 3)."""
        self._relations, self._relation_triples = Texts(arrays, "relations"), Lists(arrays, "relations.triples")
        self._triple_chunks, self._spans = Lists(arrays, "triples.chunks"), arrays["triples.spans"]
        self.edges: Sequence[EdgeKey] = Made(len(self.triples), self._edge)
        """The triple of each row: its head's id, its relation, its tail's id."""
        self.chunk_row = Ids(arrays, "chunks")
        self._chunks = Texts(arrays, "chunks.about")
        self.chunks: Sequence[Chunk] = Made(len(self.chunk_row), self._chunk)
        self.community_row = Ids(arrays, "communities")
        self._communities = Texts(arrays, "communities.about")
        self.community = lru_cache(_COMMUNITIES_KEPT)(self._read_community)
        """The described community of a row."""
        self.community_chunks = Lists(arrays, "communities.chunks")
        """For each community the rows of the chunks that mention one of its members, ascending."""
        self.lexical = LexicalIndex(arrays, "chunks.words", len(self.chunks))
        self.names = NameTrie(arrays, "names", self.entity_row.at)
        """The trie of all entities' names."""
        self.values = NameTrie(arrays, "values", self.entity_row.at)
        """The trie of all attributes' values, which finds the entities that have them."""
        self.spellings: Sequence[str] = Texts(arrays, "spellings")
        """All names of entities, sorted."""
        self.name_words: Sequence[str] = Texts(arrays, "name_words")
        """The folded words of all names, sorted."""
        self.document_ids: Sequence[str] = Texts(arrays, "documents.ids")
        self.document_titles: Sequence[str] = Texts(arrays, "documents.titles")
        self._called, self._of_name = Words(arrays, "documents.called"), Lists(arrays, "documents.of_name")
        self.browsing, self._stated = Browsing(arrays), Stated(arrays)

    @cached_property
    def spreading(self) -> SpreadingGraph:
        """The walk over entities and chunks; made when a question is asked, as it imports scipy."""
        return SpreadingGraph(self._arrays, "walk")

    # Entities.

    def name(self, entity: str) -> str:
        """Return the name that most chunks use for an entity."""
        return self.about(self._row_of(entity))[0]

    def type(self, entity: str) -> str:
        """Return an entity's type."""
        return self.about(self._row_of(entity))[1]

    def canonical(self, entity: str) -> str:
        """Return the entity that one, as a document states it, is part of; itself where it is its own."""
        row = self._stated.entity(entity)
        return entity if row is None else self.entity_row.at(row)

    def is_joined(self, entity: str) -> bool:
        """Return True if others, as documents state them, are part of an entity."""
        row = self.entity_at(entity)
        return row is not None and self._stated.is_joined(row)

    def _row_of(self, entity: str) -> int:
        row = self.entity_at(entity)
        if row is None:
            raise KeyError(entity)
        return row

    def _read_about(self, row: int) -> list[str]:
        """Return the name, the type and the other names of the entity of a row."""
        about: list[str] = orjson.loads(self._entities.raw(row))
        return about

    def attributes(self, entity: str) -> dict[str, dict[str, dict[str, list[int]]]]:
        """Return an entity's attributes: {attribute: {value: {chunk: [start, end]}}}."""
        stored = self._attributes.raw(self._row_of(entity))
        return orjson.loads(stored) if stored else {}

    @cached_property
    def attribute_counts(self) -> dict[str, int]:
        """How many entities have each attribute, by its name."""
        return {name: len(distinct(self._owners[row])) for row, name in enumerate(self._attribute_names)}

    def _read_column(self, name: str) -> FieldColumn:
        if name.startswith("<"):
            return self._turned(name.removeprefix("<"))
        parts = []
        if name in self._relation_row:
            rows = self.of_relations([name])
            rows = rows[np.argsort(self.triples[rows, 0], kind="stable")]
            ends, labels = np.unique(self.triples[rows, 2], return_inverse=True)
            parts.append(FieldColumn(name, self.triples[rows, 0].astype(np.intp), labels,
                                     [self.about(row)[0] for row in ends.tolist()], ends.astype(np.intp), rows))
        if name in self.attribute_counts:
            row = list(self.attribute_counts).index(name)
            held, labels = np.unique(self._held[self._owners.starts[row]:self._owners.starts[row + 1]],
                                     return_inverse=True)
            none = np.full(len(labels), -1, np.intp)
            parts.append(FieldColumn(name, self._owners[row].astype(np.intp), labels,
                                     [self._held_texts[one] for one in held.tolist()], none[:len(held)], none))
        empty = np.zeros(0, np.intp)
        return join_columns(parts) if parts else FieldColumn(name, empty, empty, [], empty, empty)

    def _turned(self, name: str) -> FieldColumn:
        """Return the triples of a relation from their tails to their heads."""
        rows = self.of_relations([name])
        rows = rows[np.argsort(self.triples[rows, 2], kind="stable")]
        ends, labels = np.unique(self.triples[rows, 0], return_inverse=True)
        return FieldColumn(f"<{name}", self.triples[rows, 2].astype(np.intp), labels,
                           [self.about(row)[0] for row in ends.tolist()], ends.astype(np.intp), rows)

    @cached_property
    def _aliases(self) -> dict[int, list[str]]:
        """The stated other names of entities that are no names of theirs in texts, by row."""
        column, found = self.column(_ALIAS), dict[int, list[str]]()
        for head, label in zip(column.heads.tolist(), column.labels.tolist(), strict=True):
            found.setdefault(head, []).append(column.texts[label])
        return found

    def aliases(self, row: int) -> Sequence[str]:
        """Return the other names of the entity of a row."""
        return (*self.about(row)[2:], *self._aliases.get(row, ()))

    @cached_property
    def by_alias(self) -> dict[str, list[str]]:
        """The entities with each stated other name, by its canonical form and by its words ("quill" of "@quill")."""
        found: dict[str, list[str]] = {}
        for row, names in sorted(self._aliases.items()):
            for key in sorted({key for name in names for key in (canonical_name(name), " ".join(words(name))) if key}):
                found.setdefault(key, []).append(self.entity_row.at(row))
        return found

    def validities(self, entity: str) -> dict[str, dict[str, Validity]]:
        """Return when an entity's values hold, by attribute and value; those without a time are left out."""
        found: dict[str, dict[str, Validity]] = {}
        for (name, value), dated in self.dated_values(entity).items():
            found.setdefault(name, {})[value] = dated.validity
        return found

    def dated_values(self, entity: str) -> dict[tuple[str, str], Dated]:
        """Return when values hold, by (attribute, value), with the chunks that say so; undated ones are left out."""
        stored = self._value_times.raw(self._row_of(entity))
        return {(name, value): Dated(Validity.of(words, later), frozenset(chunks))
                for name, value, words, later, chunks in (orjson.loads(stored) if stored else ())}

    def entity_support(self, entity: str) -> tuple[str, ...]:
        """Return the chunks that mention an entity, sorted."""
        return tuple(map(self.chunk_row.at, self.support[self._row_of(entity)]))

    def entities_in(self, chunks: Iterable[str]) -> Rows:
        """Return the rows of the entities that some chunks mention, ascending."""
        wanted = np.zeros(len(self.chunks), bool)
        wanted[[self.chunk_row[key] for key in chunks if key in self.chunk_row]] = True
        owners = np.repeat(np.arange(len(self.support)), np.diff(self.support.starts))
        return distinct(owners[wanted[self.support.values]])

    def incident(self, entity: str) -> Rows:
        """Return the rows of the triples in which an entity is head or tail, ascending."""
        row = self.entity_at(entity)
        return np.zeros(0, np.intp) if row is None else self._incident[row].astype(np.intp)

    def rows_of(self, entities: Iterable[str]) -> Rows:
        """Return the rows of all triples of some entities, ascending."""
        return self.incident_of(row for row in map(self.entity_at, entities) if row is not None)

    # Triples.

    def relation_rows(self, relations: Iterable[str]) -> list[int]:
        """Return the numbers of some relations; those that no triple has are left out."""
        return [self._relation_row[one] for one in relations if one in self._relation_row]

    def ends_at(self, row: int) -> tuple[int, int]:
        """Return the rows of the head and the tail of the triple of a row."""
        head, _, tail = self.triples[row].tolist()
        return head, tail

    def incident_at(self, row: int) -> Rows:
        """Return the rows of the triples in which the entity of a row is head or tail, ascending."""
        return self._incident[row].astype(np.intp)

    def incident_of(self, rows: Iterable[int]) -> Rows:
        """Return the rows of all triples of the entities of some rows, ascending."""
        return self._incident.of(rows)

    def ends(self, row: int) -> tuple[str, str]:
        """Return the head and the tail of the triple of a row."""
        head, _, tail = self.triples[row].tolist()
        return self.entity_row.at(head), self.entity_row.at(tail)

    def _edge(self, row: int) -> EdgeKey:
        head, relation, tail = self.triples[row].tolist()
        return self.entity_row.at(head), self._relations[relation], self.entity_row.at(tail)

    def edge_row(self, edge: EdgeKey) -> int | None:
        """Return the row of a triple; None where there is none."""
        ends = self.entity_at(edge[0]), *self.relation_rows([edge[1]]), self.entity_at(edge[2])
        if None in ends or len(ends) < len(edge):
            return None
        rows = self.incident(edge[0])
        found = rows[(self.triples[rows] == np.array(ends)).all(axis=1)]
        return int(found[0]) if len(found) else None

    def edge_of(self, fact: EdgeKey) -> EdgeKey | None:
        """Return the triple of a fact as a document states it; None if there is none or a person rejected it."""
        said = self.canonical(fact[0]), fact[1], self.canonical(fact[2])
        corrected = self._stated.fact(said)
        row = self.edge_row(said) if corrected is None else corrected
        return None if row is None or row < 0 else self.edges[row]

    def spans(self, row: int) -> Iterator[tuple[str, int, int]]:
        """Return where chunks state the triple of a row, as (chunk, start, end), by chunk."""
        at = self._triple_chunks.starts[row]
        chunks = self._triple_chunks[row]
        for chunk, (start, end) in zip(chunks.tolist(), self._spans[at:at + len(chunks)].tolist(), strict=True):
            yield self.chunk_row.at(chunk), start, end

    def validity(self, row: int) -> Validity:
        """Return when the triple of a row holds."""
        return self.dated(row).validity

    def dated(self, row: int) -> Dated:
        """Return when the triple of a row holds, with the chunks that say so."""
        stored = self._times.raw(row)
        if not stored:
            return Dated()
        words, later, chunks = orjson.loads(stored)
        return Dated(Validity.of(words, later), frozenset(chunks))

    @cached_property
    def _relation_row(self) -> dict[str, int]:
        return {relation: row for row, relation in enumerate(self._relations)}

    def relation_counts(self) -> dict[str, int]:
        """Return how many triples each relation has."""
        return dict(zip(self._relations, np.diff(self._relation_triples.starts).tolist(), strict=True))

    def of_relations(self, relations: Iterable[str]) -> Rows:
        """Return the rows of the triples of some relations, ascending; relations that no triple has are left out."""
        return self._relation_triples.of(self.relation_rows(relations))

    # Chunks.

    def _chunk(self, row: int) -> Chunk:
        return Chunk(**orjson.loads(self._chunks.raw(row)))

    @cached_property
    def documents(self) -> tuple[LexicalIndex, NDArray[np.int32]]:
        """The lexical index of whole documents, and the document's number of each chunk."""
        number: NDArray[np.int32] = self._arrays["chunks.documents"]
        return LexicalIndex(self._arrays, "documents.words", int(number.max(initial=-1)) + 1), number

    def documents_called(self, name: str) -> list[str]:
        """Return the ids of the documents that a normalised name calls, as their titles or files are quoted."""
        number = self._called.get(name)
        return [] if number is None else [self.document_ids[row] for row in self._of_name[number].tolist()]

    def _read_community(self, row: int) -> Community:
        return Community(**orjson.loads(self._communities.raw(row)))

    # Vectors.

    def nearness(self, kind: Kind, queries: Vectors) -> list[Nearness]:
        """Return how near each query, unit vectors of shape (n, d), is to the entities, triples or chunks."""
        return nearness(self._vectors[kind], queries)

    def community_cosines(self, query: Vectors) -> NDArray[np.float32]:
        """Return the cosine of a question to each community: the mean of its triples, or of its keywords' names.

        Args:
            query: a unit vector, shape (d,).
        """
        directions: Vectors = self._arrays["communities.vectors"]
        cosines: NDArray[np.float32] = np.vecdot(directions, query)
        return cosines
