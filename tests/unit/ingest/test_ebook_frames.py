"""Project Gutenberg e-books: the work first, its fields as metadata, the licence behind it as back matter."""

import pytest
from banyan.ingest.loaders import without_frame
from banyan.ingest.reading import Content
from banyan.text.section_lines import is_back_matter, lines_under

from ...loading import only, write

pytestmark = pytest.mark.usefixtures("shared_reading")

FRAME = """\ufeffThe Project Gutenberg EBook of The Quay, by Ann Poe

This eBook is for the use of anyone anywhere at no cost.

Title: The Quay

Author: Ann Poe

Language: English

*** START OF {} PROJECT GUTENBERG EBOOK THE QUAY ***

Chapter 1

Boats lie at the quay.

{}END OF {} PROJECT GUTENBERG EBOOK THE QUAY ***

Section 1. General Terms of Use. Fees may be charged.
""".replace("\n", "\r\n")


@pytest.mark.parametrize("text", [FRAME.format("THIS", "*** ", "THIS"), FRAME.format("THE", "*** ", "THE"),
                                  FRAME.format("THIS", "End of Project Gutenberg's The Quay\n*** ", "THIS")])
def test_the_work_is_first_and_its_licence_is_back_matter(tmp_path, text):
    document = only(write(tmp_path / "quay.txt", text))
    assert (document.title, document.metadata) == ("The Quay", {"author": "Ann Poe", "language": "English"})
    sections = {line.text: is_back_matter(" > ".join(line.above)) for line in lines_under(document.text, "")}
    assert not sections["Boats lie at the quay."]
    assert sections["Section 1. General Terms of Use. Fees may be charged."]
    assert sections["This eBook is for the use of anyone anywhere at no cost."]
    assert document.text.index("Boats lie") < document.text.index("This eBook is for")


def test_printed_pages_stay_in_order():
    content = Content(FRAME.format("THIS", "*** ", "THIS").replace("Chapter 1", "\f Chapter 1"), paged=True)
    assert without_frame(content) == content


def test_other_texts_stay_as_they_are(tmp_path):
    text = "Title: Of e-books\n\nThe line *** START OF THE PROJECT GUTENBERG EBOOK *** begins a work.\n"
    document = only(write(tmp_path / "a.txt", text))
    assert (document.title, document.text.strip()) == ("a", text.strip())
