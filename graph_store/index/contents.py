"""What retrieval reads of a knowledge base, put into arrays.

Rows are numbers: of entities and triples in the order of their ids and keys, of chunks by document and position, of
communities by id. All of it is a function of the graph, the chunks, the communities and the schema.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from ...models.embedding.embedder import Vectors
from ...runtime.gc_pauses import gc_paused
from ...schemas.documents import Chunk
from ...schemas.naming import normalise, triple_id
from ...text.times import Validity
from ...text.titles import plain_title
from ..bounding.grounding import words
from ..graph.graph_columns import find_firsts
from ..graph.knowledge_graph import KnowledgeGraph
from ..graph.resolved_graph import ResolvedGraph
from ..ledger.communities import Community
from ..vectors.vector_store import Kind, VectorStore
from . import columns
from .array_file import Arrays
from .browsing import browsing
from .lexical import postings, terms
from .name_trie import NameTrie, trie
from .stated import stated
from .vector_rows import GatheredVectors, StoredVectors, find_vectors
from .walk import find_titles, step_arrays

Made = dict[str, NDArray[Any]]
_WORDS_OF_A_VALUE = 8
"""The most words, or Chinese characters, of a value by which its entities are found; longer ones are sentences."""


class Source(NamedTuple):
    """What the index is made from, all of one moment."""

    graph: ResolvedGraph
    chunks: Sequence[Chunk]
    communities: Sequence[Community]
    """Those that retrieval searches."""
    finest: Sequence[Community]
    """All of the finest level, whether they are described or not."""
    vectors: VectorStore


class _Rows(NamedTuple):
    """Which rows the index has of a graph.

    Attributes:
        entities: the row of each entity.
        chunks: the row of the chunk that each of the graph's texts is the id of, -1 for others, shape (texts,).
        chunk_count: the number of chunks.
        triples: the graph's rows of the triples that have a vector, shape (triples,).
    """

    entities: dict[str, int]
    chunks: NDArray[np.int32]
    chunk_count: int
    triples: NDArray[np.intp]


@gc_paused()
def contents(source: Source, before: Arrays, folder: Path | None = None) -> Made:
    """Return all arrays.

    Args:
        source: what they are made from. Triples and chunks without a vector, which a running build has not embedded
            yet, are left out; such entities are never near to anything.
        before: those of an earlier state whose vectors are of the same model; may be empty.
        folder: where new vectors are put into a temporary file; None keeps them in memory.
    """
    graph = source.graph
    ids: dict[Kind, list[str]] = {"entities": graph.entity_ids(), "chunks": [chunk.id for chunk in source.chunks],
                                  "triples": [triple_id(*edge) for edge in graph.iterate_edges()]}
    found = {kind: find_vectors(kind, own, before, source.vectors, folder) for kind, own in ids.items()}
    stored = {kind: vectors if kind == "entities" or there.all() else vectors[there]
              for kind, (vectors, there) in found.items()}
    chunks = [source.chunks[row] for row in np.flatnonzero(found["chunks"][1]).tolist()]
    embedded = np.flatnonzero(found["triples"][1])
    rows = _Rows({key: row for row, key in enumerate(ids["entities"])},
                 _chunk_rows(graph, chunks), len(chunks), embedded)
    made: Made = columns.ids("triples", [ids["triples"][row] for row in embedded.tolist()])
    for kind, vectors in stored.items():
        made |= StoredVectors.of(vectors).arrays(kind)
    about = [_about(graph, key) for key in rows.entities]
    made |= _entities(graph, rows, about)
    made |= _triples(graph, rows)
    made |= _state_facts(graph, rows)
    made |= _chunks(chunks)
    made |= browsing(about, made["triples.ends"], _count_documents(made), {
        row: community.id for community in source.finest for row in _rows_of(rows, community.members)})
    made |= _walk(rows, chunks, made)
    made |= _communities(source.communities, rows, made, stored)
    return made


def _chunk_rows(graph: KnowledgeGraph, chunks: Sequence[Chunk]) -> NDArray[np.int32]:
    rows = np.full(len(graph.columns.texts), -1, np.int32)
    for row, chunk in enumerate(chunks):
        if (number := graph.columns.number_of(chunk.id)) >= 0:
            rows[number] = row
    return rows


def _about(graph: KnowledgeGraph, key: str) -> list[str]:
    """Return an entity's name, its type, and its other names, sorted."""
    name = graph.name(key)
    return [name, graph.type(key), *(other for other in graph.names(key) if other != name)]


