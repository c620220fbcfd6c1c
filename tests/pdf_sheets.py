"""PDF files with tables and with what looks like them, and what is read of them."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from banyan.ingest.readers.pdf_files import read_pdf
from banyan.ingest.reading import Limits
from banyan.text.table_rows import find_rows
from fpdf import FPDF
from pypdf import PdfReader

PRODUCTS = [("Product", "Price (EUR)", "Maker"), ("D100", "10", "Acme"), ("D200", "20", "Bolt Works")]
ROWS = "| Product: D100 | Price: 10 EUR | Maker: Acme |\n| Product: D200 | Price: 20 EUR | Maker: Bolt Works |"
PROSE = ("Banyan trees grow in the forests of Asia, where their roots hang down from the branches until they reach "
         "the ground. There they become trunks, and one tree covers the area of a small village with its shade. ")


def sheet() -> FPDF:
    file = FPDF()
    file.set_font("helvetica", size=11)
    file.add_page()
    return file


def pdf(path: Path, pages: Sequence[Any], title: str = "") -> Path:
    file = FPDF(unit="pt")
    file.set_font("helvetica", size=12)
    file.set_title(title)
    for page in pages:
        if isinstance(page, str):
            file.add_page()
            file.multi_cell(0, text=page)
        else:
            file.add_page(format=(page.width * 72 / 150, page.height * 72 / 150))
            file.image(page, x=0, y=0, w=file.w)
    file.output(str(path))
    return path


def text_of(file: FPDF) -> str:
    return read_pdf(bytes(file.output()), Limits()).text


def rows_of(file: FPDF) -> list[str]:
    text = text_of(file).replace("\f", "\n")
    return [text[row.start:row.end] for row in find_rows(text)]


def write_table(file: FPDF, rows: Sequence[Sequence[str]], **options) -> None:
    with file.table(**options) as table:
        for row in rows:
            table.row(row)


def plain_text(file: FPDF) -> str:
    pages = (page.extract_text() for page in PdfReader(io.BytesIO(bytes(file.output()))).pages)
    return "\f".join("\n".join(line.rstrip() for line in page.split("\n")) for page in pages)


def place(file: FPDF, rows: Sequence[Sequence[str]], top: float = 40, lefts: Sequence[float] = (20, 60, 100, 140),
          pitch: float = 6) -> None:
    for number, row in enumerate(rows):
        for left, text in zip(lefts, row, strict=False):
            file.text(left, top + number * pitch, text)


def rules(file: FPDF, *tops: float, left: float = 18, right: float = 160) -> None:
    for top in tops:
        file.line(left, top, right, top)
