"""The graph of a knowledge base for browsing, by type, by name and by neighbourhood."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..api.python_results import Source
from ..graph_store.graph.graph_file import Sources
from ..graph_store.graph.knowledge_graph import EdgeKey
from ..graph_store.index.columns import LazySequence, Rows, distinct
from ..schemas.documents import Chunk
from ..schemas.naming import has_any_name, has_name, triple_id
from ..text.times import read_day
from ..tools.index import RetrievalIndex
from ..tools.sentence_links import link_by_sentences, prose_sentences
from .responses import Edge, Node, Subgraph, Together

_READ = 40
"""The most chunks that are read for an entity."""
_SHOWN = 20


class GraphView:
    """A snapshot of a knowledge base, read from its index: the cost depends on what is shown, hardly on the size."""

    def __init__(self, index: RetrievalIndex) -> None:
        """Wrap an index; only the list of entities is built here."""
        self.index = index
        self._browsing = index.browsing
        self.nodes = self._nodes(self._browsing.ranked)
        """All entities, most important first."""

    @cached_property
    def types(self) -> Counter[str]:
        """The number of entities of each type."""
        counts = np.bincount(self._browsing.type_of, minlength=len(self._browsing.types)).tolist()
        return Counter(dict(zip(self._browsing.types, counts, strict=True)))

    @cached_property
    def relations(self) -> Counter[str]:
        """The number of facts of each relation."""
        return Counter(self.index.relation_counts)

    def node(self, entity: str) -> Node | None:
        """Return an entity by its id, or None."""
        row = self.index.entity_at(entity)
        return None if row is None else self._node(row)

    def find(self, ids: Iterable[str]) -> Sequence[Node]:
        """Return the given entities that exist, most important first."""
        return self._nodes(self._by_rank(self._rows(ids)))

    def search(self, words: str, kind: str, limit: int) -> Sequence[Node]:
        """Find entities with a name that contains the words: exact matches first, then names that begin with them."""
        return self._nodes(self._browsing.holding(words, kind))[:limit]

    def find_by_name(self, names: Sequence[str]) -> list[Node]:
        """Return the entities with these names, in the order of the names."""
        return [self._node(row) for row in dict.fromkeys(
            row for name in names for row in self._browsing.called(name).tolist())]

    def neighbours(self, entity: str) -> Sequence[Node]:
        """Return the entities that share a fact with this one, most important first."""
        ends = distinct(self.index.triples[self.index.incident(entity)][:, [0, 2]].reshape(-1))
        return self._nodes(self._by_rank(ends[ends != self.index.entity_at(entity)]))

    def matching(self, kind: str, relation: str, chunks: Set[str] | None, members: Collection[str] | None,
                 words: str = "") -> Sequence[Node]:
        """Return the entities of a type, with a fact of a relation, named in chunks, among members, named by words.

        The most important come first; a condition that is empty or None is met by any.
        """
        fitting = np.ones(len(self.nodes), bool)
        if kind:
            fitting &= self._browsing.of_type(kind)
        if members is not None:
            fitting &= self._mask(self._rows(members))
        if relation:
            fitting &= self._mask(self.index.triples[self.index.of_relations([relation])][:, [0, 2]])
        if chunks is not None:
            fitting &= self._mask(self.index.entities_in(chunks))
        if words:
            fitting &= self._mask(self._browsing.holding(words, ""))
        ranked = self._browsing.ranked
        return self._nodes(ranked[fitting[ranked]])

    def path(self, start: str, end: str) -> list[Node]:
        """Return the entities on a shortest path between two entities, ignoring directions; empty if there is none.

        Of several shortest paths, return the one whose facts come first in the order of their keys, from the start on.
        """
        first, last = self._rows([start, end]).tolist()
        before = np.full(len(self.nodes), -1, np.int32)
        before[first] = first
        here: Rows = np.array([first])
        while before[last] < 0 and len(here):
            ends = self.index.triples[self.index.incident_of(here)]
            ends = np.concatenate([ends[:, [0, 2]], ends[:, [2, 0]]])
            ends = ends[(before[ends[:, 0]] >= 0) & (before[ends[:, 1]] < 0)]
            before[ends[::-1, 1]] = ends[::-1, 0]  # reversed, so the first of several is written last
            here = distinct(ends[:, 1]).astype(np.intp)
        if before[last] < 0:
            return []
        way = [last]
        while way[-1] != first:
            way.append(int(before[way[-1]]))
        return [self._node(row) for row in reversed(way)]

    def among(self, nodes: Sequence[Node], relation: str = "") -> list[Edge]:
        """Return the facts between the given entities, optionally only those of one relation."""
        rows = distinct(self._rows(node.id for node in nodes))
        triples = self.index.incident_of(rows)
        keys = [self.index.edges[row] for row in triples[np.isin(self.index.triples[triples][:, [0, 2]], rows).all(1)]]
        return [self.edge(key) for key in keys if relation in {"", key[1]}]

    def edge(self, key: EdgeKey) -> Edge:
        """Return a fact as it is drawn, with the dates between which it holds."""
        head, relation, tail = key
        start, end = self.index.graph.validity(key).bounds()
        return Edge(id=triple_id(*key), source=head, target=tail, relation=relation, start=start, end=end)

    def drawn(self, nodes: Sequence[Node], edges: list[Edge], total: int, *, linked: bool = False) -> Subgraph:
        """Return what is drawn: entities, facts, and with `linked` the links by sentences, with communities' names."""
        links = link_by_sentences(self.index, [node.id for node in nodes]) if linked else ()
        rows = {one: row for one in sorted({node.community or "" for node in nodes})
                if (row := self.index.community_row.get(one)) is not None}
        return Subgraph(nodes=nodes, total=total,
            communities={one: self.index.community(row).name for one, row in rows.items()},
            edges=[*edges, *(Edge(id=f"{link.one} {link.other}", source=link.one, target=link.other, relation="",
                                  kind="sentence") for link in links)])

    def aliases(self, entity: str) -> list[str]:
        """Return the other names of an entity, sorted."""
        return self.index.about(self.index.entity_row[entity])[2:]

    def facts(self, entity: str, at: str = "") -> Sequence[EdgeKey]:
        """Return the facts in which an entity is head or tail, sorted; with a date only those that hold at it."""
        rows = self.index.incident(entity)
        if at:
            day = read_day(at)
            rows = rows[[self.index.graph.validity_of(row).holds(*day) for row in rows.tolist()]]
        return LazySequence(len(rows), lambda place: self.index.edges[int(rows[place])])

    def support(self, fact: EdgeKey) -> dict[str, tuple[int, int]]:
        """Return the chunks that state a fact, each with its position there; empty if there is no such fact."""
        row = self.index.graph.find_triple(fact)
        return {} if row is None else {chunk: (start, end) for chunk, start, end in self.index.spans(row)}

    def _node(self, row: int) -> Node:
        name, kind, *_ = self.index.about(row)
        ends = self.index.triples[self.index.incident_at(row)]
        # A fact between an entity and itself counts twice there.
        degree = int(np.count_nonzero(ends[:, [0, 2]] == row))
        return Node(id=self.index.entity_row.at(row), name=name, type=kind, degree=degree,
                    support=int(self._browsing.documents[row]), community=self._browsing.community(row))

    def _nodes(self, rows: NDArray[np.integer]) -> Sequence[Node]:
        """Return the entities of the given rows, each created on access."""
        return LazySequence(len(rows), lambda place: self._node(int(rows[place])))

    def _rows(self, ids: Iterable[str]) -> Rows:
        """Return the rows of the given entities that exist."""
        return np.array([row for row in map(self.index.entity_at, ids) if row is not None], np.intp)

    def _by_rank(self, rows: NDArray[np.integer]) -> NDArray[np.int32]:
        """Sort rows by rank, most important first."""
        ranked: NDArray[np.int32] = self._browsing.ranked[np.sort(self._browsing.ranks[rows])]
        return ranked

    def _mask(self, rows: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return a mask over all rows that is True for the given ones."""
        marked = np.zeros(len(self.nodes), bool)
        marked[rows] = True
        return marked


def mentioned_together(view: GraphView, entity: Node, chunks: Sequence[Chunk],
                       others: Sequence[Node] = ()) -> list[Together]:
    """Return the entities that a sentence names with an entity and that share no fact with it, the most frequent first.

    That is a link, which is shown with the sentence, and no fact.

    Args:
        view: the graph.
        entity: one of its entities.
        chunks: the chunks that mention the entity.
        others: only these; by default all that the chunks mention.
    """
    known = {entity.id, *(node.id for node in view.neighbours(entity.id))}
    names, read = [entity.name, *view.aliases(entity.id)], chunks[:_READ]
    others = [node for node in others or view.matching("", "", {chunk.id for chunk in read}, None)
              if node.id not in known]
    places: dict[str, list[tuple[str, int, int]]] = {}
    for chunk, start, end in _sentences(read, names):
        for other in others:
            if has_name(chunk.text[start:end], other.name):
                places.setdefault(other.id, []).append((chunk.id, start, end))
    sources = Sources(read)
    ranked = sorted((node for node in others if node.id in places), key=lambda node: -len(places[node.id]))
    return [Together(entity=node, evidence=[Source(**one) for chunk, start, end in places[node.id]
                                            for one in sources.of({chunk: (start, end)})]) for node in ranked[:_SHOWN]]


def _sentences(chunks: Sequence[Chunk], names: Sequence[str]) -> Iterator[tuple[Chunk, int, int]]:
    """Yield the sentences that have one of the names."""
    for chunk in chunks:
        for start, end in prose_sentences(chunk):
            if has_any_name(chunk.text[start:end], names):
                yield chunk, start, end
