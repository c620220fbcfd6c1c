"""The graph of a knowledge base as the page shows it: entities as nodes, facts as edges."""

from collections.abc import Collection, Iterable, Sequence, Set
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from ..api.python_results import Source
from ..graph_store.graph.graph_columns import Rows, sort_distinct
from ..graph_store.graph.graph_file import Sources
from ..graph_store.graph.knowledge_graph import EdgeKey
from ..graph_store.graph_index import GraphIndex
from ..graph_store.index.index_file import LazySequence
from ..schemas.documents import Chunk
from ..schemas.naming import has_any_name, has_name, triple_id
from ..text.times import read_day
from ..tools.entity_names import link_by_sentences, prose_sentences

_MOST_CHUNKS_READ = 40
"""The most chunks in whose sentences other entities are looked for."""
_MOST_SHOWN = 20
"""The most entities to return that sentences name together with one entity."""


class Node(BaseModel):
    """An entity in a drawing."""

    id: str
    name: str
    type: str
    degree: int
    support: int = Field(default=0, description="the number of documents that mention it")
    community: str | None = Field(description="id of its finest community")


class Edge(BaseModel):
    """A fact in a drawing, or a link between entities that sentences name together, which has no relation."""

    id: str
    source: str
    target: str
    relation: str
    kind: Literal["fact", "sentence"] = "fact"
    start: str = Field(default="", description="the date from which the fact holds; empty: not known")
    end: str = Field(default="", description="the last date, or that from which a later fact holds")


class Subgraph(BaseModel):
    """Entities and what links them; `total` counts the entities of all pages."""

    nodes: list[Node]
    edges: list[Edge]
    total: int
    communities: dict[str, str] = Field(default={}, description="the names of the entities' communities, by id")


class Together(BaseModel):
    """An entity that sentences name together with another one; that is a link, and no fact."""

    entity: Node
    evidence: list[Source]


class GraphView:
    """The entities and facts of an index as nodes and edges of drawings and lists."""

    def __init__(self, index: GraphIndex) -> None:
        self.index = index
        self.nodes = self._make_nodes(self.index.ranked)
        """All entities, most important first."""

    def node(self, entity: str) -> Node | None:
        """Return an entity by its id, or None."""
        row = self.index.entity_at(entity)
        return None if row is None else self.make_node(row)

    def find(self, ids: Iterable[str]) -> Sequence[Node]:
        """Return the entities with these ids, most important first; ids without an entity are skipped."""
        return self._make_nodes(self._by_rank(self._rows_of_ids(ids)))

    def search(self, words: str, kind: str, limit: int) -> Sequence[Node]:
        """Find entities with a name that contains the words: exact matches first, then names that begin with them."""
        return self._make_nodes(self.index.find_containing(words, kind))[:limit]

    def neighbours(self, entity: str) -> Sequence[Node]:
        """Return the entities that share a fact with this one, most important first."""
        row = self.index.entity_at(entity)
        return self._make_nodes(self._by_rank(self.index.columns.adjacent[row])) if row is not None else []

    def matching(self, kind: str, relation: str, chunks: Set[str] | None, members: Collection[str] | None,
                 words: str = "") -> Sequence[Node]:
        """Return the entities that meet all conditions, most important first; "" and None mean any.

        They are of the type, have a fact of the relation, are mentioned in a chunk, are among the members, and have a
        name that contains the words.
        """
        fitting = np.ones(len(self.nodes), bool)
        if kind:
            fitting &= self.index.of_type(kind)
        if members is not None:
            fitting &= self._mask_of(self._rows_of_ids(members))
        if relation:
            facts = self.index.triples[self.index.of_relation(relation)]
            fitting &= self._mask_of(facts[:, [0, 2]])  # heads and tails
        if chunks is not None:
            fitting &= self._mask_of(self.index.entities_in(chunks))
        if words:
            fitting &= self._mask_of(self.index.find_containing(words))
        return self._make_nodes(self.index.ranked[fitting[self.index.ranked]])

    def path(self, start: str, end: str) -> list[Node]:
        """Return the entities on a shortest path between two entities, in order; empty if no path exists.

        A path may follow facts in both directions. Of several shortest paths, the one whose facts come first in the
        order of their keys is returned. The search is breadth-first.
        """
        first, last = self._rows_of_ids([start, end]).tolist()
        previous = np.full(len(self.nodes), -1, np.int32)  # each entity's predecessor on its path; -1: not reached
        previous[first] = first
        frontier: Rows = np.array([first])
        while previous[last] < 0 and len(frontier):
            facts = self.index.triples[self.index.columns.incident.unite(frontier)]
            steps = np.concatenate([facts[:, [0, 2]], facts[:, [2, 0]]])  # (from, to), in both directions
            steps = steps[(previous[steps[:, 0]] >= 0) & (previous[steps[:, 1]] < 0)]  # from reached to new entities
            previous[steps[::-1, 1]] = steps[::-1, 0]  # reversed, so the first step to an entity overwrites later ones
            frontier = sort_distinct(steps[:, 1]).astype(np.intp)
        if previous[last] < 0:
            return []
        path = [last]
        while path[-1] != first:
            path.append(int(previous[path[-1]]))
        return [self.make_node(row) for row in reversed(path)]

    def among(self, nodes: Sequence[Node], relation: str = "") -> list[Edge]:
        """Return the facts whose head and tail are both among these entities, optionally only those of one relation."""
        rows = sort_distinct(self._rows_of_ids(node.id for node in nodes))
        triples = self.index.columns.incident.unite(rows)
        ends = self.index.triples[triples][:, [0, 2]]  # heads and tails
        has_both_ends = np.isin(ends, rows).all(1)
        keys = [self.index.edge(triple) for triple in triples[has_both_ends].tolist()]
        return [self.edge((head, name, tail)) for head, name, tail in keys if not relation or name == relation]

    def edge(self, key: EdgeKey) -> Edge:
        """Return a fact as an edge of a drawing, with the dates between which it holds."""
        head, relation, tail = key
        start, end = self.index.validity(key).bounds()
        return Edge(id=triple_id(*key), source=head, target=tail, relation=relation, start=start, end=end)

    def subgraph(self, nodes: Sequence[Node], edges: list[Edge], total: int, *, linked: bool = False) -> Subgraph:
        """Return entities and facts as a drawing, with the names of the entities' communities.

        `total` is the number of entities on all pages. With `linked`, entities that share no fact but are named in one
        sentence get an edge.
        """
        links = link_by_sentences(self.index, [node.id for node in nodes]) if linked else ()
        link_edges = [Edge(id=f"{link.one} {link.other}", source=link.one, target=link.other, relation="",
                           kind="sentence") for link in links]
        names: dict[str, str] = {}
        for community in sorted({node.community or "" for node in nodes}):
            row = self.index.community_row.get(community)
            if row is not None:
                names[community] = self.index.community(row).name
        return Subgraph(nodes=nodes, total=total, communities=names, edges=[*edges, *link_edges])

    def facts(self, entity: str, at: str = "") -> Sequence[EdgeKey]:
        """Return the facts in which an entity is head or tail, sorted.

        With a date `at`, return only the facts that hold on that date.
        """
        rows = self.index.triples_of(entity)
        if at:
            day = read_day(at)
            rows = rows[[self.index.validity_of(row).holds(*day) for row in rows.tolist()]]
        return LazySequence(len(rows), lambda place: self.index.edge(int(rows[place])))

    def make_node(self, row: int) -> Node:
        """Return the entity of a row, with its degree and the number of documents that mention it."""
        name, kind, _ = self.index.labels_of(row)
        entity = self.index.entity_row.at(row)
        return Node(id=entity, name=name, type=kind, degree=self.index.degree(entity),
                    support=int(self.index.document_counts[row]), community=self.index.community_of(row))

    def _make_nodes(self, rows: NDArray[np.integer]) -> Sequence[Node]:
        return LazySequence(len(rows), lambda place: self.make_node(int(rows[place])))

    def _rows_of_ids(self, ids: Iterable[str]) -> Rows:
        """Return the rows of the entities with these ids; ids without an entity are skipped."""
        return np.array([row for row in map(self.index.entity_at, ids) if row is not None], np.intp)

    def _by_rank(self, rows: NDArray[np.integer]) -> NDArray[np.int32]:
        ranked: NDArray[np.int32] = self.index.ranked[np.sort(self.index.ranks[rows])]
        return ranked

    def _mask_of(self, rows: NDArray[np.integer]) -> NDArray[np.bool_]:
        mask = np.zeros(len(self.nodes), bool)
        mask[rows] = True
        return mask


