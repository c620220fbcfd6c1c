"""The export formats, by the name that users give."""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from ..graph_store.graph.tree_graph import TreeGraph
from ..tools.index import RetrievalIndex
from ..tools.sentence_links import link_by_sentences
from .cypher import cypher
from .graphml import graphml
from .map_section import map_entities
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
