"""One HTML file that shows a knowledge tree, from the largest communities down to entities.

It needs no network and no other files, and is readable without scripts.

`page.html.jinja` escapes all text. A content security policy in the page allows only its own style sheet and script,
by their hashes, so injected markup would have no effect.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ..graph_store.graph.graph_file import KEYWORD_OF, MEMBER_OF, TreeGraph
from ..text.cleaning import printable, visible

_FOLDER = Path(__file__).parent
_WEB = _FOLDER.parent / "server" / "web"
_MOST_COMMUNITIES, _MOST_TRIPLES_OF_ALL = 500, 3_000
"""More than a person looks through; a page of 10 MB opens in seconds, a larger one takes up to minutes."""
_MOST_TRIPLES, _MOST_MEMBERS, _MOST_SOURCES = 20, 60, 2
"""Shown of a keyword (and as attributes of an entity), of a community beside its keywords, and of a triple or value."""
_LONGEST_NAME = 200  # characters of a name or value


class TreeOutline:
    """The hierarchy of communities and entities, with the largest and best connected first."""

    def __init__(self, graph: TreeGraph) -> None:
        """Read the tree in a graph that `make_node_link` returned."""
        self._graph = graph
        self.entities = [node for node, data in graph.nodes(data=True) if data["kind"] == "entity"]
        communities = [(-data["level"], -data["size"], node) for node, data in graph.nodes(data=True)
                       if data["kind"] == "community"]
        self.communities = [node for _, _, node in sorted(communities)]  # coarse before fine
        has_parent = graph.out_degree  # the edges of a community lead to the one that it is in
        self.roots = sorted((node for node in self.communities if not has_parent(node)), key=self._by_size)

    def children(self, community: str) -> list[str]:
        """Return the child communities of a community, largest first."""
        return sorted(self._inside(community, "community"), key=self._by_size)

    def members(self, community: str) -> list[str]:
        """Return the entities of a community, those with most triples first; only the finest communities have any."""
        return sorted(self._inside(community, "entity"),
                      key=lambda node: (-len(self.triples(node)), self._graph.nodes[node]["name"], node))

    def keywords(self, community: str) -> list[str]:
        """Return the keywords of a community, best first."""
        ranked = [(data["rank"], node) for node, _, data in self._graph.in_edges(community, data=True)
                  if data["kind"] == KEYWORD_OF]
        return [node for _, node in sorted(ranked)]

    def title(self, community: str) -> str:
        """Return the name of a community, or else its keywords."""
        nodes = self._graph.nodes
        return nodes[community]["name"] or ", ".join(nodes[node]["name"] for node in self.keywords(community))

    def triples(self, entity: str) -> list[tuple[str, str, str]]:
        """Return the triples of an entity as (head, tail, key), those with most sources first."""
        # A set, because a loop is among both the outgoing and the incoming edges.
        edges = {(head, tail, key) for head, tail, key, data in [
            *self._graph.out_edges(entity, keys=True, data=True),
            *self._graph.in_edges(entity, keys=True, data=True)] if data["kind"] == "triple"}
        return sorted(edges, key=lambda edge: (-len(self._graph.edges[edge]["sources"]), edge[2], edge))

    def _inside(self, community: str, kind: str) -> Iterator[str]:
        """Yield the direct members of a community that are of a kind: child communities or entities."""
        return (node for node, _, key in self._graph.in_edges(community, keys=True)
                if key == MEMBER_OF and self._graph.nodes[node]["kind"] == kind)

    def _by_size(self, community: str) -> tuple[int, str]:
        return -self._graph.nodes[community]["size"], community


def page(graph: TreeGraph) -> Iterator[str]:
    """Yield the page in pieces: the numbers, then the tree, largest communities first, and how much is not shown."""
    outline = TreeOutline(graph)
    shown = set(outline.communities[:_MOST_COMMUNITIES])
    keyword_count = sum(len(outline.keywords(community)) for community in shown)
    # Many keywords get fewer triples each, so that the whole page stays small, but at least one.
    most_triples = max(1, min(_MOST_TRIPLES, _MOST_TRIPLES_OF_ALL // max(keyword_count, 1)))
    environment = Environment(loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"cut": _cut, "hash": lambda text: (
        "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode())}
    stream = environment.get_template("page.html.jinja").stream(
        graph=graph, outline=outline, shown=shown, kinds=[data["kind"] for *_, data in graph.edges(data=True)],
        levels=Counter(graph.nodes[node]["level"] for node in outline.communities),
        style=(_WEB / "colours.css").read_text("utf-8") + (_FOLDER / "page.css").read_text("utf-8"),
        script=(_FOLDER / "page.js").read_text("utf-8"),
        most={"communities": _MOST_COMMUNITIES, "triples": most_triples, "members": _MOST_MEMBERS,
              "sources": _MOST_SOURCES})
    stream.enable_buffering(100)  # the template yields many tiny pieces
    return stream


def _cut(text: str, most: int = _LONGEST_NAME) -> str:
    """Return a text that is safe to show, cut to `most` characters."""
    return printable(visible(text if len(text) <= most else text[:most - 1] + "…"))
