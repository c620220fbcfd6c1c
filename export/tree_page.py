"""One HTML file that shows a knowledge tree, from the largest communities down to entities.

It needs no network and no other files, and is readable without scripts.

`page.html.jinja` escapes all text. A content security policy in the page allows only its own style sheet and script,
by their hashes, so injected markup would have no effect.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from ..graph_store.graph.graph_file import KEYWORD_OF, MEMBER_OF, TreeGraph
from ..text.cleaning import printable, visible

_WEB = Path(__file__).parent.parent / "server" / "web"
# The whole tree's limit in bytes: a page of 10 MB opens in seconds, a larger one takes up to minutes.
_TREE_BYTES = 8_000_000
# More than a person looks through; each community then still has at least 2,000 bytes.
_MOST_COMMUNITIES = 4_000
# Other members of a community, triples of a keyword, quotes of a triple; attributes of an entity, values of one.
_MOST_MEMBERS, _MOST_TRIPLES, _MOST_SOURCES = 60, 20, 2
_MOST_ATTRIBUTES, _MOST_VALUES = _MOST_TRIPLES, _MOST_SOURCES
# Longer texts are cut, in characters: a quote is usually a sentence, a summary a paragraph.
_QUOTE, _SUMMARY, _NAME = 300, 800, 200
# If there are many communities, a summary gets one character for this many bytes of its community's share: about a
# third of the share, at 3 bytes a character.
_SUMMARY_PART, _MARKUP_BYTES = 8, 40
_FOLDER = Path(__file__).parent


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
        return sorted([node for node in self.communities if not self._graph.out_degree(node)], key=self._by_size)

    def children(self, community: str) -> list[str]:
        """Return the child communities of a community, largest first."""
        inside = (node for node in self._nodes_inside(community) if self._kind_of(node) == "community")
        return sorted(inside, key=self._by_size)

    def members(self, community: str) -> list[str]:
        """Return the entities of a community, those with most triples first; only the finest communities have any."""
        return sorted((node for node in self._nodes_inside(community) if self._kind_of(node) == "entity"),
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

    def _nodes_inside(self, community: str) -> list[str]:
        return [node for node, _, key in self._graph.in_edges(community, keys=True) if key == MEMBER_OF]

    def _kind_of(self, node: str) -> str:
        return str(self._graph.nodes[node]["kind"])

    def _by_size(self, community: str) -> tuple[int, str]:
        return -self._graph.nodes[community]["size"], community


class _ListedItems(NamedTuple):
    """The items that a list shows, and how many it leaves out."""

    shown: list[Any]
    left_out: int


def page(graph: TreeGraph) -> Iterator[str]:
    """Write the page, in pieces: the numbers, then the tree, largest communities first.

    A community opens to its keywords, their triples with supporting quotes, and the entities' attributes. If a limit
    leaves items out, the page shows how many.
    """
    outline = TreeOutline(graph)
    tree = _Tree(graph, outline)
    stream = _template().stream(
        name=_cut(str(graph.graph["name"])), current=graph.graph["current"],
        style=(_WEB / "colours.css").read_text("utf-8") + (_FOLDER / "page.css").read_text("utf-8"),
        script=(_FOLDER / "page.js").read_text("utf-8"),
        numbers=list(_number_rows(graph, outline)), empty=not outline.roots,
        # One root at a time, because all of them may be large together.
        roots=(tree.list_communities([root]) for root in outline.roots),
        most={"communities": _MOST_COMMUNITIES, "triples": _MOST_TRIPLES, "members": _MOST_MEMBERS,
              "sources": _MOST_SOURCES, "size": f"{_TREE_BYTES // 1_000_000} MB"})
    stream.enable_buffering(100)
    return stream


@cache
def _template() -> Template:
    environment = Environment(loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True)
    environment.filters["hash"] = lambda text: (
        "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode())
    return environment.get_template("page.html.jinja")


def _cut(text: str, most: int = _NAME) -> str:
    return printable(visible(text if len(text) <= most else text[:most - 1] + "…"))


def _number_rows(graph: TreeGraph, outline: TreeOutline) -> Iterator[tuple[str, str, int | None, object]]:
    """Yield the rows of the table of numbers: the label's key, English text and number, and the value."""
    kinds = [data["kind"] for *_, data in graph.edges(data=True)]
    yield "documents", "documents", None, graph.graph["documents"]
    yield "entities", "entities", None, len(outline.entities)
    yield "triples", "triples", None, kinds.count("triple")
    yield "attributes", "attribute values", None, sum(
        len(values) for node in outline.entities for values in graph.nodes[node]["attributes"].values())
    for level, size in sorted(Counter(graph.nodes[node]["level"] for node in outline.communities).items()):
        yield "level", f"communities of level {level} (0: the finest)", level, size
    members = {node for node, _, data in graph.edges(data=True) if data["kind"] == MEMBER_OF}
    outside = len(set(outline.entities) - members)
    if outside:
        yield "outside", "entities in no community", None, outside
    if graph.graph["schema"]:
        version = graph.graph["schema_version"]
        yield "schema", f"schema (version {version})", version, _cut(graph.graph["schema"])


