"""The drawings of both graphs in docs.

The SVG pictures are for the site, which loads no program that would draw Mermaid. Nodes stand in the layer of their
longest way from the start, the end by itself. Edges that lead back, or past a layer, are arcs. Conditional edges are
dashed, as LangGraph draws them.
"""

from html import escape
from pathlib import Path
from typing import Any

import networkx as nx
from banyan.agents.construction.graph import graph as construction
from banyan.agents.retrieval.graph import graph as retrieval

_WIDTH, _HEIGHT, _BOX, _GAP, _BESIDE = 180, 40, 160, 78, 24
_STYLE = ('<style>text{font:13px sans-serif;text-anchor:middle;fill:#1d211f}rect{fill:#e6f1ea;stroke:#1f6b45}'
          'path{fill:none;stroke:#6b756f;marker-end:url(#a)}.if{stroke-dasharray:4 3}</style>'
          '<marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
          '<path d="M0 0L8 4L0 8z" style="fill:#6b756f;stroke:none;marker-end:none"/></marker>')
DOCS = Path(__file__).parent.parent / "docs"
_GRAPHS = {"Construction": construction, "Retrieval": retrieval}
_HEAD = """\
# The two graphs

As LangGraph compiled them. Dashed: taken when it is needed. `python -m tests.generated_pages` writes this page.
"""


def picture(drawn: Any, title: str) -> str:
    network = nx.DiGraph()
    network.add_nodes_from(sorted(drawn.nodes))
    network.add_edges_from(sorted((edge.source, edge.target, {"if": edge.conditional}) for edge in drawn.edges))
    # Within a loop, the edges that are taken when they are needed lead back.
    loops = {node: loop for loop in nx.strongly_connected_components(network) for node in loop}
    forward = nx.DiGraph((node, after) for node, after, is_conditional in network.edges(data="if")
                         if after not in loops[node] or not is_conditional)
    layers = [sorted(layer) for layer in nx.topological_generations(forward)]
    width = max(map(len, layers)) * _WIDTH + 80
    places = {node: (width / 2 + (index - (len(layer) - 1) / 2) * _WIDTH, 30 + number * _GAP)
              for number, layer in enumerate(layers) for index, node in enumerate(layer)}
    height = 60 + (len(layers) - 1) * _GAP
    lines = [_edge(places, edge, conditional=network.edges[edge]["if"], back=edge not in forward.edges)
             for edge in sorted(network.edges)]
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            f'aria-label="{escape(title)}">')
    ground = f'<rect width="{width}" height="{height}" style="fill:#fcfbf7;stroke:none"/>'
    return "\n".join([head, _STYLE, ground, *lines, *(_node(node, *places[node]) for node in sorted(places)),
                      "</svg>", ""])


def _edge(places: dict[str, tuple[float, float]], edge: tuple[str, str], *, conditional: bool, back: bool) -> str:
    (x1, y1), (x2, y2) = places[edge[0]], places[edge[1]]
    if edge[0] == edge[1]:
        y1, y2 = y1 + _HEIGHT / 4, y1 - _HEIGHT / 4
    beside = [x for x, y in places.values() if min(y1, y2) <= y <= max(y1, y2)]
    half, kind = _HEIGHT / 2, "if" if conditional else "then"
    if back or y2 - y1 > _GAP:  # past a layer: around it on the right if it leads back, else on the left
        side = 1 if back or x1 > places["__start__"][0] else -1
        start, end = x1 + side * _BOX / 2, x2 + side * _BOX / 2
        outermost = max(beside, key=lambda x: side * x) + side * (_BOX / 2 + _BESIDE)
        # Where both control points of a cubic curve lie so that half of its way is there.
        out = (8 * outermost - start - end) / 6
        way = f"M{start:g} {y1:g}C{out:g} {y1:g} {out:g} {y2:g} {end:g} {y2:g}"
    else:
        way = f"M{x1:g} {y1 + half:g}L{x2:g} {y2 - half:g}"
    return f'<path d="{way}" class="{kind}"/>'


def _node(name: str, x: float, y: float) -> str:
    shown = {"__start__": "start", "__end__": "end"}.get(name, name)
    return (f'<rect x="{x - _BOX / 2:g}" y="{y - _HEIGHT / 2:g}" width="{_BOX}" height="{_HEIGHT}" '
            f'rx="{20 if shown != name else 6}"/><text x="{x:g}" y="{y + 5:g}">{escape(shown)}</text>')


def files() -> dict[Path, str]:
    """What each file holds: the page, with a picture and LangGraph's Mermaid drawing of each graph; the pictures."""
    parts, files = [_HEAD], {}
    for title, graph in _GRAPHS.items():
        drawn, name = graph.get_graph(), f"pictures/graph-{title.lower()}.svg"
        files[DOCS / name] = picture(drawn, f"The nodes and edges of the {title.lower()} graph")
        parts.append(f"## {title}\n\n![The nodes and edges of the {title.lower()} graph]({name})\n\n"
                     f"```mermaid\n{drawn.draw_mermaid().strip()}\n```\n")
    return {DOCS / "graphs.md": "\n".join(parts), **files}
