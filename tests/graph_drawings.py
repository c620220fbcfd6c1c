"""The drawings of both graphs in docs: `python -m tests.graph_drawings` writes them."""

from pathlib import Path

from banyan.agents.construction.graph import graph as construction
from banyan.agents.retrieval.graph import graph as retrieval

from .graph_pictures import picture

DOCS = Path(__file__).parent.parent / "docs"
_GRAPHS = {"Construction": construction, "Retrieval": retrieval}
_HEAD = """\
# The two graphs

As LangGraph compiled them. Dashed: taken when it is needed. `python -m tests.graph_drawings` writes this page.
"""


def files() -> dict[Path, str]:
    """What each file holds: the page, with a picture and LangGraph's Mermaid drawing of each graph; the pictures."""
    parts, files = [_HEAD], {}
    for title, graph in _GRAPHS.items():
        drawn, name = graph.get_graph(), f"pictures/graph-{title.lower()}.svg"
        files[DOCS / name] = picture(drawn, f"The nodes and edges of the {title.lower()} graph")
        parts.append(f"## {title}\n\n![The nodes and edges of the {title.lower()} graph]({name})\n\n"
                     f"```mermaid\n{drawn.draw_mermaid().strip()}\n```\n")
    return {DOCS / "graphs.md": "\n".join(parts), **files}


if __name__ == "__main__":
    for file, text in files().items():
        file.write_text(text, "utf-8")