def mentioned_together(view: GraphView, entity: Node, chunks: Sequence[Chunk],
                       others: Sequence[Node] = ()) -> list[Together]:
    """Return the entities that a sentence names together with `entity`, although no fact links the two.

    The entities that the most sentences name come first. Each has those sentences as its evidence. `chunks` mention the
    entity; without `others`, all entities are looked for that these chunks mention.
    """
    index, read_chunks = view.index, chunks[:_MOST_CHUNKS_READ]
    linked_by_facts = {entity.id, *(node.id for node in view.neighbours(entity.id))}
    mentioned = others or view.matching(kind="", relation="", chunks={chunk.id for chunk in read_chunks}, members=None)
    others = [node for node in mentioned if node.id not in linked_by_facts]
    places_of = _places_of_sentences(index.names(entity.id), others, read_chunks)
    sources = Sources(read_chunks)
    together = []
    named = [node for node in others if node.id in places_of]
    for node in sorted(named, key=lambda node: -len(places_of[node.id]))[:_MOST_SHOWN]:
        evidence = [Source(**source) for place in places_of[node.id]
                    for source in sources.locate({place.chunk: (place.start, place.end)})]
        together.append(Together(entity=node, evidence=evidence))
    return together


class _Place(NamedTuple):
    """A sentence: characters `start` to `end` of a chunk."""

    chunk: str
    start: int
    end: int


def _places_of_sentences(names: Collection[str], others: Sequence[Node], chunks: Sequence[Chunk],
                         ) -> dict[str, list[_Place]]:
    """Return, by the id of each of the other entities, the sentences that name it and have one of the names."""
    places_of: dict[str, list[_Place]] = {}
    for chunk in chunks:
        for start, end in prose_sentences(chunk):
            sentence = chunk.text[start:end]
            if not has_any_name(sentence, names):
                continue
            for other in others:
                if has_name(sentence, other.name):
                    places_of.setdefault(other.id, []).append(_Place(chunk.id, start, end))
    return places_of
