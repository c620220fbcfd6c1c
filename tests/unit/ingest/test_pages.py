"""Where the pages of a printed work begin in its text."""

from banyan.ingest.loaders import load_documents
from fpdf import FPDF
from pypdf import PdfReader, PdfWriter


def test_the_pages_of_a_pdf_are_counted_from_its_own_text(tmp_path):
    path, written = tmp_path / "a.pdf", FPDF()
    for words in ("Banyan trees grow.", "", "They spread."):
        written.add_page()
        written.set_font("helvetica")
        if words:
            written.cell(text=words)
    written.output(path)
    writer = PdfWriter(PdfReader(path))
    writer.add_metadata({"/Author": "Ada", "/Title": "Trees"})
    writer.write(path)
    (document,) = load_documents([path], on_failure=lambda failure: None)
    assert "Author" in document.text[:document.pages[0]], "what the file says of itself stands before its first page"
    assert [document.text[start:][:4] for start in document.pages] == ["Bany", "They", "They"]
