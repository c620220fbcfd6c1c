"""What retrieval reads of a knowledge base, put into arrays.

Rows are numbers: of entities and triples in the order of their ids and keys, of chunks by document and position, of
communities by id. All of it is a function of the graph, the chunks and the communities.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from ...models.embedding.embedder import Vectors
from ...schemas.documents import Chunk
from ...schemas.naming import normalise, relation_id, triple_id
from ...text.titles import plain_title
from ..bounding.words import without_aside, words
from ..graph.graph_columns import (
    GraphColumns,
    LaterDates,
    MentionTable,
    SupportTable,
    TripleTimeTable,
    ValueTable,
    ValueTimeTable,
    find_firsts,
)
from ..graph.knowledge_graph import KnowledgeGraph
from ..ledger.communities import TreeCommunity
from ..vectors.vector_store import Kind, VectorStore
from . import columns
from .array_file import Arrays
from .browsing import NameTrie, browsing, trie
from .columns import Ids, LazySequence, Rows, Texts
from .lexical import postings, terms
from .vector_rows import StoredVectors, find_vectors

NewArrays = dict[str, NDArray[Any]]
Pairs = NDArray[np.int32]
_ALL_STORED: tuple[Kind, ...] = ("entities", "relations")
"""The kinds of which those without a vector are stored, too: they are never near to anything."""
_WORDS_OF_A_VALUE = 8
"""The most words, or Chinese characters, of a value by which its entities are found; longer ones are sentences."""
_TABLES: dict[str, Any] = {"mentions": MentionTable, "support": SupportTable, "triple_times": TripleTimeTable,
                           "values": ValueTable, "value_times": ValueTimeTable}


class IndexSource(NamedTuple):
    """What the index is made from, all of one moment."""

    graph: KnowledgeGraph
    chunks: Sequence[Chunk]
    communities: Sequence[TreeCommunity]
    """Those that retrieval searches."""
    finest: Sequence[TreeCommunity]
    """All of the finest level, whether they are described or not."""
    vectors: VectorStore


class _Rows(NamedTuple):
    """Which rows the index has of a graph.

    Attributes:
        entities: the row of each entity.
        chunks: the row of the chunk that each of the graph's texts is the id of, -1 for others, shape (texts,).
        triples: the graph's rows of the triples that have a vector, shape (triples,).
    """

    entities: dict[str, int]
    chunks: NDArray[np.int32]
    triples: NDArray[np.intp]


def contents(source: IndexSource, before: Arrays, folder: Path | None = None) -> NewArrays:
    """Return all arrays.

    Args:
        source: what they are made from. Triples and chunks without a vector, which a running build has not embedded
            yet, are left out; such entities are never near to anything.
        before: those of an earlier state whose vectors are of the same model; may be empty.
        folder: where new vectors are put into a temporary file; None keeps them in memory.
    """
    graph = source.graph
    ids: dict[Kind, list[str]] = {"entities": graph.entity_ids(), "chunks": [chunk.id for chunk in source.chunks],
                                  "triples": [triple_id(*edge) for edge in graph.iterate_edges()],
                                  "relations": sorted(map(relation_id, _labels(graph)))}
    found = {kind: find_vectors(kind, own, before, source.vectors, folder) for kind, own in ids.items()}
    stored = {kind: vectors if kind in _ALL_STORED or there.all() else vectors[there]
              for kind, (vectors, there) in found.items()}
    chunks = [source.chunks[row] for row in np.flatnonzero(found["chunks"][1]).tolist()]
    embedded = np.flatnonzero(found["triples"][1])
    rows = _Rows({key: row for row, key in enumerate(ids["entities"])},
                 _chunk_rows(graph, chunks), embedded)
    made: NewArrays = columns.ids("triples", [ids["triples"][row] for row in embedded.tolist()])
    made |= columns.ids("relations", ids["relations"])
    made |= graph_arrays(graph, embedded, rows.chunks >= 0)
    for kind, vectors in stored.items():
        made |= StoredVectors.of(vectors).arrays(kind)
    about = [graph.about(row) for row in range(len(rows.entities))]
    made |= _entities(graph, rows, about)
    made |= _incidence(made["graph.triples"], len(rows.entities))
    made |= _chunks(chunks)
    made |= browsing(about, made["graph.triples"], _count_documents(made), {
        row: community.id for community in source.finest for row in _rows_of(rows, community.members)})
    made |= _walk(rows, chunks, made)
    made |= _communities(source.communities, rows, made, stored)
    return made


def _labels(graph: KnowledgeGraph) -> set[str]:
    """Return the names of the relations and attributes that a graph has."""
    texts = graph.columns.texts
    return {*graph.attribute_names(), *(texts[number] for number in np.unique(graph.columns.triples[:, 1]).tolist())}


def _chunk_rows(graph: KnowledgeGraph, chunks: Sequence[Chunk]) -> NDArray[np.int32]:
    rows = np.full(len(graph.columns.texts), -1, np.int32)
    for row, chunk in enumerate(chunks):
        if (number := graph.columns.number_of(chunk.id)) >= 0:
            rows[number] = row
    return rows


def _entities(graph: KnowledgeGraph, rows: _Rows, about: Sequence[Sequence[str]]) -> NewArrays:
    names = [(name, *others) for name, _, *others in about]
    said = set[str]()

    def fold_spellings() -> Iterator[tuple[list[str], int]]:
        for row, called in enumerate(names):
            for folded in map(words, called):
                said.update(folded)
                yield folded, row

    texts, stated = graph.columns.texts, graph.columns.values
    firsts = np.flatnonzero(find_firsts(stated.entity, stated.attribute, stated.value))
    values = ((words(texts[value]), entity) for entity, value in zip(
        stated.entity[firsts].tolist(), stated.value[firsts].tolist(), strict=True))
    counts = np.array([graph.count_entities(), graph.count_triples(), graph.count_attributes()])
    return {"counts": counts, **_support(graph, rows), **trie("names", fold_spellings()),
            **trie("values", (value for value in values if _is_telling(value[0]))),
            **columns.texts("spellings", sorted({name for called in names for name in called})),
            **columns.texts("name_words", sorted(said))}


def _is_telling(value: Sequence[str]) -> bool:
    """Return True if entities are asked for by a value: it is short, and no mere number."""
    return len(value) <= _WORDS_OF_A_VALUE and not all(word.isdecimal() for word in value)


def _support(graph: KnowledgeGraph, rows: _Rows) -> NewArrays:
    """Return the chunks that mention each entity, in the order of their ids."""
    entities, chunks = graph.mention_pairs()
    there = rows.chunks[chunks]
    return {"entities.chunks.values": there[there >= 0],
            "entities.chunks.starts": columns.starts(np.bincount(entities[there >= 0], minlength=len(rows.entities)))}


def _count_documents(made: Mapping[str, NDArray[Any]]) -> NDArray[np.int32]:
    """Return the number of documents that mention each entity."""
    mentioned = columns.Lists(made, "entities.chunks")
    owners = np.repeat(np.arange(len(mentioned)), np.diff(mentioned.starts))
    pairs = np.unique(np.stack([owners, made["chunks.documents"][mentioned.values]]), axis=1)
    return np.bincount(pairs[0], minlength=len(mentioned)).astype(np.int32)


def _incidence(triples: NDArray[np.int32], entities: int) -> NewArrays:
    """Return the triples in which each entity is head or tail, ascending."""
    numbers, loops = np.arange(len(triples)), triples[:, 0] == triples[:, 2]
    return columns.inverted("entities.triples", np.concatenate([triples[:, 0], triples[~loops, 2]]),
                            np.concatenate([numbers, numbers[~loops]]), entities)


def _chunks(chunks: Sequence[Chunk]) -> NewArrays:
    documents = list(dict.fromkeys(chunk.document_id for chunk in chunks))
    number = {key: row for row, key in enumerate(documents)}
    known: dict[str, str] = {}  # so that each distinct word is in memory once
    spoken = [[known.setdefault(term, term) for term in terms(chunk.titled_text())] for chunk in chunks]
    by_chunk = postings("chunks.words", spoken)
    return {**columns.ids("chunks", [chunk.id for chunk in chunks]),
            **columns.texts("chunks.about", (orjson.dumps(chunk.model_dump()) for chunk in chunks)),
            "chunks.documents": np.array([number[chunk.document_id] for chunk in chunks], np.int32),
            **by_chunk, **_documents(chunks, [number[chunk.document_id] for chunk in chunks], spoken, by_chunk),
            **_document_names({chunk.document_id: chunk.title for chunk in chunks})}


def _document_names(titles: Mapping[str, str]) -> NewArrays:
    """Return documents' ids and titles, and the documents that are called by each name (`text/titles.py`)."""
    called: dict[str, list[int]] = {}
    for row, (key, title) in enumerate(titles.items()):
        for name in dict.fromkeys(normalise(plain_title(own)) for own in (key, title)):
            called.setdefault(name, []).append(row)
    return {**columns.texts("documents.ids", titles), **columns.texts("documents.titles", titles.values()),
            **columns.words("documents.called", called), **columns.lists("documents.of_name", called.values())}


