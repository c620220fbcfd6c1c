"""What the documentation shows of the graphs."""

from ..conftest import load_test_module

graph_drawings = load_test_module("graph_drawings")


def test_the_drawings_are_those_of_the_graphs():
    assert graph_drawings.PAGE.read_text("utf-8") == graph_drawings.page(), "run `python tests/graph_drawings.py`"
