"""The map of an exported page, which draws the graph without a network or other files.

It is drawn by the JavaScript modules of the server's page, which are put into the exported file one after another.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..graph_store.graph.graph_file import MEMBER_OF, TreeGraph
from ..text.cleaning import json_text, printable, visible
from ..tools.sentence_links import SentenceLink

_WEB = Path(__file__).parent.parent / "server" / "web"
_MODULES = ("visible.js", "graph/colours.js", "saving.js", "graph/picture.js", "graph/shown.js",
            "graph/canvas.js")
"""The modules that draw, each after those that it imports."""
_MOST_NODES = 80
_CANDIDATES = 3
"""How many entities are considered for each one that is drawn, because only those with links are drawn."""
_NAME = 120
_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
_VENDOR = re.compile(r"export\{(\w+) as default\};?\s*$")


def map_entities(graph: TreeGraph) -> list[str]:
    """Return the entities that are considered for the map: those that most documents mention, then with most facts."""
    degrees = {node: 0 for node, data in graph.nodes(data=True) if data["kind"] == "entity"}
    for head, tail, data in graph.edges(data=True):
        if data["kind"] == "triple":
            degrees[head] += 1
            degrees[tail] += 1
    ranked = sorted(degrees, key=lambda node: (-len(graph.nodes[node]["documents"]), -degrees[node],
                                               graph.nodes[node]["name"], node))
    return ranked[:_CANDIDATES * _MOST_NODES]


def map_data(graph: TreeGraph, links: Sequence[SentenceLink]) -> str:
    """Return the map's content as JSON: nodes, edges, and the names of communities."""
    candidates = map_entities(graph)
    edges = [*_facts(graph, set(candidates)), *_sentence_links(links, set(candidates))]
    linked = {end for edge in edges for end in (edge["source"], edge["target"])}
    shown = [node for node in candidates if node in linked][:_MOST_NODES]
    shown_edges = [edge for edge in edges if {edge["source"], edge["target"]} <= set(shown)]
    nodes = [_node(graph, node) for node in shown]
    community_ids = dict.fromkeys(node["community"] for node in nodes if node["community"])
    communities = {community: visible(graph.nodes[community]["name"]) for community in community_ids}
    return printable(json_text({"nodes": nodes, "communities": communities, "edges": shown_edges}))


def _node(graph: TreeGraph, node: str) -> dict[str, Any]:
    data = graph.nodes[node]
    edges = [*graph.in_edges(node, data=True), *graph.out_edges(node, data=True)]
    community = next((end for _, end, edge in graph.out_edges(node, data=True) if edge["kind"] == MEMBER_OF), "")
    return {"id": node, "name": visible(data["name"][:_NAME]), "type": visible(data["type"]), "community": community,
            "support": len(data["documents"]), "degree": sum(edge["kind"] == "triple" for *_, edge in edges)}


def _facts(graph: TreeGraph, nodes: set[str]) -> Iterator[dict[str, Any]]:
    for head, tail, data in graph.edges(data=True):
        if data["kind"] == "triple" and {head, tail} <= nodes:
            yield {"id": data["id"], "source": head, "target": tail, "relation": visible(data["relation"]),
                   "kind": "fact", "start": data.get("start", ""), "end": data.get("end", "")}


def _sentence_links(links: Sequence[SentenceLink], nodes: set[str]) -> Iterator[dict[str, Any]]:
    for one, other, _ in links:
        if {one, other} <= nodes:
            yield {"id": f"{one} {other}", "source": one, "target": other, "relation": "", "kind": "sentence"}


def map_style() -> str:
    """Return the style sheet with the colours of the server's page, which the map uses too."""
    return (_WEB / "colours.css").read_text("utf-8")


def map_script() -> str:
    """Return the script that draws the map: Cytoscape, the modules of the server's page, and the export's own."""
    vendor = (_WEB / "vendor" / "cytoscape.esm.min.js").read_text("utf-8")
    parts = ["const cytoscape = (() => {", _VENDOR.sub(r"return \1;", vendor), "})();"]
    parts += [_as_function((_WEB / name).read_text("utf-8")) for name in _MODULES]
    parts.append((Path(__file__).parent / "map.js").read_text("utf-8"))
    return "(() => {\n" + "\n".join(parts) + "\n})();\n"


def _as_function(module: str) -> str:
    """Return a JavaScript module as a function that is called at once and returns the module's exports."""
    names = ", ".join(_EXPORT.findall(module))
    return f"const {{ {names} }} = (() => {{\n{_EXPORT.sub('', _IMPORT.sub('', module))}\nreturn {{ {names} }};\n}})();"