def _documents(chunks: Sequence[Chunk], owners: Sequence[int], spoken: Sequence[list[str]], by_chunk: NewArrays,
               ) -> NewArrays:
    """Return the words of documents; where each has one chunk, they are the chunks'."""
    if len(set(owners)) == len(chunks):
        return {name.replace("chunks", "documents", 1): array for name, array in by_chunk.items()}
    # Most documents have one chunk: theirs are its terms.
    whole: list[list[str]] = [[] for _ in set(owners)]
    for chunk, owner, said in zip(chunks, owners, spoken, strict=True):
        whole[owner] += terms(chunk.text) if whole[owner] else said
    return postings("documents.words", whole)


def _walk(rows: _Rows, chunks: Sequence[Chunk], made: Mapping[str, NDArray[Any]]) -> NewArrays:
    """Return the entity-chunk graph, and which chunks are of documents with an entity's name for their title.

    A document with an entity's name for its title is about it.
    The graph has an edge for each chunk that mentions an entity, and one more where its document's title names it.
    Edges for triples would bypass the passages that are ranked, and find less (benchmarks/README.md).
    """
    mentioned, keys = columns.Lists(made, "entities.chunks"), list(rows.entities)
    named, whole = find_titles(chunks, NameTrie(made, "names", keys.__getitem__), rows.entities)
    owners = np.repeat(np.arange(len(keys)), np.diff(mentioned.starts))
    return {**columns.inverted("entities.titled", whole[:, 0], whole[:, 1], len(keys)),
            **step_arrays("walk", len(keys) + len(chunks), np.concatenate([owners, named[:, 0]]),
                          np.concatenate([mentioned.values, named[:, 1]]) + len(keys))}


