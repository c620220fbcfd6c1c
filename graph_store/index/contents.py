"""Build the arrays of the index, from which retrieval reads a knowledge base.

Rows are the numbers of entities, in the order of their ids, of triples in that of their keys, of chunks in that of
documents and positions, and of communities in that of their ids.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from ...models.embedding.embedder import Vectors
from ...schemas.documents import Chunk
from ...schemas.naming import normalise, relation_id, triple_id
from ...text.titles import plain_title
from ..bounding.words import without_aside, words
from ..graph.graph_columns import TABLES, GraphColumns, LaterDates, find_firsts
from ..graph.knowledge_graph import EntityLabels, KnowledgeGraph
from ..ledger.communities import TreeCommunity
from ..vectors.vector_store import Kind
from .index_file import (
    Arrays,
    Ids,
    LazySequence,
    Texts,
    build_ids,
    build_inverted,
    build_lists,
    build_texts,
    build_words,
    list_starts,
    read_lists,
)
from .lexical import NameTrie, build_postings, build_trie, index_terms

NewArrays = dict[str, NDArray[Any]]
Pairs = NDArray[np.int32]
_WORDS_OF_A_VALUE = 8
"""The most words, or Chinese characters, of an attribute value that is indexed; longer ones are sentences."""


def build_index(graph: KnowledgeGraph, chunks: Sequence[Chunk], communities: Sequence[TreeCommunity],
                finest: Sequence[TreeCommunity], vectors: Callable[[Kind, Sequence[str]], Vectors]) -> NewArrays:
    """Return all arrays of the index, made from one state of the knowledge base.

    `communities` are those that retrieval searches, `finest` all of the finest level, described or not; `vectors`
    returns the vectors of ids, shape (ids, d).
    """
    ids: dict[Kind, list[str]] = {"entities": graph.entity_ids(), "chunks": [chunk.id for chunk in chunks],
                                  "triples": [triple_id(*edge) for edge in graph.iterate_edges()],
                                  "relations": sorted(map(relation_id, {*graph.relations(), *graph.attribute_names()}))}
    made: NewArrays = build_ids("triples", ids["triples"]) | build_ids("relations", ids["relations"])
    made |= build_graph_arrays(graph)
    made |= {f"{kind}.vectors": vectors(kind, kind_ids) for kind, kind_ids in ids.items()}
    labels = [graph.labels_of(row) for row in range(graph.count_entities())]
    made |= _build_entities(graph, labels)
    made |= _build_chunks(chunks)
    # The row of the chunk whose id is a text of the graph, by the text's number; -1 for other texts.
    rows = np.full(len(graph.columns.texts), -1, np.int32)
    for row, chunk in enumerate(chunks):
        if (number := graph.columns.number_of(chunk.id)) >= 0:
            rows[number] = row
    # The rows of the chunks that mention each entity, as `Lists`, in the order of the chunks' ids.
    mentioning, mentioned_in = graph.mention_pairs()  # sorted by entity
    mention_rows = rows[mentioned_in]  # negative: a chunk that is not in the index
    counts = np.bincount(mentioning[mention_rows >= 0], minlength=graph.count_entities())
    made |= {"entities.chunks.values": mention_rows[mention_rows >= 0],
             "entities.chunks.starts": list_starts(counts)}
    made |= _build_ranks(graph, labels, made)
    # The ids of the finest communities, and for each entity the number of its community; -1 for none.
    community_of = np.full(graph.count_entities(), -1, np.int32)
    ordered = sorted(finest, key=lambda community: community.id)
    for place, community in enumerate(ordered):
        community_of[_rows_of(graph, community.members)] = place
    made |= build_ids("finest", [community.id for community in ordered]) | {"entities.finest": community_of}
    made |= _build_walk(graph, chunks, made)
    made |= _build_communities(communities, graph, made)
    return made


def _build_entities(graph: KnowledgeGraph, labels: Sequence[EntityLabels]) -> NewArrays:
    """Return the arrays by which entities are found: by name and by attribute value."""
    names = [(name, *others) for name, _, others in labels]
    name_words = set[str]()

    def fold_spellings() -> Iterator[tuple[list[str], int]]:
        """Yield the folded words of each name, with its entity's row; collect the words in `name_words`."""
        for row, names_of_entity in enumerate(names):
            for folded in map(words, names_of_entity):
                name_words.update(folded)
                yield folded, row

    texts, table = graph.columns.texts, graph.columns.values
    firsts = np.flatnonzero(find_firsts(table.entity, table.attribute, table.value))
    values = ((words(texts[value]), entity) for entity, value in zip(
        table.entity[firsts].tolist(), table.value[firsts].tolist(), strict=True))
    counts = np.array([graph.count_entities(), graph.count_triples(), graph.count_attributes()])
    return {"counts": counts, **build_trie("names", fold_spellings()),
            # A question names an entity by a value that is short, and not only numbers.
            **build_trie("values", ((value, entity) for value, entity in values if len(value) <= _WORDS_OF_A_VALUE
                                    and not all(word.isdecimal() for word in value))),
            **build_texts("spellings", sorted({name for names_of_entity in names for name in names_of_entity})),
            **build_texts("name_words", sorted(name_words))}


