"""What retrieval reads of a knowledge base, put into arrays.

Rows are numbers: of entities and triples in the order of their ids and keys, of chunks by document and position, of
communities by id. All of it is a function of the graph, the chunks, the communities and the schema.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from ...models.embedding.embedder import Vectors
from ...runtime.gc_pauses import gc_paused
from ...schemas.documents import Chunk
from ...schemas.graph_schema import GraphSchema
from ...schemas.naming import triple_id
from ...text.times import Validity
from ..bounding.grounding import words
from ..graph.knowledge_graph import EdgeKey, KnowledgeGraph
from ..graph.resolved_graph import ResolvedGraph
from ..ledger.communities import Community
from ..vectors.vector_store import Kind, VectorStore
from . import columns
from .array_file import Arrays
from .browsing import browsing
from .lexical import postings, terms
from .name_trie import NameTrie, trie
from .stated import stated
from .typed_facts import facts_by_chunk
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
    schema: GraphSchema
    vectors: VectorStore


class _Rows(NamedTuple):
    """The row of each entity and chunk, and the triples that have a vector, sorted."""

    entities: dict[str, int]
    chunks: dict[str, int]
    edges: list[EdgeKey]


@gc_paused()
def contents(source: Source, before: Arrays) -> Made:
    """Return all arrays.

    Args:
        source: what they are made from. Triples and chunks without a vector, which a running build has not embedded
            yet, are left out; such entities are never near to anything.
        before: those of an earlier state whose vectors are of the same model; may be empty.
    """
    graph, edges = source.graph, source.graph.edges()
    ids: dict[Kind, list[str]] = {"entities": graph.entity_ids(), "triples": [triple_id(*edge) for edge in edges],
                                  "chunks": [chunk.id for chunk in source.chunks]}
    found = {kind: find_vectors(kind, own, before, source.vectors) for kind, own in ids.items()}
    stored = {kind: vectors if kind == "entities" or there.all() else vectors[there]
              for kind, (vectors, there) in found.items()}
    chunks = [source.chunks[row] for row in np.flatnonzero(found["chunks"][1]).tolist()]
    embedded = np.flatnonzero(found["triples"][1]).tolist()
    rows = _Rows({key: row for row, key in enumerate(ids["entities"])},
                 {chunk.id: row for row, chunk in enumerate(chunks)}, [edges[row] for row in embedded])
    made: Made = columns.ids("triples", [ids["triples"][row] for row in embedded])
    for kind, vectors in stored.items():
        made |= StoredVectors.of(vectors).arrays(kind)
    about = [_about(graph, key) for key in rows.entities]
    made |= _entities(graph, rows, about)
    made |= _triples(graph, rows)
    made |= browsing(about, made["triples.ends"], {
        row: community.id for community in source.finest for row in _rows_of(rows, community.members)})
    made |= _state_facts(graph, rows)
    made |= _chunks(source, chunks)
    made |= _walk(rows, chunks, made)
    made |= _communities(source.communities, rows, made, stored)
    return made


def _about(graph: KnowledgeGraph, key: str) -> list[str]:
    """Return an entity's name, its type, and its other names, sorted."""
    name = graph.name(key)
    return [name, graph.network.nodes[key]["type"], *(other for other in graph.names(key) if other != name)]


def _entities(graph: KnowledgeGraph, rows: _Rows, about: Sequence[Sequence[str]]) -> Made:
    nodes, keys = graph.network.nodes, rows.entities
    names = [(name, *others) for name, _, *others in about]
    folded = {name: words(name) for name in sorted({name for called in names for name in called})}
    # Sorted, as how the graph came to be must not show.
    attributes = (orjson.dumps(found, option=orjson.OPT_SORT_KEYS) if (found := nodes[key]["attributes"]) else b""
                  for key in keys)
    times = (orjson.dumps([(name, value, *_date(dated, nodes[key]["times"][name][value]))
                           for name, values in sorted(found.items()) for value, dated in sorted(values.items())])
             if (found := graph.validities(key)) else b"" for key in keys)
    support = ([rows.chunks[chunk] for chunk in graph.entity_support(key) if chunk in rows.chunks] for key in keys)
    values = [(words(value), row) for row, key in enumerate(keys)
              for held in nodes[key]["attributes"].values() for value in held]
    counts = np.array([len(keys), graph.network.number_of_edges(), graph.count_attributes()])
    return {"counts": counts, **columns.ids("entities", list(keys)),
            **columns.texts("entities.about", map(orjson.dumps, about)),
            **columns.texts("entities.attributes", attributes),
            **columns.texts("entities.times", times), **columns.lists("entities.chunks", support),
            **trie("names", ((folded[name], row) for row, called in enumerate(names) for name in called)),
            **trie("values", ((said, row) for said, row in values if _is_telling(said))),
            **columns.texts("spellings", folded),
            **columns.texts("name_words", sorted({word for said in folded.values() for word in said}))}


