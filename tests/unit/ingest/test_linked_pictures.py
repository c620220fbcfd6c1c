"""Pictures of Markdown and HTML: those of the document are counted in one line, those of the web and icons are not."""

import pytest
from banyan.ingest.linked_pictures import count_in_markdown
from banyan.text.metadata_line import UNREAD

from ... import loading

EMBEDDED = "data:image/png;base64," + "iVBORw0KGgo" * 200


@pytest.mark.parametrize(("text", "counted"), [
    ("![Plan](plan.png)\n\n![](img/door%20a.jpg 'Door') and ![Plan](<plan.png>)", "2 pictures"),
    ("[![Build](https://ci.example.org/b.svg)](https://ci.example.org) ![x](//cdn.example.org/a.png)", ""),
    ("![[Bell tower.png|300]] and ![[Notes on bells]]", "1 picture"), (f"![Bell]({EMBEDDED})", "1 picture"),
    ("`![Plan](plan.png)`\n\n```\n![Plan](plan.png)\n```\n\n<!-- ![Plan](plan.png) -->", ""), ("No picture!", "")])
def test_pictures_of_markdown(text, counted):
    assert count_in_markdown(text) == counted


def test_a_document_says_which_pictures_are_not_read(tmp_path):
    text = "# Alder\n\n![Badge](https://example.org/a.svg)\n\n![Plan](plan.png)\n\nIt opened in 2011."
    (document,), failures = loading.load(loading.write(tmp_path / "plan.md", text))
    assert (failures, document.metadata[UNREAD]) == ([], "1 picture")