def _build_ranks(graph: KnowledgeGraph, labels: Sequence[EntityLabels], made: NewArrays) -> NewArrays:
    """Return the order of the entities: by their mentions, then by their facts, then by name.

    A mention in a further document counts more than one in a further chunk of a document, by the square root of the
    chunks of each. So the persons of a novel are ranked, although it is one document.
    """
    mentioned = read_lists(made, "entities.chunks")
    owners = np.repeat(np.arange(len(mentioned)), np.diff(mentioned.starts))
    pairs, chunks = np.unique(np.stack([owners, made["chunks.documents"][mentioned.values]]), axis=1,
                              return_counts=True)
    documents = np.bincount(pairs[0], minlength=len(mentioned)).astype(np.int32)
    mentions = np.bincount(pairs[0], weights=np.sqrt(chunks), minlength=len(mentioned)).tolist()
    degrees = np.bincount(graph.columns.triples[:, [0, 2]].reshape(-1), minlength=len(labels)).tolist()
    ranked = sorted(range(len(labels)), key=lambda row: (-mentions[row], -degrees[row], labels[row].name, row))
    # A line break before, between and after the names shows where a name begins and ends (`find_containing`).
    folded = ("\n".join(("", *dict.fromkeys(map(normalise, (name, *others))), "")) for name, _, others in labels)
    return {"entities.ranked": np.array(ranked, np.int32), "entities.documents": documents,
            **build_texts("entities.folded", folded)}


def _build_chunks(chunks: Sequence[Chunk]) -> NewArrays:
    """Return the arrays of chunks and their documents: ids, contents, titles, and the words for BM25."""
    documents = list(dict.fromkeys(chunk.document_id for chunk in chunks))
    row_of = {key: row for row, key in enumerate(documents)}
    owners = [row_of[chunk.document_id] for chunk in chunks]
    interned: dict[str, str] = {}  # so that each distinct word is in memory once
    title_terms = lru_cache(maxsize=512)(index_terms)  # neighbouring chunks share what stands above them

    def interned_terms(words: list[str]) -> list[str]:
        return [interned.setdefault(word, word) for word in words]

    text_terms = [interned_terms(index_terms(chunk.text)) for chunk in chunks]
    chunk_terms = [[*interned_terms(title_terms(chunk.titled_text()[:-len(chunk.text) or None])), *own_terms]
                   for chunk, own_terms in zip(chunks, text_terms, strict=True)]
    titles, documents_of = {chunk.document_id: chunk.title for chunk in chunks}, dict[str, list[int]]()
    for row, (key, title) in enumerate(titles.items()):
        for name in dict.fromkeys(normalise(plain_title(text)) for text in (key, title)):
            documents_of.setdefault(name, []).append(row)
    return {**build_ids("chunks", [chunk.id for chunk in chunks]),
            **build_texts("chunks.about", (orjson.dumps(chunk.model_dump()) for chunk in chunks)),
            "chunks.documents": np.array(owners, np.int32),
            **build_postings("chunks.words", chunk_terms), **_build_documents(owners, chunk_terms, text_terms),
            **build_texts("documents.ids", titles), **build_texts("documents.titles", titles.values()),
            **build_words("documents.called", documents_of),
            **build_lists("documents.of_name", documents_of.values())}


def _build_documents(owners: Sequence[int], chunk_terms: Sequence[list[str]],
                     text_terms: Sequence[list[str]]) -> NewArrays:
    """Return the BM25 arrays of whole documents; none if these are the chunks.

    The terms of a chunk include those of its title; those of its text do not.
    """
    if len(set(owners)) == len(owners):
        return {}
    document_terms: list[list[str]] = [[] for _ in set(owners)]
    for owner, titled_terms, own_terms in zip(owners, chunk_terms, text_terms, strict=True):
        # The title counts once: with the document's first chunk.
        document_terms[owner] += own_terms if document_terms[owner] else titled_terms
    return build_postings("documents.words", document_terms)


