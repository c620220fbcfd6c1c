"""Build the arrays of the index, from which retrieval reads a knowledge base, and walk over its graph.

Rows are the numbers of entities, in the order of their ids, of triples in that of their keys, of chunks in that of
documents and positions, and of communities in that of their ids.
"""

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from ...models.embedding.embedder import Vectors
from ...schemas.documents import Chunk
from ...schemas.naming import normalise, relation_id, triple_id
from ...text.section_lines import plain_title
from ..bounding.words import without_aside, words
from ..graph.graph_columns import TABLES, GraphColumns, LaterDates, find_firsts
from ..graph.knowledge_graph import EntityLabels, KnowledgeGraph
from ..ledger.entity_rows import TreeCommunity
from ..vectors.vector_store import Kind
from . import index_file
from .index_file import Arrays, build_ids, build_inverted, build_lists, build_texts, read_lists
from .lexical import NameTrie, build_postings, build_trie, index_terms

NewArrays = dict[str, NDArray[Any]]
_MOST_WORDS = 8  # words, or Chinese characters, of an attribute value that is indexed; longer ones are sentences
# The share of weight that goes on at each step; the rest restarts at the seeds. HippoRAG's is 0.5. On our own multi-hop
# questions 0.5 to 0.7 are alike within chance (benchmarks/fusion_sweep.py), and 0.7 finds most in 10 and 20 passages.
DAMPING = 0.7
# The most that the weights, which sum to 1, may differ from the stationary ones: less than the gaps between the first
# 20 chunks of a question. On 198 questions of benchmarks/questions the order of these chunks is that of 1e-8; 1e-4
# changes it for one question, 1e-3 for ten.
_ERROR = 3e-5
# After n steps of the semi-iteration the error is at most 2 r^n, with this rate r.
_RATE = DAMPING / (1 + math.sqrt(1 - DAMPING**2))
_ITERATIONS = math.ceil(math.log(_ERROR / 2) / math.log(_RATE))



def build_index(graph: KnowledgeGraph, chunks: Sequence[Chunk], communities: Sequence[TreeCommunity],
                finest: Sequence[TreeCommunity], vectors: Callable[[Kind, Sequence[str]], Vectors]) -> NewArrays:
    """Return all arrays of the index, made from one state of the knowledge base.

    `communities` are those that retrieval searches, `finest` all of the finest level, described or not; `vectors`
    returns the vectors of ids, shape (ids, d).
    """
    ids: dict[Kind, list[str]] = {"entities": graph.entity_ids(), "chunks": [chunk.id for chunk in chunks],
                                  "triples": [triple_id(*edge) for edge in graph.edges()],
                                  "relations": sorted(map(relation_id, {*graph.relations(), *graph.attribute_names()}))}
    arrays: NewArrays = build_ids("triples", ids["triples"]) | build_ids("relations", ids["relations"])
    arrays |= build_graph_arrays(graph)
    arrays |= {f"{kind}.vectors": vectors(kind, kind_ids) for kind, kind_ids in ids.items()}
    labels = [graph.labels_of(row) for row in range(graph.count_entities())]
    arrays |= _build_names(graph, labels)
    arrays |= _build_chunks(chunks)
    arrays |= _build_mentions(graph, chunks)
    arrays |= _build_ranks(graph, labels, arrays)
    arrays |= _build_walk(graph, chunks, arrays)
    arrays |= _build_communities(communities, finest, graph, arrays)
    return arrays


