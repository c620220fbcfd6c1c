"""The export formats, by the name that users give."""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from ..graph_store.graph.tree_graph import TreeGraph
from .cypher import cypher
from .graphml import graphml
from .node_link import node_link
from .tree_page import page

ExportFormat = Literal["graphml", "json", "cypher", "html"]


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