def _build_walk(graph: KnowledgeGraph, chunks: Sequence[Chunk], made: NewArrays) -> NewArrays:
    """Return the graph for random walks, and for each entity the chunks of documents about it."""
    mentioned, entities = read_lists(made, "entities.chunks"), graph.count_entities()
    names = NameTrie(made, "names", graph.columns.ids.__getitem__)

    @cache
    def rows_in(title: str) -> list[tuple[int, bool]]:
        """Return the rows of the entities that a title names, each with whether the name is the whole title."""
        title_end = len(without_aside(title))  # without the note of "Solaris (1972 film)"
        return [(graph.row(entity), span.start == 0 and span.end >= title_end)
                for span in names.find(title) for entity in span.entities]

    pairs = np.array([(entity, row, is_whole) for row, chunk in enumerate(chunks)
                      for entity, is_whole in rows_in(chunk.title)], np.int32).reshape(-1, 3)
    in_title, whole_title = pairs[:, :2], pairs[pairs[:, 2] == 1, :2]
    owners = np.repeat(np.arange(entities), np.diff(mentioned.starts))
    # The nodes of the graph are the entities, followed by the chunks.
    return {**build_inverted("entities.titled", whole_title[:, 0], whole_title[:, 1], entities),
            **build_steps("walk", entities + len(chunks), np.concatenate([owners, in_title[:, 0]]),
                          np.concatenate([mentioned.values, in_title[:, 1]]) + entities)}


def build_steps(name: str, nodes: int, rows: NDArray[Any], ends: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Build the arrays for a step of a walk over undirected edges between nodes, given by their two ends.

    They are the neighbours of each node, as `Lists`, and the share of its weight that it sends to each: `shares`.
    """
    made = build_inverted(name, np.concatenate([rows, ends]), np.concatenate([ends, rows]), nodes)
    degrees = np.diff(made[f"{name}.starts"])
    shares = np.repeat(1 / np.maximum(degrees, 1), degrees)
    return made | {f"{name}.shares": shares.astype(np.float32)}


def _build_communities(communities: Sequence[TreeCommunity], graph: KnowledgeGraph, made: NewArrays) -> NewArrays:
    incident, mentioned = graph.columns.incident, read_lists(made, "entities.chunks")
    triples, entities = made["triples.vectors"], made["entities.vectors"]
    members = [_rows_of(graph, community.members) for community in communities]
    vectors = np.zeros((len(members), triples.shape[1]), np.float32)
    for place, (member_rows, community) in enumerate(zip(members, communities, strict=True)):
        # The unit vector of the mean of a community's triples, or of its keywords if it has no triples.
        own = triples[incident.unite(member_rows)]
        own = own if len(own) else entities[_rows_of(graph, community.keywords)]
        if len(own):
            mean = own.mean(axis=0)
            vectors[place] = mean / (np.linalg.norm(mean) or 1)
    return {**build_ids("communities", [community.id for community in communities]),
            **build_texts("communities.about", (orjson.dumps(one.model_dump()) for one in communities)),
            **build_lists("communities.chunks", (mentioned.unite(member_rows) for member_rows in members)),
            "communities.vectors": vectors}


def _rows_of(graph: KnowledgeGraph, entities: Iterable[str]) -> list[int]:
    return [graph.row(entity) for entity in entities if entity in graph]


def build_graph_arrays(graph: KnowledgeGraph) -> dict[str, NDArray[Any]]:
    """Build the arrays of `read_graph`."""
    stored = graph.columns
    later = {"triples": list(graph.later.triples.items()), "values": list(graph.later.values.items())}
    return {**build_ids("entities", stored.ids), **build_texts("graph.texts", stored.texts),
            "graph.types": stored.types, "graph.names": stored.names, "graph.triples": stored.triples,
            "graph.later": np.frombuffer(orjson.dumps(later), np.uint8),
            **{f"{name}.{column}": values for name in TABLES
               for column, values in getattr(stored, name)._asdict().items()}}


def read_graph(arrays: Arrays) -> tuple[GraphColumns, LaterDates]:
    """Return the graph that `build_graph_arrays` stored in an index; its arrays are not copied."""
    ids, later = Ids(arrays, "entities"), orjson.loads(arrays["graph.later"].tobytes())
    tables: dict[str, Any] = {name: table(*(arrays[f"{name}.{column}"] for column in table._fields))
                              for name, table in TABLES.items()}
    return (GraphColumns(Texts(arrays, "graph.texts"), LazySequence(len(ids), ids.at), arrays["graph.types"],
                         arrays["graph.names"], arrays["graph.triples"], **tables),
            LaterDates(dict(later["triples"]), {tuple(key): dates for key, dates in later["values"]}))