def _build_mentions(graph: KnowledgeGraph, chunks: Sequence[Chunk]) -> NewArrays:
    """Return the rows of the chunks that mention each entity, as `Lists`, in the order of the chunks' ids."""
    # By the number of a chunk's id among the graph's texts.
    chunk_row = np.full(len(graph.columns.texts) + 1, -1, np.int32)
    for row, chunk in enumerate(chunks):
        chunk_row[graph.columns.number_of(chunk.id)] = row  # -1, the last place, is of chunks without mentions
    entities, chunk_numbers = graph.mention_pairs()  # sorted by entity
    rows = chunk_row[chunk_numbers]
    is_indexed = rows >= 0
    counts = np.bincount(entities[is_indexed], minlength=graph.count_entities())
    return {"entities.chunks.values": rows[is_indexed], "entities.chunks.starts": index_file.list_starts(counts)}


def _build_names(graph: KnowledgeGraph, labels: Sequence[EntityLabels]) -> NewArrays:
    """Return the arrays by which entities are found: by name, and by values with which a question may name them."""
    spellings = [(name, row) for row, one in enumerate(labels) for name in (one.name, *one.other_names)]
    texts, values = graph.columns.texts, graph.columns.values
    is_first = find_firsts(values.entity, values.attribute, values.value)
    named_by_value = list[tuple[list[str], int]]()
    for entity, value in zip(values.entity[is_first].tolist(), values.value[is_first].tolist(), strict=True):
        value_words = words(texts[value])  # numbers alone name no entity
        if len(value_words) <= _MOST_WORDS and not all(map(str.isdecimal, value_words)):
            named_by_value.append((value_words, entity))
    return {"counts": np.array([graph.count_entities(), graph.count_triples(), graph.count_attributes()]),
            **build_trie("names", ((words(name), row) for name, row in spellings)),
            **build_trie("values", named_by_value), **build_texts("spellings", sorted({name for name, _ in spellings}))}


def _build_ranks(graph: KnowledgeGraph, labels: Sequence[EntityLabels], arrays: NewArrays) -> NewArrays:
    """Return the order of the entities: by mentions (of a document the square root of its chunks), facts, then name."""
    mentioned = read_lists(arrays, "entities.chunks")
    owners = np.repeat(np.arange(len(mentioned)), np.diff(mentioned.starts))
    # The distinct pairs of an entity and a document that mentions it, with the number of its chunks that do.
    (entities, _), chunk_counts = np.unique(np.stack([owners, arrays["chunks.documents"][mentioned.values]]), axis=1,
                                            return_counts=True)
    document_counts = np.bincount(entities, minlength=len(mentioned)).astype(np.int32)
    # With the square root, an entity of many documents comes before one of a single long document.
    mentions = np.bincount(entities, weights=np.sqrt(chunk_counts), minlength=len(mentioned)).tolist()
    degrees = np.bincount(graph.columns.triples[:, [0, 2]].reshape(-1), minlength=len(labels)).tolist()
    ranked = sorted(range(len(labels)), key=lambda row: (-mentions[row], -degrees[row], labels[row].name, row))
    # A line break before, between and after the names shows where a name begins and ends (`find_containing`).
    folded = ("\n".join(("", *dict.fromkeys(map(normalise, (name, *others))), "")) for name, _, others in labels)
    return {"entities.ranked": np.array(ranked, np.int32), "entities.documents": document_counts,
            **build_texts("entities.folded", folded)}


