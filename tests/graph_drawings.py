"""The drawings of both graphs in docs, made by LangGraph: `python tests/graph_drawings.py` writes them."""

from pathlib import Path

from banyan.agents.construction.graph import graph as construction
from banyan.agents.retrieval.graph import graph as retrieval

PAGE = Path(__file__).parent.parent / "docs" / "graphs.md"


def page() -> str:
    """The page, as Markdown with a Mermaid diagram of each graph."""
    graphs = {"Construction": construction, "Retrieval": retrieval}
    drawings = [f"## {title}\n\n```mermaid\n{graph.get_graph().draw_mermaid().strip()}\n```\n"
                for title, graph in graphs.items()]
    head = "# The two graphs\n\nDrawn by LangGraph. `python tests/graph_drawings.py` writes this page.\n"
    return "\n".join([head, *drawings])


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
