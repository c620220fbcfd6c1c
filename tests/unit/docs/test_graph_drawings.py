"""What the documentation shows of the graphs."""
from ... import graph_drawings


def test_the_drawings_are_those_of_the_graphs():
    for file, text in graph_drawings.files().items():
        assert file.read_text("utf-8") == text, "run `python -m tests.graph_drawings`"
