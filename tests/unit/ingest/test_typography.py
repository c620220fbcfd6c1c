"""Words printed in another form than they are written: broken, with soft hyphens or ligatures, or drawn twice."""

import pytest
from banyan.text.cleaning import broken_word_joiner, clean_text

from ... import pdf_sheets

pytestmark = pytest.mark.usefixtures("shared_reading")
BOLD = "The north pier was closed"


@pytest.mark.parametrize(("written", "read"), [
    ("Otto Schi\ufb00er lived in Pfa\ufb03ngen.", "Otto Schiffer lived in Pfaffingen."),
    ("Kai\xadsers\xadlau\xadtern", "Kaiserslautern"), ("Kai\xad\n  serslautern", "Kaiserslautern"),
    ("end\xad\n\nnext", "end\n\nnext"), ("caf\u00e9 \u1e9e \u0133", "caf\u00e9 \u1e9e \u0133")])
def test_soft_hyphens_and_ligatures_are_letters(written, read):
    assert clean_text(written) == read


def test_list_marks_of_symbol_fonts_are_bullets():
    assert clean_text("\uf06c no source\n\uf0b7 no licence\n\uf0fc signed") == "• no source\n• no licence\n✓ signed"


@pytest.mark.parametrize(("broken", "joined"), [
    ("in Kaisers-\nlautern in 1931", "in Kaiserslautern\nin 1931"),
    ("the Anglo-\nSaxon\nking", "the Anglo-Saxon\nking"),
    ("a dual-encoder, the dual-\nencoder model", "a dual-encoder, the dual-encoder\nmodel"),
    ("a well known road, a well-\nknown\nroad", "a well known road, a well-known\nroad"),
    ("undertaken by him, under-\ntaken", "undertaken by him, undertaken"),
    ("pre-\nand post-war", "pre-\nand post-war"), ("the years 1914-\n1918", "the years 1914-\n1918"),
    ("- one\n- two", "- one\n- two"), ("北-\n京", "北-\n京")])
def test_words_broken_at_line_ends(broken, joined):
    assert broken_word_joiner([broken])(broken) == joined


def test_broken_words_of_a_pdf_file_and_of_its_cells_are_whole():
    file = pdf_sheets.sheet()
    file.multi_cell(100, text="The mill was sold to Berg-\nmann Holding in 1961.")
    pdf_sheets.write_table(file, [("Town", "People"), ("Kaisers-\nlautern", "99"), ("Ulm", "120")])
    text = pdf_sheets.text_of(file)
    assert "sold to Bergmann\nHolding" in text
    assert "| Town: Kaiserslautern | People: 99 |" in text


def test_letters_drawn_twice_are_read_once():
    file = pdf_sheets.sheet()
    file.text(20, 20, "Inspection of the bridge")
    for place, letter in enumerate(BOLD):
        for shift in (0, 0.1):
            file.text(20 + 3.2 * place + shift, 30 + shift, letter)
    file.text(20, 40, "The south pier is sound.")
    letters = pdf_sheets.text_of(file).replace(" ", "").split("\n")
    assert letters == ["Inspectionofthebridge", BOLD.replace(" ", ""), "Thesouthpierissound."]
