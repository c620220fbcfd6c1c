"""The export formats, by the name that users give; here GraphML, for NetworkX, Gephi, yEd and Cytoscape, and JSON.

JSON is in NetworkX's node-link format, which `networkx.node_link_graph` reads, together with the tree. In GraphML lists
and maps are JSON text.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple
from xml.sax.saxutils import escape

from ..graph_store.graph.graph_file import TreeGraph
from ..schemas.naming import content_id
from ..text.cleaning import json_text, printable
from ..tools.index import RetrievalIndex
from ..tools.sentence_links import link_by_sentences
from .cypher import cypher
from .map_section import map_entities
from .tree_page import TreeOutline, page

ExportFormat = Literal["graphml", "json", "cypher", "html"]
_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
"""
_GRAPH = {"name": "string", "schema": "string", "schema_version": "long", "documents": "long", "current": "boolean"}
_NODE = {"kind": "string", "name": "string", "type": "string", "names": "string", "documents": "string",
         "attributes": "string", "times": "string", "summary": "string", "level": "long", "size": "long",
         "cohesion": "double"}
_EDGE = {"kind": "string", "relation": "string", "confidence": "double", "documents": "string", "sources": "string",
         "time": "string", "start": "string", "end": "string", "rank": "long"}


def graphml(graph: TreeGraph) -> Iterator[str]:
    """Write the graph as GraphML, in pieces.

    Replace characters that XML forbids with U+FFFD; inside JSON text they are escaped instead.
    """
    yield _HEAD
    for owner, types in (("graph", _GRAPH), ("node", _NODE), ("edge", _EDGE)):
        for name, kind in types.items():
            yield f'  <key id="{owner}_{name}" for="{owner}" attr.name="{name}" attr.type="{kind}"/>\n'
    yield '  <graph edgedefault="directed">\n'
    yield _data("graph", _GRAPH, graph.graph)
    for node, data in graph.nodes(data=True):
        yield f'    <node id="{node}">{_data("node", _NODE, data)}</node>\n'
    for source, target, data in graph.edges(data=True):
        # GraphML needs edge ids that are unique in the file, and a relation's name is not.
        identity = data.get("id") or content_id(source, data["kind"], target)
        yield f'    <edge id="{identity}" source="{source}" target="{target}">{_data("edge", _EDGE, data)}</edge>\n'
    yield "  </graph>\n</graphml>\n"


def _data(owner: str, types: Mapping[str, str], data: Mapping[str, Any]) -> str:
    return "".join(f'<data key="{owner}_{name}">{_xml_text(data[name])}</data>' for name in types if name in data)


def _xml_text(value: Any) -> str:
    text = value if isinstance(value, str) else json_text(value)
    # A bare carriage return would be read back as a line feed.
    return escape(printable(text), {"\r": "&#13;"})


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


class Format(NamedTuple):
    """A function that writes a graph in pieces, and the result's media type. The file suffix is the format's name."""

    write: Callable[[TreeGraph], Iterator[str]]
    media_type: str


FORMATS: dict[ExportFormat, Format] = {
    "graphml": Format(graphml, "application/xml"),
    "json": Format(node_link, "application/json"),
    "cypher": Format(cypher, "text/plain"),
    "html": Format(page, "text/html"),
}


def export_pieces(form: ExportFormat, graph: TreeGraph, index: Callable[[], RetrievalIndex]) -> Iterator[str]:
    """Return the pieces of the file that a graph is exported to.

    Args:
        form: the format.
        graph: the graph with its tree.
        index: opens what retrieval reads of it: the page also draws the links by sentences.
    """
    if form != "html":
        return FORMATS[form].write(graph)
    return page(graph, link_by_sentences(index(), map_entities(graph)))
