"""The tree within a tree graph: from the largest communities down to entities."""

from functools import cached_property

from .tree_graph import KEYWORD_OF, MEMBER_OF, TreeGraph


class Outline:
    """What lies in what, largest and best connected first."""

    def __init__(self, graph: TreeGraph) -> None:
        """Read the tree of a graph that `tree_graph` made."""
        self._graph = graph

    @cached_property
    def communities(self) -> list[str]:
        """The ids of all communities: coarse before fine, then large before small."""
        found = [(-data["level"], -data["size"], one) for one, data in self._graph.nodes(data=True)
                 if data["kind"] == "community"]
        return [one for _, _, one in sorted(found)]

    @cached_property
    def entities(self) -> list[str]:
        """The ids of all entities."""
        return [one for one, data in self._graph.nodes(data=True) if data["kind"] == "entity"]

    @cached_property
    def roots(self) -> list[str]:
        """The communities that lie in no other, largest first."""
        roots = [one for one in self.communities if not self._graph.out_degree(one)]
        return sorted(roots, key=self._by_size)

    def children(self, community: str) -> list[str]:
        """The communities that lie in one, largest first."""
        return sorted((one for one in self._inside(community) if self._kind(one) == "community"), key=self._by_size)

    def members(self, community: str) -> list[str]:
        """The entities of a finest community, those with most triples first; of a coarser one none."""
        return sorted((one for one in self._inside(community) if self._kind(one) == "entity"),
                      key=lambda one: (-len(self.triples(one)), self._graph.nodes[one]["name"], one))

    def keywords(self, community: str) -> list[str]:
        """The keywords of a community, best first."""
        found = [(data["rank"], one) for one, _, data in self._graph.in_edges(community, data=True)
                 if data["kind"] == KEYWORD_OF]
        return [one for _, one in sorted(found)]

    def triples(self, entity: str) -> list[tuple[str, str, str]]:
        """The triples of an entity as (head, tail, key), those that most sources support first."""
        found = {(head, tail, key) for head, tail, key, data in [
            *self._graph.out_edges(entity, keys=True, data=True),
            *self._graph.in_edges(entity, keys=True, data=True)] if data["kind"] == "triple"}
        return sorted(found, key=lambda edge: (-len(self._graph.edges[edge]["sources"]), edge[2], edge))

    def _inside(self, community: str) -> list[str]:
        return [one for one, _, key in self._graph.in_edges(community, keys=True) if key == MEMBER_OF]

    def _kind(self, one: str) -> str:
        return str(self._graph.nodes[one]["kind"])

    def _by_size(self, community: str) -> tuple[int, str]:
        return -self._graph.nodes[community]["size"], community