class _Tree:
    """The nested communities as the template reads them; each may take an equal share of the page's size, in bytes."""

    def __init__(self, graph: TreeGraph, outline: TreeOutline) -> None:
        self._graph = graph
        self._outline = outline
        self._shown = set(outline.communities[:_MOST_COMMUNITIES])
        self._share = _TREE_BYTES // max(1, len(self._shown))

    def list_communities(self, communities: Sequence[str]) -> _ListedItems:
        """Return the communities that are among the shown ones, as nested views."""
        shown = [self._community_view(node) for node in communities if node in self._shown]
        return _ListedItems(shown, len(communities) - len(shown))

    def _community_view(self, node: str) -> dict[str, Any]:
        data = self._graph.nodes[node]
        keywords = self._outline.keywords(node)
        children = self._outline.children(node)
        title = data["name"] or ", ".join(self._graph.nodes[keyword]["name"] for keyword in keywords)
        view: dict[str, Any] = {
            "name": _cut(title), "size": data["size"], "cohesion": f"{data['cohesion']:.2f}",
            "summary": _cut(data["summary"], min(_SUMMARY, self._share // _SUMMARY_PART))}
        remaining = _RemainingBytes(self._share - _estimate_bytes(view))
        views = [self._keyword_view(keyword, remaining) for keyword in keywords]
        shown = [view for view in views if view]
        others = [] if children else [member for member in self._outline.members(node) if member not in keywords]
        members = remaining.take_while_fitting(map(self._entity_view, others[:_MOST_MEMBERS]), len(others))
        return view | {"keywords": _ListedItems(shown, len(keywords) - len(shown)),
                       "children": self.list_communities(children), "members": members}

    def _keyword_view(self, node: str, remaining: "_RemainingBytes") -> dict[str, Any] | None:
        """Return a keyword with its attributes and as many triples as fit; None if the keyword itself does not fit."""
        view = self._entity_view(node) | self._attributes_view(node)
        if not remaining.take(view):
            return None
        triples = self._outline.triples(node)
        shown = (self._triple_view(node, edge) for edge in triples[:_MOST_TRIPLES])
        return view | {"triples": remaining.take_while_fitting(shown, len(triples))}

    def _entity_view(self, node: str) -> dict[str, Any]:
        data = self._graph.nodes[node]
        return {"name": _cut(data["name"]), "type": _cut(data["type"])}

    def _attributes_view(self, node: str) -> dict[str, Any]:
        """Return the first attributes of an entity, each with its first values and their times."""
        attributes: Mapping[str, Iterable[str]] = self._graph.nodes[node]["attributes"]
        times = self._graph.nodes[node].get("times", {})
        shown = []
        for name, values in list(attributes.items())[:_MOST_ATTRIBUTES]:
            listed = list(values)
            times_of_values = times.get(name, {})
            with_times = [(_cut(value), _cut(times_of_values.get(value) or "")) for value in listed[:_MOST_VALUES]]
            shown.append((_cut(name), _ListedItems(with_times, len(listed) - len(with_times))))
        return {"attributes": shown, "attributes_left_out": len(attributes) - len(shown)}

    def _triple_view(self, seen_from: str, edge: tuple[str, str, str]) -> dict[str, Any]:
        """Return a triple (head, tail, relation) with quotes, and the attributes of the end that is not `seen_from`."""
        head, tail, relation = edge
        nodes, data = self._graph.nodes, self._graph.edges[edge]
        quotes = [(_cut(source["quote"], _QUOTE), _cut(source["document"]))
                  for source in data["sources"][:_MOST_SOURCES]]
        return {"head": _cut(nodes[head]["name"]), "relation": _cut(relation), "tail": _cut(nodes[tail]["name"]),
                "time": _cut(data.get("time") or ""),
                "quotes": _ListedItems(quotes, len(data["sources"]) - len(quotes)),
                "other": self._attributes_view(tail if head == seen_from else head)}


class _RemainingBytes:
    """The rest of a community's share, in bytes."""

    def __init__(self, size: int) -> None:
        self._left = size

    def take(self, part: object) -> bool:
        """Take a part's bytes out of the share, and return True if it fitted; after one that did not, none does."""
        self._left -= _estimate_bytes(part)
        return self._left >= 0

    def take_while_fitting(self, parts: Iterable[object], total: int) -> _ListedItems:
        """Return the first parts, up to the one that does not fit, of `total` that there are."""
        shown = list(takewhile(self.take, parts))
        return _ListedItems(shown, total - len(shown))


def _estimate_bytes(part: object) -> int:
    """Return about how many bytes a part of the page takes: its texts, and the markup around each."""
    if isinstance(part, str):
        return _MARKUP_BYTES + len(part.encode())
    if isinstance(part, Mapping):
        return sum(map(_estimate_bytes, part.values()))
    return sum(map(_estimate_bytes, part)) if isinstance(part, Sequence) else 0
