"""The arrays that retrieval keeps in memory for a knowledge base: built once, read by every question."""

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..graph_store.bounding.grounding import words
from ..graph_store.graph.knowledge_graph import EdgeKey
from ..graph_store.knowledge_base import KnowledgeBase
from ..graph_store.ledger.communities import Community
from ..graph_store.tree.features import unit
from ..models.embedding.embedder import Vectors
from ..schemas.documents import Chunk
from ..schemas.naming import triple_id
from ..schemas.retrieval import TypedFact
from .best import Rows
from .lexical import LexicalIndex
from .names import NameTrie
from .spreading import SpreadingGraph
from .typed_facts import facts_by_chunk


class Fact(NamedTuple):
    """A triple as evidence shows it: its words, the chunks that support it, and its head and tail."""

    text: str
    chunk_ids: tuple[str, ...]
    ends: tuple[str, str]


class RetrievalIndex:
    """Arrays and look-ups over one state of a knowledge base. Read-only, safe for many threads."""

    def __init__(self, knowledge_base: KnowledgeBase) -> None:
        """Read the knowledge base as it is now."""
        self.store = knowledge_base
        self.graph = knowledge_base.graph
        self.embedder = knowledge_base.embedder
        self.chunks: list[Chunk] = knowledge_base.searchable_chunks()
        self.chunk_row = {chunk.id: row for row, chunk in enumerate(self.chunks)}
        self.chunk_vectors = knowledge_base.vectors.get("chunks", [chunk.id for chunk in self.chunks])
        self.lexical = LexicalIndex([chunk.titled_text() for chunk in self.chunks])
        self.entity_ids = self.graph.entity_ids()
        self.entity_row = {key: row for row, key in enumerate(self.entity_ids)}
        self.reliability = knowledge_base.reliability.current()
        self._facts: dict[int, Fact] = {}

    @cached_property
    def documents(self) -> tuple[LexicalIndex, np.ndarray]:
        """The lexical index of whole documents, and the document's number of each chunk."""
        ids = list(dict.fromkeys(chunk.document_id for chunk in self.chunks))
        number = {key: row for row, key in enumerate(ids)}
        texts: list[list[str]] = [[] for _ in ids]
        for chunk in self.chunks:
            texts[number[chunk.document_id]].append(chunk.text if texts[number[chunk.document_id]]
                                                    else chunk.titled_text())
        return (LexicalIndex(["\n".join(parts) for parts in texts]),
                np.array([number[chunk.document_id] for chunk in self.chunks], np.intp))

    @cached_property
    def typed_facts(self) -> dict[str, tuple[TypedFact, ...]]:
        """The dates and numbers of each chunk."""
        return facts_by_chunk(self.graph, self.store.schemas.current())

    @cached_property
    def names(self) -> NameTrie:
        """The trie of all entities' names."""
        return NameTrie((name, key) for key in self.entity_ids for name in self.graph.names(key))

    @cached_property
    def spellings(self) -> list[str]:
        """All names of entities, sorted."""
        return sorted({name for key in self.entity_ids for name in self.graph.names(key)})

    @cached_property
    def name_words(self) -> list[str]:
        """The folded words of all names, sorted."""
        return sorted({word for name in self.spellings for word in words(name)})

    @cached_property
    def edge_of(self) -> dict[str, EdgeKey]:
        """The graph's triples by their ids in the vector store, sorted by key.

        A triple that a running build has not embedded yet is left out, as chunks are.
        """
        edges = {triple_id(*edge): edge for edge in self.graph.edges()}
        absent = set(self.store.vectors.missing("triples", list(edges)))
        return {key: edge for key, edge in edges.items() if key not in absent}

    @cached_property
    def edges(self) -> list[EdgeKey]:
        """The triple of each row of `triple_vectors`."""
        return list(self.edge_of.values())

    def fact(self, row: int) -> Fact:
        """The triple of a row; its text is made when first needed."""
        if row not in self._facts:
            edge = self.edges[row]
            self._facts[row] = Fact(self.graph.triple(edge).text(), tuple(self.graph.triple_support(edge)),
                                    (edge[0], edge[2]))
        return self._facts[row]

    @cached_property
    def triple_vectors(self) -> Vectors:
        """The vectors of all triples, for walks that look at many of them, shape (triples, d)."""
        return self.store.vectors.get("triples", list(self.edge_of))

    @cached_property
    def incident_rows(self) -> dict[str, Rows]:
        """For each entity of any triple the rows of its triples, ascending."""
        rows: dict[str, list[int]] = {}
        for row, (head, _, tail) in enumerate(self.edges):
            for end in {head, tail}:
                rows.setdefault(end, []).append(row)
        return {key: np.array(numbers, np.intp) for key, numbers in rows.items()}

    @cached_property
    def relation_rows(self) -> dict[str, Rows]:
        """For each relation the rows of its triples, ascending."""
        rows: dict[str, list[int]] = {}
        for row, (_, relation, _) in enumerate(self.edges):
            rows.setdefault(relation, []).append(row)
        return {key: np.array(numbers, np.intp) for key, numbers in rows.items()}

    @cached_property
    def chunk_triples(self) -> dict[str, list[int]]:
        """For each chunk the rows of the triples that it supports, ascending."""
        rows: dict[str, list[int]] = {}
        for row, edge in enumerate(self.edges):
            for chunk in self.graph.triple_support(edge):
                rows.setdefault(chunk, []).append(row)
        return rows

    @cached_property
    def communities(self) -> dict[str, Community]:
        """The communities that are described, by id."""
        return {community.id: community for community in self.store.communities.searchable()}

    @cached_property
    def community_vectors(self) -> tuple[list[str], Vectors]:
        """The communities by id, and a unit vector of each, shape (communities, d).

        The mean of its members' triples; where they have none, of its keywords' names. No text is embedded for a
        community, however often it changes, and all its triples count: a model truncates long texts.
        """
        rows = {key: self.rows_of(community.members) for key, community in self.communities.items()}
        names = sorted({name for key, community in self.communities.items() if not len(rows[key])
                        for name in community.keywords})
        absent = set(self.store.vectors.missing("entities", names))
        there = [name for name in names if name not in absent]
        named = dict(zip(there, self.store.vectors.get("entities", there), strict=True))
        parts = {key: self.triple_vectors[rows[key]] if len(rows[key]) else
                 np.array([named[name] for name in community.keywords if name in named], np.float32)
                 for key, community in self.communities.items()}
        ids = [key for key, part in parts.items() if len(part)]
        means = [parts[key].mean(axis=0) for key in ids]
        return ids, unit(np.array(means, np.float32).reshape(len(ids), self.embedder.dimension))

    def rows_of(self, entities: Iterable[str]) -> Rows:
        """The rows of all triples of some entities, ascending."""
        numbers = [self.incident_rows[key] for key in entities if key in self.incident_rows]
        return np.unique(np.concatenate(numbers)) if numbers else np.zeros(0, np.intp)

    @cached_property
    def community_chunks(self) -> dict[str, Rows]:
        """For each community the rows of the chunks that mention one of its members, ascending."""
        support = dict(zip(self.entity_ids, self.support, strict=True))
        rows = {key: {row for member in community.members for row in support.get(member, ())}
                for key, community in self.communities.items()}
        return {key: np.array(sorted(numbers), np.intp) for key, numbers in rows.items()}

    @cached_property
    def support(self) -> list[list[int]]:
        """For each entity the rows of the chunks that mention it."""
        return [[self.chunk_row[chunk] for chunk in self.graph.entity_support(key) if chunk in self.chunk_row]
                for key in self.entity_ids]

    @cached_property
    def spreading(self) -> SpreadingGraph:
        """The entity-chunk graph: an edge for each mention, for each triple, and between namesakes.

        Entities of one name and different types are linked, so that a wrong type does not separate the facts
        about an entity.
        """
        rows: list[int] = []
        columns: list[int] = []
        for row, chunks in enumerate(self.support):
            rows.extend([row] * len(chunks))
            columns.extend(len(self.entity_ids) + chunk for chunk in chunks)
        for head, _, tail in self.graph.edges():
            rows.append(self.entity_row[head])
            columns.append(self.entity_row[tail])
        by_name: dict[str, list[int]] = {}
        for row, key in enumerate(self.entity_ids):
            by_name.setdefault(self.graph.entity_text(key), []).append(row)
        for first, *others in by_name.values():
            rows.extend([first] * len(others))
            columns.extend(others)
        return SpreadingGraph(len(self.entity_ids) + len(self.chunks), np.array(rows, np.intp),
                              np.array(columns, np.intp), np.ones(len(rows), np.float32))
