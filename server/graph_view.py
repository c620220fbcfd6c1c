"""The graph of a knowledge base for browsing: by type, by name, by neighbourhood."""

import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence, Set
from weakref import WeakKeyDictionary

import networkx as nx

from ..graph_store.graph.knowledge_graph import EdgeKey
from ..graph_store.knowledge_base import KnowledgeBase
from ..schemas.naming import canonical_name, normalise, triple_id
from .answers import Edge, Node


class GraphView:
    """Built once for a state of a knowledge base: all entities with degree and community, best connected first."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._graph = kb.graph
        of = {entity: community.id for community in kb.communities.all() for entity in community.members}
        network = self._graph.network
        entities = [self._graph.entity(entity) for entity in network.nodes]
        nodes = [Node(id=entity.id, name=entity.name, type=entity.type, degree=network.degree(entity.id),
                      community=of.get(entity.id)) for entity in entities]
        self.nodes = sorted(nodes, key=lambda node: (-node.degree, node.name, node.id))
        self._by_id = {node.id: node for node in self.nodes}
        self._folded: dict[str, tuple[str, ...]] = {}
        self._by_name: defaultdict[str, list[Node]] = defaultdict(list)
        for node in self.nodes:
            names = network.nodes[node.id]["names"]
            self._folded[node.id] = tuple(dict.fromkeys(map(normalise, names)))
            for name in dict.fromkeys(map(canonical_name, names)):
                self._by_name[name].append(node)
        self.relations = Counter(relation for _, _, relation in network.edges(keys=True))
        self.types = Counter(node.type for node in self.nodes)

    def node(self, entity: str) -> Node | None:
        """An entity by its id."""
        return self._by_id.get(entity)

    def known(self, ids: Iterable[str]) -> list[Node]:
        """Those of the given entities that exist, best connected first."""
        matches = [self._by_id[entity] for entity in ids if entity in self._by_id]
        return sorted(matches, key=lambda node: (-node.degree, node.name, node.id))

    def of_type(self, kind: str) -> list[Node]:
        """All entities, or those of a type, best connected first."""
        return [node for node in self.nodes if node.type == kind] if kind else self.nodes

    def search(self, words: str, kind: str, limit: int) -> list[Node]:
        """Entities with a name that holds some words: those called so first, then those that begin so."""
        wanted = normalise(words)
        matches: list[tuple[int, int, Node]] = []
        for position, node in enumerate(self.of_type(kind)):
            names = [name for name in self._folded[node.id] if wanted in name]
            if names:
                rank = min(0 if name == wanted else 1 if name.startswith(wanted) else 2 for name in names)
                matches.append((rank, position, node))
        return [node for *_, node in sorted(matches, key=lambda match: match[:2])[:limit]]

    def named(self, names: Sequence[str]) -> list[Node]:
        """The entities with these names, in the order of the names."""
        matches = {node.id: node for name in names for node in self._by_name.get(canonical_name(name), ())}
        return list(matches.values())

    def neighbours(self, entity: str) -> list[Node]:
        """The entities that a fact connects with this one, best connected first."""
        return self.known({end for head, _, tail in self._graph.incident(entity) for end in (head, tail)} - {entity})

    def matching(self, kind: str, relation: str, chunks: Set[str] | None, members: Collection[str] | None,
                 ) -> list[Node]:
        """The entities that fit all of some conditions, best connected first.

        Args:
            kind: their type; empty: any.
            relation: of one of their facts; empty: any.
            chunks: one of which states something of them; none: any.
            members: ids among which they are; none: any.
        """
        nodes = self.of_type(kind)
        if members is not None:
            nodes = [node for node in nodes if node.id in members]
        if relation:
            ends = {end for head, tail, name in self._graph.network.edges(keys=True) if name == relation
                    for end in (head, tail)}
            nodes = [node for node in nodes if node.id in ends]
        if chunks is not None:
            nodes = [node for node in nodes if not chunks.isdisjoint(self._graph.entity_support(node.id))]
        return nodes

    def path(self, start: str, end: str) -> list[Node]:
        """The entities on a shortest way from one to another along facts, in either direction; empty: there is none."""
        network = self._graph.network.to_undirected(as_view=True)
        try:
            return [self._by_id[entity] for entity in nx.bidirectional_shortest_path(network, start, end)]
        except nx.NetworkXNoPath:
            return []

    def among(self, nodes: Sequence[Node], relation: str = "") -> list[Edge]:
        """The facts whose two ends are among some entities, or those of a relation."""
        shown = {node.id for node in nodes}
        keys: set[EdgeKey] = {key for entity in shown for key in self._graph.incident(entity)
                              if key[0] in shown and key[2] in shown and relation in {"", key[1]}}
        return [Edge(id=triple_id(*key), source=key[0], target=key[2], relation=key[1]) for key in sorted(keys)]


class GraphViews:
    """The views of the knowledge bases that are open, each as long as its knowledge base is."""

    def __init__(self) -> None:
        self._views: WeakKeyDictionary[KnowledgeBase, GraphView] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def of(self, kb: KnowledgeBase) -> GraphView:
        """The view of a knowledge base that is frozen."""
        with self._lock:
            if kb not in self._views:
                self._views[kb] = GraphView(kb)
            return self._views[kb]
