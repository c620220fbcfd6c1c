"""Copies of PDF files, and their pages as pictures."""

from io import BytesIO

import numpy as np
import pytest
from banyan.graph_store.layout import PrintedWorks
from banyan.ingest.reading import UnreadableError
from banyan.ingest.reading_process import draw_page
from banyan.runtime.threads import run
from banyan.schemas.documents import Document
from PIL import Image

from ...serving import print_work

WORDS = "Zora Lind was born in Turku."


def drawn_page(file, page, words=""):
    return run(draw_page, file, page, words)


@pytest.fixture
def printed(tmp_path):
    print_work(tmp_path / "harbours.pdf", "A report on harbours.", WORDS)
    return tmp_path / "harbours.pdf"


def document(source, *, pages=(0, 22), name="harbours.pdf"):
    return Document(id=name, title="", text="A report on harbours.\n\nZora Lind.", source=str(source), pages=pages)


def test_the_file_of_a_printed_work_is_copied_and_goes_with_its_document(tmp_path, printed):
    works = PrintedWorks(tmp_path / "printed")
    assert works.find("harbours.pdf") is None
    works.keep(document(printed))
    works.keep(document(printed, name="other/harbours.pdf"))
    assert works.find("harbours.pdf").read_bytes() == printed.read_bytes()
    works.keep_only({"other/harbours.pdf"})
    assert works.find("harbours.pdf") is None
    works.keep(document(printed, pages=(), name="other/harbours.pdf"))
    assert works.find("other/harbours.pdf") is None
    assert not list((tmp_path / "printed").iterdir())


def test_a_page_is_drawn(printed):
    with Image.open(BytesIO(drawn_page(printed, 2))) as picture:
        assert picture.format == "PNG"
        assert picture.width == 1000
        assert picture.convert("L").histogram()[0] > 0
    with pytest.raises(UnreadableError, match="page 3 cannot be drawn"):
        drawn_page(printed, 3)
    printed.write_bytes(b"%PDF-1.7 broken")
    with pytest.raises(UnreadableError, match="cannot be drawn"):
        drawn_page(printed, 1)


def test_words_are_marked_on_their_page_whatever_its_lines(printed):
    def marked(page, words):
        with Image.open(BytesIO(drawn_page(printed, page, words))) as picture:
            return np.argwhere((np.asarray(picture.convert("RGB")) == (255, 226, 122)).all(axis=2))

    whole = marked(2, WORDS)
    assert len(whole) > 1000
    part = marked(2, "Zora Lind")
    assert 0 < len(part) < len(whole)
    assert len(marked(2, "\n".join(WORDS.split()))) == len(whole), "white space does not matter"
    assert len(marked(1, WORDS)) == 0, "nothing of it is there"
