"""The read model that retrieval uses: entities, triples, chunks and communities of one state, memory-mapped."""

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from typing import NamedTuple

import numpy as np
import orjson
from cachetools import LRUCache
from numpy.typing import NDArray

from ..graph_store.bounding.words import words
from ..graph_store.graph.graph_columns import find_firsts, select_rows
from ..graph_store.graph.knowledge_graph import EdgeKey, Places
from ..graph_store.index.browsing import Browsing, NameTrie
from ..graph_store.index.columns import Ids, LazySequence, Lists, Rows, Texts, Words, distinct
from ..graph_store.index.contents import stored_graph
from ..graph_store.index.lexical import LexicalIndex
from ..graph_store.knowledge_base import KnowledgeBase
from ..graph_store.ledger.communities import TreeCommunity
from ..graph_store.vectors.vector_store import Kind
from ..models.embedding.embedder import Vectors
from ..schemas.documents import Chunk
from ..schemas.naming import canonical_name, normalise, relation_id
from ..text.times import Validity
from .field_columns import FieldColumn, join_columns
from .spellings import Spellings
from .spreading import SpreadingGraph

_CACHED_ENTITIES = 1 << 13
# Communities have many members.
_CACHED_COMMUNITIES = 1 << 8
_CACHED_COLUMNS = 1 << 6
# A question reads each of its chunks several times.
_CACHED_CHUNKS = 1 << 8
_CACHED_SPELLINGS = 1 << 16
"""The most names, and the most words of names, that are cached in memory: some ten megabytes."""
_FEW_DOCUMENTS = 2
"""The most documents that one name means."""
_ALIAS = "alias"
"""The attribute whose values are names, too."""


class Dated(NamedTuple):
    """When a fact holds, and the chunks that say when; no chunks if none does."""

    validity: Validity = Validity()
    chunks: frozenset[str] = frozenset()

    def is_of(self, chunk: str) -> bool:
        """Return True if a chunk supports the dated fact: it says when the fact holds, or no chunk does."""
        return not self.chunks or chunk in self.chunks


