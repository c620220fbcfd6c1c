"""What the documentation shows of the graphs."""

from ..conftest import load_test_module

graph_drawings = load_test_module("graph_drawings")


def test_the_drawings_are_those_of_the_graphs():
    for file, text in graph_drawings.files().items():
        assert file.read_text("utf-8") == text, "run `python -m tests.graph_drawings`"


def test_a_picture_has_every_node_and_edge():
    drawn = graph_drawings.retrieval.get_graph()
    picture = graph_drawings.picture(drawn, "a & b")
    assert picture.count("<text ") == len(drawn.nodes)
    assert picture.count('<path d="') == len(drawn.edges) + 1  # and the arrow's head
    assert picture.count('class="if"') == sum(edge.conditional for edge in drawn.edges) > 5
    assert 'aria-label="a &amp; b"' in picture