def _entities(graph: KnowledgeGraph, rows: _Rows, about: Sequence[Sequence[str]]) -> Made:
    keys = rows.entities
    names = [(name, *others) for name, _, *others in about]
    said = set[str]()

    def fold_spellings() -> Iterator[tuple[list[str], int]]:
        for row, called in enumerate(names):
            for folded in map(words, called):
                said.update(folded)
                yield folded, row

    held = {key: graph.values(key) for key in graph.entities_with_values()}
    dated = {key: graph.value_times(key) for key in graph.entities_with_times()}
    attributes = (orjson.dumps(held[key]) if key in held else b"" for key in keys)
    times = (orjson.dumps([(name, value, *_date(validity, dated[key][name][value]))
                           for name, values in graph.validities(key).items() for value, validity in values.items()])
             if key in dated else b"" for key in keys)
    values = [(words(value), keys[key]) for key, found in held.items() for own in found.values() for value in own]
    counts = np.array([graph.count_entities(), graph.count_triples(), graph.count_attributes()])
    return {"counts": counts, **columns.ids("entities", list(keys)), **_cells(graph),
            **columns.texts("entities.about", map(orjson.dumps, about)),
            **columns.texts("entities.attributes", attributes),
            **columns.texts("entities.times", times), **_support(graph, rows),
            **trie("names", fold_spellings()), **trie("values", (held for held in values if _is_telling(held[0]))),
            **columns.texts("spellings", sorted({name for called in names for name in called})),
            **columns.texts("name_words", sorted(said))}


def _cells(graph: KnowledgeGraph) -> Made:
    """Return the names of all attributes, sorted, and of each its values by the rows of their owners."""
    values, all_texts = graph.columns.values, graph.columns.texts
    first = find_firsts(values.entity, values.attribute, values.value)
    owners, attributes, held = (column[first] for column in values[:3])
    names, attribute = np.unique(attributes, return_inverse=True)
    texts, number = np.unique(held, return_inverse=True)
    order = np.lexsort((held, owners, attribute))
    return {**columns.texts("attributes", [all_texts[one] for one in names.tolist()]),
            "cells.owners.values": owners[order].astype(np.int32),
            "cells.owners.starts": columns.starts(np.bincount(attribute, minlength=len(names))),
            "cells.values": number[order].astype(np.int32),
            **columns.texts("cells.texts", [all_texts[one] for one in texts.tolist()])}


def _is_telling(value: Sequence[str]) -> bool:
    """Return True if entities are asked for by a value: it is short, and no mere number."""
    return len(value) <= _WORDS_OF_A_VALUE and not all(word.isdecimal() for word in value)


def _support(graph: KnowledgeGraph, rows: _Rows) -> Made:
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


def _triples(graph: KnowledgeGraph, rows: _Rows) -> Made:
    relations, numbered = np.unique(graph.columns.triples[rows.triples, 1], return_inverse=True)
    ends = graph.columns.triples[rows.triples]
    ends[:, 1] = numbered
    row_of = np.full(graph.count_triples(), -1, np.int32)
    row_of[rows.triples] = np.arange(len(rows.triples))
    support = graph.columns.support
    owners, chunks = row_of[support.triple], rows.chunks[support.chunk]
    there = (owners >= 0) & (chunks >= 0)
    owners, chunks, spans = owners[there], chunks[there], np.stack([support.start[there], support.end[there]], axis=1)
    numbers, loops = np.arange(len(ends)), ends[:, 0] == ends[:, 2]
    dated = set(np.unique(graph.columns.triple_times.triple).tolist())
    times = (orjson.dumps(_date(graph.validity_of(row), graph.times_of(row))) if row in dated else b""
             for row in rows.triples.tolist())
    return {"triples.ends": ends, "triples.spans": spans, "triples.chunks.values": chunks,
            "triples.chunks.starts": columns.starts(np.bincount(owners, minlength=len(ends))),
            **columns.texts("triples.times", times),
            **columns.texts("relations", [graph.columns.texts[number] for number in relations.tolist()]),
            **columns.inverted("entities.triples", np.concatenate([ends[:, 0], ends[~loops, 2]]),
                               np.concatenate([numbers, numbers[~loops]]), len(rows.entities)),
            **columns.inverted("relations.triples", ends[:, 1], numbers, len(relations))}


