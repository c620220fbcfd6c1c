"""GraphML for NetworkX, Gephi, yEd and Cytoscape; lists and maps are JSON text."""

from collections.abc import Iterator, Mapping
from typing import Any
from xml.sax.saxutils import escape

from ..graph_store.graph.tree_graph import TreeGraph
from ..schemas.naming import content_id
from .text import json_text, printable

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
    return "".join(f'<data key="{owner}_{name}">{_text(data[name])}</data>' for name in types if name in data)


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json_text(value)
    # A bare carriage return would be read back as a line feed.
    return escape(printable(text), {"\r": "&#13;"})
