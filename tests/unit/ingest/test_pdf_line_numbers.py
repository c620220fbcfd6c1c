"""Line numbers printed beside the text of PDF files."""

import pytest
from banyan.ingest.readers.pdf_page_checks import drop_line_numbers

from ...pdf_sheets import sheet, text_of

WORDS = "The harbour master keeps the register of every boat that lies at the quay"


def numbered(first, lines=24):
    return "\n".join([" ", *(f"{WORDS} {number} " for number in range(first, first + lines)), f"\t{first + lines}"])


def test_numbers_that_count_the_lines_are_no_words_of_the_text():
    title = "BYLAWS\nof the harbour 1895"
    assert drop_line_numbers([title, numbered(1), numbered(26)]) == [
        title, *2 * ["\n".join([" ", *24 * [WORDS], ""])]]


@pytest.mark.parametrize("pages", [
    [numbered(1), WORDS],
    2 * [numbered(1, lines=9)],
    2 * ["\n".join(f"{WORDS} {2 * number}" for number in range(30))],
    2 * [numbered(1) + f"\n{WORDS}" * 20]], ids=["one page", "few lines", "other numbers", "few of the lines"])
def test_other_numbers_at_the_ends_of_lines_stay(pages):
    assert drop_line_numbers(pages) == pages


def test_a_pdf_with_numbered_lines_is_read_without_the_numbers():
    file = sheet()
    for page in range(2):
        if page:
            file.add_page()
        for line in range(20):
            file.cell(150, 8, WORDS)
            file.cell(20, 8, str(20 * page + line + 1), new_x="LMARGIN", new_y="NEXT")
    text = text_of(file)
    assert text.count(WORDS) == 40
    assert not any(character.isdecimal() for character in text)
