"""The tree within a tree graph: from the largest communities down to entities."""

from functools import cached_property

from ..graph_store.graph.tree_graph import KEYWORD_OF, MEMBER_OF, TreeGraph


class TreeOutline:
    """The hierarchy of communities and entities, with the largest and best connected first."""

    def __init__(self, graph: TreeGraph) -> None:
        """Read the tree in a graph that `tree_graph` returned."""
        self._graph = graph

    @cached_property
    def communities(self) -> list[str]:
        """The ids of all communities: coarse before fine, then large before small."""
        ranked = [(-data["level"], -data["size"], node) for node, data in self._graph.nodes(data=True)
                 if data["kind"] == "community"]
        return [node for _, _, node in sorted(ranked)]

    @cached_property
    def entities(self) -> list[str]:
        """The ids of all entities."""
        return [node for node, data in self._graph.nodes(data=True) if data["kind"] == "entity"]

    @cached_property
    def roots(self) -> list[str]:
        """The communities without a parent, largest first."""
        roots = [node for node in self.communities if not self._graph.out_degree(node)]
        return sorted(roots, key=self._by_size)

    def children(self, community: str) -> list[str]:
        """Return the child communities of a community, largest first."""
        return sorted((node for node in self._inside(community) if self._kind(node) == "community"), key=self._by_size)

    def members(self, community: str) -> list[str]:
        """Return the entities of a finest-level community, those with most triples first; none for a coarser one."""
        return sorted((node for node in self._inside(community) if self._kind(node) == "entity"),
                      key=lambda node: (-len(self.triples(node)), self._graph.nodes[node]["name"], node))

    def keywords(self, community: str) -> list[str]:
        """Return the keywords of a community, best first."""
        ranked = [(data["rank"], node) for node, _, data in self._graph.in_edges(community, data=True)
                 if data["kind"] == KEYWORD_OF]
        return [node for _, node in sorted(ranked)]

    def triples(self, entity: str) -> list[tuple[str, str, str]]:
        """Return the triples of an entity as (head, tail, key), those with most sources first."""
        edges = {(head, tail, key) for head, tail, key, data in [
            *self._graph.out_edges(entity, keys=True, data=True),
            *self._graph.in_edges(entity, keys=True, data=True)] if data["kind"] == "triple"}
        return sorted(edges, key=lambda edge: (-len(self._graph.edges[edge]["sources"]), edge[2], edge))

    def _inside(self, community: str) -> list[str]:
        return [node for node, _, key in self._graph.in_edges(community, keys=True) if key == MEMBER_OF]

    def _kind(self, node: str) -> str:
        return str(self._graph.nodes[node]["kind"])

    def _by_size(self, community: str) -> tuple[int, str]:
        return -self._graph.nodes[community]["size"], community
