"""`banyan export`: a knowledge base written for other programs and for people."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from .console import escape
from .shared import Kb, err, opened

if TYPE_CHECKING:
    from ..export.tree_graph import TreeGraph

ExportForm = Literal["graphml", "json", "cypher", "html"]
_STANDARD_OUTPUT = Path("-")


def export(
    kb: Kb,
    form: Annotated[ExportForm, typer.Option("--format", help="html: one page to look at, which works offline.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Write it to this file; -: to standard output.")],
) -> None:
    """Write a knowledge base with its tree as GraphML, JSON, Cypher statements or a page; a file is replaced whole."""
    from ..export.files import write_file  # noqa: PLC0415
    from ..export.tree_graph import tree_graph  # noqa: PLC0415

    with opened(reasons=False) as resources, err.status("reading"):
        graph = tree_graph(resources.knowledge_base(kb))
    if not graph.graph["current"]:
        err.print(f"[yellow]the tree is behind the facts:[/yellow] build again, or run `banyan reindex --kb {kb}`")
    if output == _STANDARD_OUTPUT:
        for piece in _pieces(graph, form):
            sys.stdout.buffer.write(piece.encode())
        return
    with err.status("writing"):
        size = write_file(output, _pieces(graph, form))
    err.print(f"{graph.number_of_nodes()} nodes and {graph.number_of_edges()} edges written to {escape(str(output))}, "
              f"{size:,} bytes", soft_wrap=True)


def _pieces(graph: "TreeGraph", form: ExportForm) -> Iterator[str]:
    from ..export.cypher import cypher  # noqa: PLC0415
    from ..export.graphml import graphml  # noqa: PLC0415
    from ..export.node_link import node_link  # noqa: PLC0415
    from ..export.page import page  # noqa: PLC0415

    return {"graphml": graphml, "json": node_link, "cypher": cypher, "html": page}[form](graph)