def _is_telling(value: Sequence[str]) -> bool:
    """Return True if entities are asked for by a value: it is short, and no mere number."""
    return len(value) <= _WORDS_OF_A_VALUE and not all(word.isdecimal() for word in value)


def _triples(graph: KnowledgeGraph, rows: _Rows) -> Made:
    relations = sorted({relation for _, relation, _ in rows.edges})
    number = {relation: row for row, relation in enumerate(relations)}
    ends = np.array([(rows.entities[head], number[relation], rows.entities[tail])
                     for head, relation, tail in rows.edges], np.int32).reshape(-1, 3)
    support = [(row, rows.chunks[chunk], int(start), int(end)) for row, (head, relation, tail) in enumerate(rows.edges)
               for chunk, (start, end, *_) in sorted(graph.network.edges[head, tail, relation]["support"].items())
               if chunk in rows.chunks]
    owners, chunks, *spans = np.array(support, np.int32).reshape(-1, 4).T
    numbers, loops = np.arange(len(ends)), ends[:, 0] == ends[:, 2]
    times = (orjson.dumps(_date(dated, graph.network.edges[edge[0], edge[2], edge[1]]["times"]))
             if (dated := graph.validity(edge)).times else b"" for edge in rows.edges)
    return {"triples.ends": ends, "triples.spans": np.stack(spans, axis=1), "triples.chunks.values": chunks,
            "triples.chunks.starts": columns.starts(np.bincount(owners, minlength=len(ends))),
            **columns.texts("triples.times", times), **columns.texts("relations", relations),
            **columns.inverted("entities.triples", np.concatenate([ends[:, 0], ends[~loops, 2]]),
                               np.concatenate([numbers, numbers[~loops]]), len(rows.entities)),
            **columns.inverted("relations.triples", ends[:, 1], numbers, len(relations)),
            **columns.inverted("chunks.triples", chunks, owners, len(rows.chunks))}


def _date(validity: Validity, times: Mapping[str, Mapping[str, Any]]) -> tuple[list[str], list[str], list[str]]:
    """Return the words that say when a fact holds, when a later one follows it, and the chunks with these words."""
    return ([time.words for time in validity.times], list(validity.later),
            sorted({chunk for places in times.values() for chunk in places}))


def _state_facts(graph: ResolvedGraph, rows: _Rows) -> Made:
    corrected = graph.corrections()
    held = set(corrected.values())
    number = {edge: row for row, edge in enumerate(rows.edges) if edge in held}
    return stated({entity: rows.entities[node] for entity, node in graph.nodes_of_aliases().items()},
                  {said: -1 if edge is None else number.get(edge, -1) for said, edge in corrected.items()})


def _chunks(source: Source, chunks: Sequence[Chunk]) -> Made:
    documents = list(dict.fromkeys(chunk.document_id for chunk in chunks))
    number = {key: row for row, key in enumerate(documents)}
    spoken = [terms(chunk.titled_text()) for chunk in chunks]
    by_chunk = postings("chunks.words", spoken)
    found = facts_by_chunk(source.graph, source.schema)
    facts = (orjson.dumps([fact.model_dump() for fact in found[chunk.id]]) if chunk.id in found else b""
             for chunk in chunks)
    return {**columns.ids("chunks", [chunk.id for chunk in chunks]),
            **columns.texts("chunks.about", (orjson.dumps(chunk.model_dump()) for chunk in chunks)),
            **columns.texts("chunks.facts", facts),
            "chunks.documents": np.array([number[chunk.document_id] for chunk in chunks], np.int32),
            **by_chunk, **_documents(chunks, [number[chunk.document_id] for chunk in chunks], spoken, by_chunk)}


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