def _date(validity: Validity, times: Mapping[str, Mapping[str, Any]]) -> tuple[list[str], list[str], list[str]]:
    """Return the words that say when a fact holds, when a later one follows it, and the chunks with these words."""
    return ([time.words for time in validity.times], list(validity.later),
            sorted({chunk for places in times.values() for chunk in places}))


def _state_facts(graph: ResolvedGraph, rows: _Rows) -> Made:
    corrected = graph.corrections()
    places = {said: np.flatnonzero(rows.triples == graph.triple_row(edge)) for said, edge in corrected.items() if edge}
    return stated({entity: rows.entities[node] for entity, node in graph.nodes_of_aliases().items()},
                  {said: int(places[said][0]) if len(places.get(said, ())) else -1 for said in corrected})


def _chunks(chunks: Sequence[Chunk]) -> Made:
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


def _document_names(titles: Mapping[str, str]) -> Made:
    """Return documents' ids and titles, and the documents that are called by each name (`text/titles.py`)."""
    called: dict[str, list[int]] = {}
    for row, (key, title) in enumerate(titles.items()):
        for name in dict.fromkeys(normalise(plain_title(own)) for own in (key, title)):
            called.setdefault(name, []).append(row)
    return {**columns.texts("documents.ids", titles), **columns.texts("documents.titles", titles.values()),
            **columns.words("documents.called", called), **columns.lists("documents.of_name", called.values())}


def _documents(chunks: Sequence[Chunk], owners: Sequence[int], spoken: Sequence[list[str]], by_chunk: Made) -> Made:
    """Return the words of documents; where each has one chunk, they are the chunks'."""
    if len(set(owners)) == len(chunks):
        return {name.replace("chunks", "documents", 1): array for name, array in by_chunk.items()}
    # Most documents have one chunk: theirs are its terms.
    whole: list[list[str]] = [[] for _ in set(owners)]
    for chunk, owner, said in zip(chunks, owners, spoken, strict=True):
        whole[owner] += terms(chunk.text) if whole[owner] else said
    return postings("documents.words", whole)


def _walk(rows: _Rows, chunks: Sequence[Chunk], made: Mapping[str, NDArray[Any]]) -> Made:
    """Return the entity-chunk graph, and which chunks are of documents with an entity's name for their title.

    The graph has an edge for each chunk that mentions an entity, and one more where its document's title names it.
    Edges for triples would bypass the passages that are ranked, and find less (benchmarks/README.md).
    """
    mentioned, keys = columns.Lists(made, "entities.chunks"), list(rows.entities)
    named, whole = find_titles(chunks, NameTrie(made, "names", keys.__getitem__), rows.entities)
    owners = np.repeat(np.arange(len(keys)), np.diff(mentioned.starts))
    return {**columns.inverted("entities.titled", whole[:, 0], whole[:, 1], len(keys)),
            **step_arrays("walk", len(keys) + len(chunks), np.concatenate([owners, named[:, 0]]),
                          np.concatenate([mentioned.values, named[:, 1]]) + len(keys))}


def _communities(communities: Sequence[Community], rows: _Rows, made: Mapping[str, NDArray[Any]],
                 stored: Mapping[Kind, Vectors | GatheredVectors]) -> Made:
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
