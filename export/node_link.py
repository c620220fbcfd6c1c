"""JSON in NetworkX's node-link format, which `networkx.node_link_graph` reads, together with the tree."""

from collections.abc import Iterable, Iterator
from typing import Any

from ..graph_store.graph.tree_graph import TreeGraph
from .outline import TreeOutline
from .text import json_text


def node_link(graph: TreeGraph) -> Iterator[str]:
    """Write the graph as one JSON object, in pieces: {directed, multigraph, graph, nodes, edges, tree}.

    `tree` nests {id, name, keywords, children} down to {id, name, keywords, members}; its lists contain node ids.
    """
    outline = TreeOutline(graph)
    yield f'{{"directed": true, "multigraph": true, "graph": {json_text(graph.graph)},\n"nodes": ['
    yield from _lines({"id": node, **data} for node, data in graph.nodes(data=True))
    yield ',\n"edges": ['
    yield from _lines({"source": source, "target": target, "key": key, **data}
                      for source, target, key, data in graph.edges(keys=True, data=True))
    yield ',\n"tree": ['
    yield from _lines(_branch(graph, outline, node) for node in outline.roots)
    yield "}\n"


def _lines(items: Iterable[Any]) -> Iterator[str]:
    """Write each item on its own line, then close the list."""
    for number, item in enumerate(items):
        yield f"{',' if number else ''}\n{json_text(item)}"
    yield "]"


def _branch(graph: TreeGraph, outline: TreeOutline, community: str) -> dict[str, Any]:
    branch = {"id": community, "name": graph.nodes[community]["name"], "keywords": outline.keywords(community)}
    children = outline.children(community)
    if children:
        return {**branch, "children": [_branch(graph, outline, node) for node in children]}
    return {**branch, "members": outline.members(community)}