class RetrievalIndex:
    """Rows, lists and look-ups over one state of a knowledge base. Read-only, safe for many threads."""

    def __init__(self, knowledge_base: KnowledgeBase) -> None:
        """Map the knowledge base as it is now."""
        self.store = knowledge_base
        self.embedder = knowledge_base.embedder
        self.reliability = knowledge_base.reliability.current()
        self._arrays = arrays = knowledge_base.index()
        self.graph = stored_graph(arrays)
        """Names, types, facts, values, and when and where they are stated."""
        self.entity_row = Ids(arrays, "entities")
        # Rankings and lookups read the same few entities repeatedly, so these are cached.
        self.entity_at = lru_cache(_CACHED_ENTITIES)(self.entity_row.get)
        """The row of an entity; None where there is none."""
        self.about = lru_cache(_CACHED_ENTITIES)(self.graph.about)
        """The name, the type and the other names of the entity of a row."""
        self._columns: LRUCache[str, FieldColumn] = LRUCache(_CACHED_COLUMNS)
        self._lock = threading.Lock()
        self.support = Lists(arrays, "entities.chunks")
        """For each entity the rows of the chunks that mention it."""
        self.titled = Lists(arrays, "entities.titled")
        """For each entity the rows of the chunks of documents that have its name for their title."""
        self._incident = Lists(arrays, "entities.triples")
        self.triples = self.graph.columns.triples
        """For each triple its head's row, its relation's number and its tail's row, shape (n, 3)."""
        self.edges: Sequence[EdgeKey] = LazySequence(len(self.triples), self.graph.edge)
        """The triple of each row: its head's id, its relation, its tail's id."""
        self._label_row = Ids(arrays, "relations")
        self.chunk_row = Ids(arrays, "chunks")
        # The partials refer to parts of this object, not to the object: a cycle would delay its release,
        # and the file stays mapped until then.
        self.chunks: Sequence[Chunk] = LazySequence(
            len(self.chunk_row), lru_cache(_CACHED_CHUNKS)(partial(_read_chunk, Texts(arrays, "chunks.about"))))
        self.community_row = Ids(arrays, "communities")
        self.community = lru_cache(_CACHED_COMMUNITIES)(partial(_read_community, Texts(arrays, "communities.about")))
        """The described community of a row."""
        self.community_chunks = Lists(arrays, "communities.chunks")
        """For each community the rows of the chunks that mention one of its members, ascending."""
        self.lexical = LexicalIndex(arrays, "chunks.words", len(self.chunks))
        self.names = NameTrie(arrays, "names", self.entity_row.at)
        """The trie of all entities' names."""
        self.values = NameTrie(arrays, "values", self.entity_row.at)
        """The trie of all attributes' values, which finds the entities that have them."""
        self._spellings = Texts(arrays, "spellings")
        self.document_ids: Sequence[str] = Texts(arrays, "documents.ids")
        self.document_titles: Sequence[str] = Texts(arrays, "documents.titles")
        self._quoted_names = Words(arrays, "documents.called")
        self._documents_of_name = Lists(arrays, "documents.of_name")
        self.browsing = Browsing(arrays, self.graph, self.names)

    @cached_property
    def spreading(self) -> SpreadingGraph:
        """The walk over entities and chunks; made when a question is asked, as it imports scipy."""
        return SpreadingGraph(self._arrays, "walk")

    # Entities.

    def spellings(self) -> Spellings:
        """Return all names of entities, to compare a name with; only those of a small graph are cached in memory."""
        return self._cached_spellings if len(self._spellings) <= _CACHED_SPELLINGS else Spellings(self._spellings)

    @cached_property
    def _cached_spellings(self) -> Spellings:
        return Spellings(self._spellings)

    @cached_property
    def name_words(self) -> Sequence[str]:
        """The folded words of all names, sorted; only those of a small graph are cached in memory."""
        words = Texts(self._arrays, "name_words")
        return list(words) if len(words) <= _CACHED_SPELLINGS else words

    def name(self, entity: str) -> str:
        """Return the name that most chunks use for an entity."""
        return self.about(self._row_of(entity))[0]

    def type(self, entity: str) -> str:
        """Return an entity's type."""
        return self.about(self._row_of(entity))[1]

    def _row_of(self, entity: str) -> int:
        """Return the row of an entity; raise KeyError if there is no such entity."""
        row = self.entity_at(entity)
        if row is None:
            raise KeyError(entity)
        return row

    def attributes(self, entity: str) -> dict[str, dict[str, Places]]:
        """Return an entity's attributes: {attribute: {value: {chunk: [start, end]}}}."""
        return self.graph.values(entity)

    @cached_property
    def attribute_counts(self) -> dict[str, int]:
        """How many entities have each attribute, by its name."""
        values = self.graph.columns.values
        return self._count_names(values.attribute[find_firsts(values.entity, values.attribute)])

    def _count_names(self, numbers: NDArray[np.int32]) -> dict[str, int]:
        """Return how often each text occurs in an array of the texts' numbers, as {text: count}."""
        names, counts = np.unique(numbers, return_counts=True)
        texts = self.graph.columns.texts
        return {texts[name]: count for name, count in zip(names.tolist(), counts.tolist(), strict=True)}

    def column(self, name: str) -> FieldColumn:
        """Return the rows of a relation or attribute by its name; "<" before the name swaps heads and tails."""
        with self._lock:
            column = self._columns.get(name)
        if column is None:
            column = self._read_column(name)
            with self._lock:
                self._columns[name] = column
        return column

    def _read_column(self, name: str) -> FieldColumn:
        """Return the rows of a relation and an attribute of a name together; without rows if there is neither."""
        if name.startswith("<"):
            return replace(self._relation_column(name.removeprefix("<"), 2, 0), name=name)
        columns = []
        if name in self.relation_counts:
            columns.append(self._relation_column(name, 0, 2))
        if name in self.attribute_counts:
            columns.append(self._attribute_column(name))
        empty = np.zeros(0, np.intp)
        return join_columns(columns) if columns else FieldColumn(name, empty, empty, [], empty, empty)

    def _relation_column(self, name: str, start: int, end: int) -> FieldColumn:
        """Return the triples of a relation as a column."""
        rows = self.of_relations([name])
        rows = rows[np.argsort(self.triples[rows, start], kind="stable")]
        ends, labels = np.unique(self.triples[rows, end], return_inverse=True)
        names, texts = self.graph.columns.names[ends], self.graph.columns.texts
        return FieldColumn(name=name, heads=self.triples[rows, start].astype(np.intp), labels=labels,
                           texts=[texts[number] for number in names.tolist()],
                           label_entities=ends.astype(np.intp), triples=rows)

    def _attribute_column(self, name: str) -> FieldColumn:
        """Return the distinct pairs of an entity and a value of an attribute as a column."""
        values, texts = self.graph.columns.values, self.graph.columns.texts
        pairs = select_rows(values, values.attribute == self.graph.columns.number_of(name))
        pairs = select_rows(pairs, find_firsts(pairs.entity, pairs.value))
        distinct_values, labels = np.unique(pairs.value, return_inverse=True)
        return FieldColumn(name=name, heads=pairs.entity.astype(np.intp), labels=labels,
                           texts=[texts[number] for number in distinct_values.tolist()],
                           label_entities=np.full(len(distinct_values), -1, np.intp),
                           triples=np.full(len(labels), -1, np.intp))

    @cached_property
    def _aliases(self) -> dict[int, list[str]]:
        """The values of the attribute "alias" by the entity's row; `about` has the names that texts use."""
        column, aliases = self.column(_ALIAS), dict[int, list[str]]()
        for head, label in zip(column.heads.tolist(), column.labels.tolist(), strict=True):
            aliases.setdefault(head, []).append(column.texts[label])
        return aliases

    def aliases(self, row: int) -> Sequence[str]:
        """Return the other names of the entity of a row."""
        return (*self.about(row)[2:], *self._aliases.get(row, ()))

    @cached_property
    def by_alias(self) -> dict[str, list[str]]:
        """The ids of the entities with each alias, by its canonical form and by its words ("quill" of "@quill")."""
        entities: dict[str, list[str]] = {}
        for row, names in sorted(self._aliases.items()):
            for key in sorted({key for name in names for key in (canonical_name(name), " ".join(words(name))) if key}):
                entities.setdefault(key, []).append(self.entity_row.at(row))
        return entities

    def dated_values(self, entity: str) -> dict[tuple[str, str], Dated]:
        """Return when an entity's values hold, by (attribute, value); values without a stated time are left out."""
        times = self.graph.value_times(entity)
        validities = self.graph.validities(entity) if times else {}
        return {(name, value): Dated(validity, _chunks_of(times[name][value]))
                for name, values in validities.items() for value, validity in values.items()}

    def entity_support(self, entity: str) -> tuple[str, ...]:
        """Return the chunks that mention an entity, sorted."""
        return tuple(map(self.chunk_row.at, self.support[self._row_of(entity)]))

    def entities_in(self, chunks: Iterable[str]) -> Rows:
        """Return the rows of the entities that some chunks mention, ascending."""
        is_wanted = np.zeros(len(self.chunks), bool)
        is_wanted[[self.chunk_row[key] for key in chunks if key in self.chunk_row]] = True
        # `support.values` are the chunks of all entities, one entity after another.
        entities = np.repeat(np.arange(len(self.support)), np.diff(self.support.starts))
        return distinct(entities[is_wanted[self.support.values]])

    def incident(self, entity: str) -> Rows:
        """Return the rows of the triples in which an entity is head or tail, ascending."""
        row = self.entity_at(entity)
        return np.zeros(0, np.intp) if row is None else self._incident[row].astype(np.intp)

    # Triples.

    def relation_rows(self, relations: Iterable[str]) -> list[int]:
        """Return the numbers of some relations; those that no triple has are left out."""
        return [self.graph.columns.number_of(name) for name in relations if name in self.relation_counts]

    def incident_at(self, row: int) -> Rows:
        """Return the rows of the triples in which the entity of a row is head or tail, ascending."""
        return self._incident[row].astype(np.intp)

    def incident_of(self, rows: Iterable[int]) -> Rows:
        """Return the rows of all triples of the entities of some rows, ascending."""
        return self._incident.of(rows)

    def spans(self, row: int) -> Iterator[tuple[str, int, int]]:
        """Return where chunks state the triple of a row, as (chunk, start, end), by chunk."""
        for chunk, (start, end, *_) in self.graph.support_of(row).items():
            yield chunk, start, end

    def dated(self, row: int) -> Dated:
        """Return when the triple of a row holds, with the chunks that say so."""
        times = self.graph.times_of(row)
        return Dated(self.graph.validity_of(row), _chunks_of(times)) if times else Dated()

    @cached_property
    def relation_counts(self) -> dict[str, int]:
        """How many triples each relation has, by its name."""
        return self._count_names(self.triples[:, 1])

    def of_relations(self, relations: Iterable[str]) -> Rows:
        """Return the rows of the triples of some relations, ascending; relations that no triple has are left out."""
        return np.flatnonzero(np.isin(self.triples[:, 1], self.relation_rows(relations)))

    # Chunks.

    @cached_property
    def documents(self) -> tuple[LexicalIndex, NDArray[np.int32]]:
        """The lexical index of whole documents, and the document's number of each chunk."""
        number: NDArray[np.int32] = self._arrays["chunks.documents"]
        return LexicalIndex(self._arrays, "documents.words", int(number.max(initial=-1)) + 1), number

    @cached_property
    def documents_by_name(self) -> dict[str, list[str]]:
        """The ids of documents by each normalised id and title."""
        by_name: dict[str, list[str]] = {}
        for key, title in zip(self.document_ids, self.document_titles, strict=True):
            for name in {normalise(key), normalise(title)}:
                by_name.setdefault(name, []).append(key)
        return by_name

    def chunks_of(self, documents: Collection[str]) -> NDArray[np.bool_]:
        """Return which chunks are of some documents, shape (chunks,)."""
        is_wanted = np.zeros(len(self.document_ids), bool)
        is_wanted[[self._document_row[key] for key in documents]] = True
        return is_wanted[self._arrays["chunks.documents"]]

    @cached_property
    def _document_row(self) -> dict[str, int]:
        return {key: row for row, key in enumerate(self.document_ids)}

    def documents_with(self, parts: Iterable[str]) -> frozenset[str]:
        """Return the ids of the documents that have one of these ids or titles.

        If no document has one of them exactly, the documents whose id or title contains it are returned for it.
        """
        matching = set[str]()
        for part in (normalise(part) for part in parts if part.strip()):
            containing = (keys for name, keys in self.documents_by_name.items() if part in name)
            matching.update(self.documents_by_name.get(part) or [key for keys in containing for key in keys])
        return frozenset(matching)

    def documents_called(self, name: str) -> frozenset[str]:
        """Return the ids of the documents whose title or file is quoted by a name; empty if more than two are."""
        number = self._quoted_names.get(normalise(name))
        rows = [] if number is None else self._documents_of_name[number].tolist()
        return frozenset(self.document_ids[row] for row in rows) if len(rows) <= _FEW_DOCUMENTS else frozenset()

    # Vectors.

    def cosines(self, kind: Kind, query: Vectors) -> NDArray[np.float32]:
        """Return the cosine of a query's unit vector, shape (d,), with each entity, triple or chunk.

        A row's cosine does not depend on the other rows.
        """
        cosines: NDArray[np.float32] = np.vecdot(self._arrays[f"{kind}.vectors"], query)
        return cosines

    def label_vector(self, label: str) -> Vectors | None:
        """Return the unit vector of a relation's or attribute's name, shape (d,); None if it is not embedded."""
        row = self._label_row.get(relation_id(label))
        return None if row is None else self._arrays["relations.vectors"][row]

    def community_cosines(self, query: Vectors) -> NDArray[np.float32]:
        """Return the cosine of a question with each community, shape (communities,).

        A community's vector is the mean of its triples' vectors, or of its keywords' if it has no triples.

        Args:
            query: the question's unit vector, shape (d,).
        """
        directions: Vectors = self._arrays["communities.vectors"]
        cosines: NDArray[np.float32] = np.vecdot(directions, query)
        return cosines


def _read_chunk(stored: Texts, row: int) -> Chunk:
    return Chunk(**orjson.loads(stored.raw(row)))


def _read_community(stored: Texts, row: int) -> TreeCommunity:
    return TreeCommunity(**orjson.loads(stored.raw(row)))


def _chunks_of(times: Mapping[str, Places]) -> frozenset[str]:
    """Return the chunks of the words that say when a fact holds, from {words: {chunk: [start, end]}}."""
    return frozenset(chunk for places in times.values() for chunk in places)
