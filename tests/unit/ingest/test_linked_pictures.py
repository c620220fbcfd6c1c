"""Pictures of Markdown and HTML: those of the document are counted in one line, those of the web and icons are not."""

import pytest
from banyan.ingest.linked_pictures import count_in_markdown
from banyan.text.metadata_line import UNREAD

from ... import loading

EMBEDDED = "data:image/png;base64," + "iVBORw0KGgo" * 200


@pytest.mark.parametrize(("text", "counted"), [
    ("![Plan](plan.png)\n\n![](img/door%20a.jpg 'Door') and ![Plan](<plan.png>)", "2 pictures"),
    ("[![Build](https://ci.example.org/b.svg)](https://ci.example.org) ![x](//cdn.example.org/a.png)", ""),
    ("![Site][map]\n\n[map]: maps/site.png\n[other]: unused.png", "1 picture"),
    ("![[Bell tower.png|300]] and ![[Notes on bells]]", "1 picture"),
    ('<p><img alt="Bell" src="bell.png" width="600"><img src="dot.gif" width="16"><img src="line.png" alt=""></p>',
     "1 picture"),
    (f"![Bell]({EMBEDDED})", "1 picture"),
    ("![Dot](data:image/gif;base64,R0lGODlhAQABAAAAACw=)", ""),
    ("`![Plan](plan.png)`\n\n```\n![Plan](plan.png)\n```\n\n<!-- ![Plan](plan.png) -->", ""),
    ("Write \\<img src=\"a.png\"> or [a link](plan.png).", ""),
    ("No picture!", "")])
def test_pictures_of_markdown(text, counted):
    assert count_in_markdown(text) == counted


def test_a_document_says_which_pictures_are_not_read(tmp_path):
    text = "# Alder\n\n![Badge](https://example.org/a.svg)\n\n![Plan](plan.png)\n\nIt opened in 2011."
    (document,), failures = loading.load(loading.write(tmp_path / "plan.md", text))
    assert (failures, document.metadata[UNREAD]) == ([], "1 picture")