def _build_chunks(chunks: Sequence[Chunk]) -> NewArrays:
    """Return the arrays of chunks and their documents: ids, contents, titles, and the words for BM25."""
    titles = {chunk.document_id: chunk.title for chunk in chunks}
    row_of = {document: row for row, document in enumerate(titles)}
    owners = [row_of[chunk.document_id] for chunk in chunks]
    terms_above = lru_cache(maxsize=512)(index_terms)  # neighbouring chunks share the title and headings above them
    chunk_terms: list[list[str]] = []
    document_terms: list[list[str]] = [[] for _ in titles]
    for owner, chunk in zip(owners, chunks, strict=True):
        own_terms = [sys.intern(term) for term in index_terms(chunk.text)]
        above = chunk.titled_text().removesuffix(chunk.text)
        chunk_terms.append([*map(sys.intern, terms_above(above)), *own_terms])
        # The title counts once: with the document's first chunk, which has it in front of its own terms.
        document_terms[owner] += own_terms if document_terms[owner] else chunk_terms[-1]
    documents_of: dict[str, list[int]] = {}
    for row, (document, title) in enumerate(titles.items()):
        for name in dict.fromkeys((normalise(plain_title(document)), normalise(plain_title(title)))):
            documents_of.setdefault(name, []).append(row)
    return {**build_ids("chunks", [chunk.id for chunk in chunks]),
            **build_texts("chunks.about", (orjson.dumps(chunk.model_dump()) for chunk in chunks)),
            "chunks.documents": np.array(owners, np.int32),
            **build_postings("chunks.words", chunk_terms), **build_postings("documents.words", document_terms),
            **build_texts("documents.ids", titles), **build_texts("documents.titles", titles.values()),
            **index_file.build_words("documents.called", documents_of),
            **build_lists("documents.of_name", documents_of.values())}


def _build_walk(graph: KnowledgeGraph, chunks: Sequence[Chunk], arrays: NewArrays) -> NewArrays:
    """Return the graph of entities and the chunks that mention or by their title name them, and `entities.titled`."""
    mentioned, entity_count = read_lists(arrays, "entities.chunks"), graph.count_entities()
    names = NameTrie(arrays, "names", graph.columns.ids.__getitem__)

    @cache
    def entities_named_in(title: str) -> list[tuple[int, bool]]:
        """Return the rows of the entities that a title names, each with whether the name is the whole title."""
        title_end = len(without_aside(title))  # without the note of "Solaris (1972 film)"
        return [(graph.row(entity), span.start == 0 and span.end >= title_end)
                for span in names.find(title) for entity in span.entities]

    titled = list[tuple[int, int, bool]]()
    for row, chunk in enumerate(chunks):
        titled += [(entity, row, is_whole) for entity, is_whole in entities_named_in(chunk.title)]
    titled_entities, titled_rows, is_whole_title = np.array(titled, np.int32).reshape(-1, 3).T
    is_about = is_whole_title == 1
    owners = np.repeat(np.arange(entity_count), np.diff(mentioned.starts))
    # The nodes of the graph are the entities, followed by the chunks.
    rows = np.concatenate([owners, titled_entities])
    ends = np.concatenate([mentioned.values, titled_rows]) + entity_count
    # For each node its neighbours, as `Lists`, and the share of its weight that a walk sends to each.
    node_count = entity_count + len(chunks)
    walk = build_inverted("walk", np.concatenate([rows, ends]), np.concatenate([ends, rows]), node_count)
    degrees = np.diff(walk["walk.starts"])
    walk["walk.shares"] = np.repeat(1 / np.maximum(degrees, 1), degrees).astype(np.float32)
    # For each entity the chunks whose whole title is its name.
    return walk | build_inverted("entities.titled", titled_entities[is_about], titled_rows[is_about], entity_count)


def _build_communities(communities: Sequence[TreeCommunity], finest: Iterable[TreeCommunity], graph: KnowledgeGraph,
                       arrays: NewArrays) -> NewArrays:
    """Return the arrays of communities; one's vector is the mean of its triples or, without any, of its keywords."""
    def rows_of(entities: Iterable[str]) -> list[int]:
        return [graph.row(entity) for entity in entities if entity in graph]

    finest_of = np.full(graph.count_entities(), -1, np.int32)  # the number of each entity's community; -1 for none
    ordered = sorted(finest, key=lambda community: community.id)
    for number, community in enumerate(ordered):
        finest_of[rows_of(community.members)] = number
    incident, mentioned = graph.columns.incident, read_lists(arrays, "entities.chunks")
    triples, entities = arrays["triples.vectors"], arrays["entities.vectors"]
    members = [rows_of(community.members) for community in communities]
    vectors = np.zeros((len(members), triples.shape[1]), np.float32)
    for place, (member_rows, community) in enumerate(zip(members, communities, strict=True)):
        triple_rows = incident.unite(member_rows)
        own = triples[triple_rows] if len(triple_rows) else entities[rows_of(community.keywords)]
        if len(own):  # else it keeps a vector of zeros, which is near nothing
            mean = own.mean(axis=0)
            vectors[place] = mean / (np.linalg.norm(mean) or 1)
    return {**build_ids("finest", [community.id for community in ordered]), "entities.finest": finest_of,
            **build_ids("communities", [community.id for community in communities]),
            **build_texts("communities.about", (orjson.dumps(one.model_dump()) for one in communities)),
            **build_lists("communities.chunks", (mentioned.unite(member_rows) for member_rows in members)),
            "communities.vectors": vectors}


