"""The graph of a knowledge base as the page shows it: entities as nodes, facts as edges."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence, Set
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field
from scipy.sparse import csgraph, csr_array

from ..api.python_results import Source
from ..graph_store.graph.graph_columns import Rows
from ..graph_store.graph.graph_file import Sources
from ..graph_store.graph.knowledge_graph import EdgeKey
from ..graph_store.graph_index import GraphIndex
from ..graph_store.index.index_file import LazySequence
from ..schemas.documents import Chunk
from ..schemas.naming import has_any_name, has_name, triple_id
from ..tools.graph_names import link_by_sentences, prose_sentences
from .responses import NotFoundError
from .service import Reading

_MOST_CHUNKS_READ = 40  # chunks in whose sentences other entities are looked for; more would keep the page waiting
_MOST_TOGETHER = 20  # the most entities to return that sentences name together with one entity


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
    """The entities and facts of an index as nodes and edges of drawings and lists, the most important nodes first."""

    def __init__(self, reading: Reading) -> None:
        self.index: GraphIndex = reading.index

    def node(self, entity: str) -> Node:
        """Return an entity by its id; raise NotFoundError if there is none."""
        row = self.index.entity_at(entity)
        if row is None:
            raise NotFoundError(f"there is no entity {entity!r}: `GET .../graph/search` finds them")
        return self.make_node(row)

    def find(self, ids: Iterable[str]) -> Sequence[Node]:
        """Return the entities with these ids, the most important first; ids without an entity are skipped."""
        return self._nodes_by_rank(self._rows_of_ids(ids))

    def neighbours(self, entity: str) -> Sequence[Node]:
        """Return the entities that share a fact with this one, the most important first."""
        return self._nodes_by_rank(self.index.columns.adjacent_to(self.index.row(entity)))

    def matching(self, kind: str = "", relation: str = "", chunks: Set[str] | None = None,
                 members: Collection[str] | None = None, words: str = "") -> Sequence[Node]:
        """Return the entities that meet all conditions; "" and None mean any.

        The conditions are a type (`kind`), a relation of a fact, chunks that mention them, ids, and words in a name.
        """
        index, rows = self.index, self.index.ranked
        if kind:
            rows = rows[index.of_type(kind)[rows]]
        if members is not None:
            rows = rows[np.isin(rows, self._rows_of_ids(members))]
        if relation:
            heads_and_tails = index.triples[index.of_relation(relation)][:, [0, 2]]
            rows = rows[np.isin(rows, heads_and_tails)]
        if chunks is not None:
            rows = rows[np.isin(rows, index.entities_in(chunks))]
        if words:
            rows = rows[np.isin(rows, index.find_containing(words))]
        return self.make_nodes(rows)

    def path(self, start: Node, end: Node) -> list[Node]:
        """Return the entities on a shortest path along facts in both directions, in order; empty if there is none."""
        first, last = self.index.row(start.id), self.index.row(end.id)
        heads, tails = self.index.triples[:, 0], self.index.triples[:, 2]
        number = len(self.index.ranked)
        links = csr_array((np.ones(len(heads), np.int32), (heads, tails)), shape=(number, number))
        _, previous = csgraph.breadth_first_order(links, first, directed=False)
        path = [last]
        while path[-1] != first:
            if previous[path[-1]] < 0:  # no fact leads on towards the first
                return []
            path.append(int(previous[path[-1]]))
        return [self.make_node(row) for row in reversed(path)]

    def among(self, nodes: Sequence[Node], relation: str = "") -> list[Edge]:
        """Return the facts whose head and tail are both among these entities, optionally only those of one relation."""
        rows = self._rows_of_ids(node.id for node in nodes)
        triples = self.index.columns.incident.unite(rows)  # of which these entities are head or tail
        has_both_ends = np.isin(self.index.triples[triples][:, [0, 2]], rows).all(1)
        keys = [self.index.edge(triple) for triple in triples[has_both_ends].tolist()]
        return [self.edge((head, name, tail)) for head, name, tail in keys if relation in {"", name}]

    def edge(self, key: EdgeKey) -> Edge:
        """Return a fact (head, relation, tail) as an edge of a drawing, with the dates between which it holds."""
        start, end = self.index.validity(key).bounds()
        return Edge(id=triple_id(*key), source=key[0], relation=key[1], target=key[2], start=start, end=end)

    def subgraph(self, nodes: Sequence[Node], edges: list[Edge], total: int, *, linked: bool = False) -> Subgraph:
        """Return entities and facts as a drawing; `linked` adds edges between entities that one sentence names."""
        links = link_by_sentences(self.index, [node.id for node in nodes]) if linked else ()
        link_edges = [Edge(id=f"{one} {other}", source=one, target=other, relation="", kind="sentence")
                      for one, other, _ in links]
        row_of = self.index.community_row  # of the communities that have a name
        named = sorted({node.community for node in nodes if node.community} & row_of.keys())
        names = {community: self.index.community(row_of[community]).name for community in named}
        return Subgraph(nodes=nodes, total=total, communities=names, edges=[*edges, *link_edges])

    def make_node(self, row: int) -> Node:
        """Return the entity of a row, with its degree and the number of documents that mention it."""
        name, kind, _ = self.index.labels_of(row)
        entity = self.index.entity_row.at(row)
        return Node(id=entity, name=name, type=kind, degree=self.index.degree(entity),
                    support=int(self.index.document_counts[row]), community=self.index.community_of(row))

    def make_nodes(self, rows: NDArray[np.integer]) -> Sequence[Node]:
        """Return the entities of rows; each is read when it is used."""
        return LazySequence(len(rows), lambda place: self.make_node(int(rows[place])))

    def _rows_of_ids(self, ids: Iterable[str]) -> Rows:
        return np.array([row for row in map(self.index.entity_at, ids) if row is not None], np.intp)

    def _nodes_by_rank(self, rows: NDArray[np.integer]) -> Sequence[Node]:
        return self.make_nodes(self.index.ranked[np.sort(self.index.ranks[rows])])


def mentioned_together(view: GraphView, entity: Node, chunks: Sequence[Chunk],
                       others: Sequence[Node] = ()) -> list[Together]:
    """Return the entities that sentences of chunks name together with `entity` without a fact, most sentences first.

    The chunks mention the entity; without `others`, all entities are looked for that they mention.
    """
    names, read_chunks = view.index.names(entity.id), chunks[:_MOST_CHUNKS_READ]
    linked_by_facts = {entity.id, *(node.id for node in view.neighbours(entity.id))}
    candidates = others or view.matching(chunks={chunk.id for chunk in read_chunks})
    unlinked = [node for node in candidates if node.id not in linked_by_facts]
    sources = Sources(read_chunks)
    evidence = defaultdict[str, list[Source]](list)  # by the other entity's id: each sentence that names both
    for chunk in read_chunks:
        for start, end in prose_sentences(chunk):
            sentence = chunk.text[start:end]
            if has_any_name(sentence, names):
                for node in unlinked:
                    if has_name(sentence, node.name):
                        evidence[node.id] += [Source(**found) for found in sources.locate({chunk.id: (start, end)})]
    together = [Together(entity=node, evidence=evidence[node.id]) for node in unlinked if node.id in evidence]
    return sorted(together, key=lambda one: -len(one.evidence))[:_MOST_TOGETHER]
