"""The one class by which questions, tables, the page, the map, exports and reports read a knowledge base."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from ..models.embedding.embedder import Vectors
from ..schemas.documents import Chunk
from ..schemas.naming import canonical_name, normalise, relation_id
from ..text.times import Validity
from .bounding.words import words
from .document_versions import Versions
from .graph.graph_columns import Rows, find_firsts, select_rows
from .graph.knowledge_graph import EntityLabels, KnowledgeGraph, Places, read_labels
from .index.contents import SpreadingGraph, read_graph
from .index.index_file import Ids, LazySequence, Texts, Words, read_lists
from .index.lexical import LexicalIndex, NameTrie, Spellings
from .knowledge_base import KnowledgeBase
from .ledger.entity_rows import TreeCommunity
from .vectors.vector_store import Kind

if TYPE_CHECKING:
    from .sql.engine import SqlEngine

_CACHED_ENTITIES, _CACHED_COMMUNITIES, _CACHED_CHUNKS = 1 << 13, 1 << 8, 1 << 8  # what some questions read
_FEW_DOCUMENTS = 2  # the most documents that one name means; a name of more, such as "report", is a common word
_SERIES = re.compile(r"(\S.{0,60}?)\s*(?::|\s[-–—|])\s")  # what titles begin with, up to a colon or dash
_ALIAS = "alias"  # the attribute whose values are names, too


class Dated(NamedTuple):
    """When a fact holds, and the chunks that say when; no chunks if none does."""

    validity: Validity = Validity()
    chunks: frozenset[str] = frozenset()

    def covers(self, chunk: str) -> bool:
        """Return True if a chunk supports the dated fact: it says when the fact holds, or no chunk does."""
        return not self.chunks or chunk in self.chunks


class GraphIndex(KnowledgeGraph):
    """A knowledge base's graph with its chunks, communities and vectors, mapped from the index file; read-only.

    A row is the number of an entity, a triple, a chunk or a community. Safe for many threads.
    """

    def __init__(self, knowledge_base: KnowledgeBase) -> None:
        self.store = knowledge_base
        self.embedder = knowledge_base.embedder
        self._arrays = arrays = knowledge_base.index()
        self.entity_row = Ids(arrays, "entities")
        super().__init__(*read_graph(arrays), self.entity_row)
        # What is read repeatedly is cached. The functions refer to parts of this object, not to itself: a cycle would
        # delay its release, and the file stays mapped until then.
        self.entity_at = lru_cache(_CACHED_ENTITIES)(self.entity_row.get)  # the row of an entity, or None
        self._read_labels = lru_cache(_CACHED_ENTITIES)(partial(read_labels, self.columns))
        self.triples = self.columns.triples  # rows of head and tail, number of the relation between, shape (n, 3)
        self.mentioning = read_lists(arrays, "entities.chunks")  # by entity: the rows of the chunks that mention it
        self.titled = read_lists(arrays, "entities.titled")  # by entity: the chunks of documents whose title it is
        self.ranked: NDArray[np.int32] = arrays["entities.ranked"]
        """The rows of all entities by rank: by the number of documents that mention them, then of facts, then name."""
        self.document_counts: NDArray[np.int32] = arrays["entities.documents"]  # by entity: documents that mention it
        kinds, self.type_of = np.unique(self.columns.types, return_inverse=True)  # by entity: a position in `types`
        self.types: list[str] = [self.columns.texts[kind] for kind in kinds.tolist()]  # all entity types, sorted
        self.name_trie = NameTrie(arrays, "names", self.entity_row.at)  # the trie of all entities' names
        self.value_trie = NameTrie(arrays, "values", self.entity_row.at)  # of attributes' values: finds their entities
        self.chunk_row = Ids(arrays, "chunks")
        chunk_json, community_json = Texts(arrays, "chunks.about"), Texts(arrays, "communities.about")  # by row
        self.chunks: Sequence[Chunk] = LazySequence(
            len(self.chunk_row), lru_cache(_CACHED_CHUNKS)(lambda row: Chunk(**orjson.loads(chunk_json[row]))))
        self.lexical = LexicalIndex(arrays, "chunks.words", len(self.chunks))
        self.document_ids: Sequence[str] = Texts(arrays, "documents.ids")
        self.document_titles: Sequence[str] = Texts(arrays, "documents.titles")
        self.community_row = Ids(arrays, "communities")
        self.community = lru_cache(_CACHED_COMMUNITIES)(
            lambda row: TreeCommunity(**orjson.loads(community_json[row])))  # the community of a row
        self.community_chunks = read_lists(arrays, "communities.chunks")
        """For each community the rows of the chunks that mention one of its members, ascending."""

    @cached_property
    def spreading(self) -> SpreadingGraph:
        """The walk over entities and chunks; made when a question is asked, as it imports scipy."""
        return SpreadingGraph(self._arrays, "walk")

    @cached_property
    def versions(self) -> Versions:
        """Which documents supersede and amend one another."""
        return Versions(self)

    @cached_property
    def sql(self) -> "SqlEngine":
        """The records, documents and facts as tables for SQL; opened when a question asks for them."""
        return self.store.open_tables(self)

    def labels_of(self, row: int) -> EntityLabels:
        """See `KnowledgeGraph.labels_of`."""
        return self._read_labels(row)

    def similar_names(self, name: str, limit: int) -> tuple[str, ...]:
        """Return the names of entities that are most like a name in spelling (see `Spellings.find_similar`)."""
        return self._spellings.find_similar(name, limit)

    @cached_property
    def _spellings(self) -> Spellings:
        return Spellings(Texts(self._arrays, "spellings"))

    @cached_property
    def ranks(self) -> NDArray[np.int32]:
        """The rank of each entity's row; see `ranked`."""
        ranks = np.empty_like(self.ranked)
        ranks[self.ranked] = np.arange(len(ranks), dtype=np.int32)
        return ranks

    def community_of(self, row: int) -> str | None:
        """Return the id of the finest community of a row's entity, or None if it is in none."""
        number = int(self._arrays["entities.finest"][row])
        return None if number < 0 else Ids(self._arrays, "finest").at(number)  # -1 stands for none

    def find_named(self, name: str) -> Rows:
        """Return the rows of the entities with this name, compared in canonical form, by rank."""
        key = canonical_name(name)
        # A name without any word, such as "++", is not in the trie.
        candidates = self.name_trie.rows_of(words(name)) if words(name) else self.find_containing(name)
        rows = np.array([row for row in candidates.tolist() if key in map(canonical_name, self.names_of(row))], np.intp)
        return rows[np.argsort(self.ranks[rows])]

    def find_containing(self, text: str, kind: str = "") -> Rows:
        """Return the rows of entities, of a type or any, with a name that contains a text, ignoring case and width."""
        part, found = normalise(text), list[tuple[bool, bool, int, int]]()
        # A line break separates and encloses an entity's folded names.
        for row, names in enumerate(Texts(self._arrays, "entities.folded")):
            if part in names:
                is_other_name, is_other_beginning = f"\n{part}\n" not in names, f"\n{part}" not in names
                found.append((is_other_name, is_other_beginning, int(self.ranks[row]), row))
        # First those with a name that equals the text, then those with one that begins with it; each by rank.
        rows = np.array([row for *_, row in sorted(found)], np.intp)
        return rows[self.of_type(kind)[rows]] if kind else rows

    def of_type(self, kind: str) -> NDArray[np.bool_]:
        """Return for each row whether its entity is of a type, shape (n,)."""
        is_of_type: NDArray[np.bool_] = self.type_of == (self.types.index(kind) if kind in self.types else -1)
        return is_of_type

    @cached_property
    def attribute_counts(self) -> dict[str, int]:
        """How many entities have each attribute, by its name."""
        values = self.columns.values
        return self._count_names(values.attribute[find_firsts(values.entity, values.attribute)])

    @cached_property
    def relation_counts(self) -> dict[str, int]:
        """How many triples each relation has, by its name."""
        return self._count_names(self.triples[:, 1])

    def _count_names(self, numbers: NDArray[np.int32]) -> dict[str, int]:
        """Return how often each text occurs, by the numbers of the texts."""
        names, counts = np.unique(numbers, return_counts=True)
        return {self.columns.texts[name]: count for name, count in zip(names.tolist(), counts.tolist(), strict=True)}

    @cached_property
    def _aliases(self) -> dict[int, list[str]]:
        """By the entity's row, what facts say that it is also called; `labels_of` has the names that texts use."""
        columns, aliases = self.columns, dict[int, list[str]]()
        values = select_rows(columns.values, columns.values.attribute == columns.number_of(_ALIAS))
        triples = self.triples[self.of_relation(_ALIAS)]
        entities = [*values.entity.tolist(), *triples[:, 0].tolist()]
        texts = [*values.value.tolist(), *columns.names[triples[:, 2]].tolist()]
        for entity, text in sorted(set(zip(entities, texts, strict=True))):
            aliases.setdefault(entity, []).append(columns.texts[text])
        return aliases

    def aliases(self, row: int) -> Sequence[str]:
        """Return the other names of the entity of a row."""
        return (*self.labels_of(row).other_names, *self._aliases.get(row, ()))

    @cached_property
    def by_alias(self) -> dict[str, list[str]]:
        """The ids of the entities with each alias, by its canonical form and by its words ("quill" of "@quill")."""
        entities: dict[str, list[str]] = {}
        for row, names in sorted(self._aliases.items()):
            keys = {*map(canonical_name, names), *(" ".join(words(name)) for name in names)}
            for key in sorted(keys - {""}):
                entities.setdefault(key, []).append(self.entity_row.at(row))
        return entities

    def dated_values(self, entity: str) -> dict[tuple[str, str], Dated]:
        """Return when an entity's values hold, by (attribute, value); values without a stated time are left out."""
        times = self.value_times(entity)
        validities = self.validities(entity) if times else {}
        return {(name, value): Dated(validity, _chunks_of(times[name][value]))
                for name, values in validities.items() for value, validity in values.items()}

    def entities_in(self, chunks: Iterable[str]) -> Rows:
        """Return the rows of the entities that some chunks mention, ascending."""
        is_wanted = np.zeros(len(self.chunks), bool)
        is_wanted[[self.chunk_row[key] for key in chunks if key in self.chunk_row]] = True
        # `mentioning.values` are the chunks of all entities, one entity after another.
        entities = np.repeat(np.arange(len(self.mentioning)), np.diff(self.mentioning.starts))
        return np.unique(entities[is_wanted[self.mentioning.values]])

    def triples_of(self, entity: str) -> Rows:
        """Return the rows of the triples in which an entity is head or tail, ascending; none for an unknown one."""
        row = self.entity_at(entity)
        return np.zeros(0, np.intp) if row is None else self.columns.incident[row]

    def dated(self, row: int) -> Dated:
        """Return when the triple of a row holds, with the chunks that say so."""
        times = self.times_of(row)
        return Dated(self.validity(row), _chunks_of(times)) if times else Dated()

    def of_relation(self, relation: str) -> Rows:
        """Return the rows of the triples of a relation, ascending."""
        return np.flatnonzero(self.triples[:, 1] == self.columns.number_of(relation))

    @cached_property
    def documents(self) -> tuple[LexicalIndex, NDArray[np.int32]]:
        """The lexical index of whole documents, and the document's number of each chunk."""
        number: NDArray[np.int32] = self._arrays["chunks.documents"]
        return LexicalIndex(self._arrays, "documents.words", len(self.document_ids)), number

    @cached_property
    def documents_by_name(self) -> dict[str, list[str]]:
        """The ids of documents by each normalised id and title."""
        by_name: dict[str, list[str]] = {}
        for key, title in zip(self.document_ids, self.document_titles, strict=True):
            for name in {normalise(key), normalise(title)}:
                by_name.setdefault(name, []).append(key)
        return by_name

    @cached_property
    def document_row(self) -> dict[str, int]:
        """The row of each document with chunks, by its id."""
        return {key: row for row, key in enumerate(self.document_ids)}

    @cached_property
    def folder_counts(self) -> Mapping[str, int]:
        """How many documents are in each folder, or in one below it, by its name in lower case."""
        return Counter(name for document in self.document_ids for name in set(document.casefold().split("/")[:-1]))

    @cached_property
    def series_counts(self) -> Mapping[str, int]:
        """How many documents have titles that begin alike, up to a colon or dash, by that beginning in lower case."""
        return Counter(match[1] for title in self.document_titles if (match := _SERIES.match(title.casefold())))

    def chunks_of(self, documents: Collection[str]) -> NDArray[np.bool_]:
        """Return which chunks are of some documents, shape (chunks,)."""
        is_wanted = np.zeros(len(self.document_ids), bool)
        is_wanted[[self.document_row[key] for key in documents]] = True
        return is_wanted[self._arrays["chunks.documents"]]

    def documents_with(self, parts: Iterable[str]) -> frozenset[str]:
        """Return the ids of the documents that have one of these ids or titles, or else contain it in theirs."""
        by_name, matching = self.documents_by_name, set[str]()
        for part in map(normalise, filter(str.strip, parts)):
            matching_names = [part] if part in by_name else [name for name in by_name if part in name]
            matching.update(*map(by_name.__getitem__, matching_names))
        return frozenset(matching)

    def documents_called(self, name: str) -> frozenset[str]:
        """Return the ids of the documents whose title or file is quoted by a name; empty if more than two are."""
        number = Words(self._arrays, "documents.called").get(normalise(name))
        rows = [] if number is None else read_lists(self._arrays, "documents.of_name")[number].tolist()
        return frozenset(self.document_ids[row] for row in rows) if len(rows) <= _FEW_DOCUMENTS else frozenset()

    def cosines(self, kind: Kind, query: Vectors) -> NDArray[np.float32]:
        """Return the cosine of a query's unit vector, shape (d,), with each entity, triple or chunk."""
        # Unlike in a product of matrices, a row's cosine does not depend on the other rows.
        cosines: NDArray[np.float32] = np.vecdot(self._arrays[f"{kind}.vectors"], query)
        return cosines

    def label_vector(self, label: str) -> Vectors | None:
        """Return the unit vector of a relation's or attribute's name, shape (d,); None if it is not embedded."""
        row = Ids(self._arrays, "relations").get(relation_id(label))
        return None if row is None else self._arrays["relations.vectors"][row]

    def community_cosines(self, query: Vectors) -> NDArray[np.float32]:
        """Return the cosine of a question with each community's mean of triples or keywords, shape (communities,)."""
        cosines: NDArray[np.float32] = np.vecdot(self._arrays["communities.vectors"], query)
        return cosines


def _chunks_of(times: Mapping[str, Places]) -> frozenset[str]:
    """Return the chunks of the words that say when a fact holds, from {words: {chunk: [start, end]}}."""
    return frozenset(chunk for places in times.values() for chunk in places)