def build_graph_arrays(graph: KnowledgeGraph) -> dict[str, NDArray[Any]]:
    """Build the arrays of `read_graph`."""
    stored = graph.columns
    later = {"triples": list(graph.later.triples.items()), "values": list(graph.later.values.items())}
    arrays = {**build_ids("entities", stored.ids), **build_texts("graph.texts", stored.texts),
              "graph.types": stored.types, "graph.names": stored.names, "graph.triples": stored.triples,
              "graph.later": np.frombuffer(orjson.dumps(later), np.uint8)}
    for name in TABLES:
        arrays |= {f"{name}.{column}": values for column, values in getattr(stored, name)._asdict().items()}
    return arrays


def read_graph(arrays: Arrays) -> tuple[GraphColumns, LaterDates]:
    """Return the graph that `build_graph_arrays` stored in an index; its arrays are not copied."""
    ids, later = index_file.Ids(arrays, "entities"), orjson.loads(arrays["graph.later"].tobytes())
    tables: dict[str, Any] = {name: table(*(arrays[f"{name}.{column}"] for column in table._fields))
                              for name, table in TABLES.items()}
    texts, entity_ids = index_file.Texts(arrays, "graph.texts"), index_file.LazySequence(len(ids), ids.at)
    return (GraphColumns(texts, entity_ids, arrays["graph.types"], arrays["graph.names"], arrays["graph.triples"],
                         **tables),
            LaterDates(dict(later["triples"]), {tuple(key): dates for key, dates in later["values"]}))


class SpreadingGraph:
    """Personalised PageRank: a random walk over nodes numbered entities first, then chunks."""

    def __init__(self, arrays: Arrays, name: str) -> None:
        # Slow to import, and not needed by the page's views.
        from scipy.sparse import csr_array  # noqa: PLC0415

        starts = arrays[f"{name}.starts"]
        size = len(starts) - 1
        # What arrives at a node is a sum over the nodes with an edge to it.
        self._arriving = csr_array((arrays[f"{name}.shares"], arrays[f"{name}.values"], starts), (size, size)).T

    def spread(self, seeds: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the stationary weights of all nodes, summing to 1, of a walk that restarts by the weights of seeds."""
        # Chebyshev's semi-iteration: each step is a weighted mean of the plain step and the weights before the last
        # one, which needs about half as many steps as repeating the plain one. Its shares are 0, 1/2, then always 1/4.
        restart = seeds / np.float32(seeds.sum() or 1)
        damping, restarted = np.float32(DAMPING), np.float32(1 - DAMPING) * restart
        previous, weights, factor = np.zeros_like(restart), restart, 1.0
        for share in (0.0, 0.5, *(0.25,) * (_ITERATIONS - 2)):
            factor = 1 / (1 - share * DAMPING**2 * factor)
            plain_step = damping * (self._arriving @ weights) + restarted
            previous, weights = weights, np.float32(factor) * plain_step + np.float32(1 - factor) * previous
        stationary: NDArray[np.float32] = np.maximum(weights, 0)  # a weighted mean may fall below 0 by the error
        return stationary