def step_arrays(name: str, nodes: int, rows: NDArray[Any], ends: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Build the arrays for a step of a walk over undirected edges.

    Args:
        name: the prefix of the arrays' names.
        nodes: the number of nodes, n.
        rows: one end of each edge, shape (m,); repeated edges count repeatedly.
        ends: its other end, shape (m,).

    Returns:
        For each node its neighbours, as `columns.Lists`, and `shares`: the share of its weight that a node sends to
        each of them, shape (2 m,).
    """
    made = columns.inverted(name, np.concatenate([rows, ends]), np.concatenate([ends, rows]), nodes)
    degrees = np.diff(made[f"{name}.starts"])
    shares = np.repeat(1 / np.maximum(degrees, 1), degrees)
    return made | {f"{name}.shares": shares.astype(np.float32)}


def find_titles(chunks: Sequence[Chunk], names: NameTrie, row_of: dict[str, int]) -> tuple[Pairs, Pairs]:
    """Find the entities that the titles of chunks' documents name.

    Args:
        chunks: chunks in the order of their rows.
        names: the names of all entities.
        row_of: the row of each entity.

    Returns:
        Pairs of an entity's row and a chunk's row, each of shape (n, 2): first for names anywhere in the title, then
        for names that are the whole title, without a note in brackets ("Solaris (1972 film)").
    """
    @cache
    def rows_in(title: str) -> list[tuple[int, bool]]:
        whole = len(without_aside(title))
        return [(row_of[entity], named.start == 0 and named.end >= whole)
                for named in names.find(title) for entity in named.entities]

    found = np.array([(entity, row, is_whole) for row, chunk in enumerate(chunks)
                      for entity, is_whole in rows_in(chunk.title)], np.int32).reshape(-1, 3)
    return found[:, :2], found[found[:, 2] == 1, :2]


def _communities(communities: Sequence[TreeCommunity], rows: _Rows, made: Mapping[str, NDArray[Any]],
                 stored: Mapping[Kind, Vectors]) -> NewArrays:
    """Communities with what their vectors are the means of: their members' triples; without any, their keywords' names.

    No text is embedded for a community, however often it changes, and all its triples count: a model truncates long
    texts.
    """
    incident, mentioned = columns.Lists(made, "entities.triples"), columns.Lists(made, "entities.chunks")
    members = [_rows_of(rows, community.members) for community in communities]
    return {**columns.ids("communities", [community.id for community in communities]),
            **columns.texts("communities.about", (orjson.dumps(community.model_dump()) for community in communities)),
            **columns.lists("communities.chunks", (mentioned.of(of) for of in members)),
            "communities.vectors": np.array([_direction(
                stored["triples"][incident.of(of)], stored["entities"][_rows_of(rows, community.keywords)])
                for of, community in zip(members, communities, strict=True)],
                np.float32).reshape(len(members), stored["triples"].shape[1])}


def _direction(triples: Vectors, keywords: Vectors) -> Vectors:
    """Return the mean vector of triples at unit length, or of keywords if there are none; zeros without any."""
    vectors = triples if len(triples) else keywords[keywords.any(axis=1)]
    if not len(vectors):
        return np.zeros(triples.shape[1], np.float32)
    mean = vectors.mean(axis=0)
    return np.asarray(mean / (np.linalg.norm(mean) or 1), np.float32)


def _rows_of(rows: _Rows, keys: Iterable[str]) -> list[int]:
    return [rows.entities[key] for key in keys if key in rows.entities]


def graph_arrays(graph: KnowledgeGraph, triples: Rows, chunks: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """Build the arrays of `stored_graph`.

    Args:
        graph: the graph.
        triples: the rows of its triples that are stored, ascending.
        chunks: True for the chunks whose facts and values are stored, by the numbers of their ids, shape (texts,).
    """
    part, number = graph.columns.part(triples, chunks), {int(row): place for place, row in enumerate(triples)}
    later = {"triples": [(number[row], dates) for row, dates in graph.later.triples.items() if row in number],
             "values": list(graph.later.values.items())}
    return {**columns.ids("entities", part.ids), **columns.texts("graph.texts", part.texts),
            "graph.types": part.types, "graph.names": part.names, "graph.triples": part.triples,
            "graph.later": np.frombuffer(orjson.dumps(later), np.uint8),
            **{f"{name}.{column}": values for name in _TABLES
               for column, values in getattr(part, name)._asdict().items()}}


def stored_graph(arrays: Arrays) -> KnowledgeGraph:
    """Return the graph that an index has."""
    ids, later = Ids(arrays, "entities"), orjson.loads(arrays["graph.later"].tobytes())
    tables: dict[str, Any] = {name: table(*(arrays[f"{name}.{column}"] for column in table._fields))
                              for name, table in _TABLES.items()}
    entities: Sequence[str] = LazySequence(len(ids), ids.at)
    return KnowledgeGraph(
        GraphColumns(Texts(arrays, "graph.texts"), entities, arrays["graph.types"], arrays["graph.names"],
                     arrays["graph.triples"], **tables),
        LaterDates(dict(later["triples"]), {tuple(key): dates for key, dates in later["values"]}), ids)
