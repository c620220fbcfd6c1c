"""Damaged files of every format among good ones: the good ones are read, each of the others is read or a failure."""

import json
import random
import shutil
import time
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from zipfile import ZipFile

import docx
import xlsxwriter
from banyan.ingest.formats import PARSED
from banyan.ingest.loaders import load_documents
from banyan.ingest.reading import MEGABYTE, Limits
from fpdf import FPDF
from pptx import Presentation

from .mutations import mutated

GOOD = "Ada Blum was born in Warsaw. She worked in Paris from 1911 to 1920."
LIMITS = Limits(file_bytes=5 * MEGABYTE, seconds=20)
_STARTING = 20.0
"""Seconds that a killed reading process may take to be there again."""


def _word(path: Path) -> None:
    made = docx.Document()
    made.core_properties.author = "Jane Doe"
    made.add_heading("Minutes", 1)
    made.add_paragraph(GOOD, style="List Bullet")
    table = made.add_table(2, 2)
    for number, cell in enumerate(cell for row in table.rows for cell in row.cells):
        cell.text = f"cell {number}"
    table.cell(1, 1).add_table(2, 2)
    made.save(str(path))


def _slides(path: Path) -> None:
    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[1])
    slide.shapes.title.text = "Prices"
    slide.placeholders[1].text = GOOD
    made.save(str(path))


def _sheet(path: Path) -> None:
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        for row, values in enumerate((("Product", "Price (EUR)"), ("D100", 10), ("D200", 20.5))):
            sheet.write_row(row, 0, values)


def _pdf(path: Path) -> None:
    made = FPDF()
    made.set_title("Ada")
    for _ in range(2):
        made.add_page()
        made.set_font("helvetica")
        made.multi_cell(0, text=GOOD)
        with made.table() as table:
            for row in (("Product", "Price (EUR)"), ("D100", "10"), ("D200", "20.5")):
                table.row(row)
    made.output(str(path))


def _book(path: Path) -> None:
    with ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
                         '<rootfiles><rootfile full-path="a.opf"/></rootfiles></container>')
        archive.writestr("a.opf", '<package xmlns="http://www.idpf.org/2007/opf"><metadata/><manifest><item id="a" '
                         'href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/>'
                         "</spine></package>")
        archive.writestr("a.xhtml", f"<html><body><h1>Ada</h1><p>{GOOD}</p></body></html>")


def _open_text(path: Path) -> None:
    names = " ".join(f'xmlns:{name}="urn:{name}"' for name in ("office", "text", "table"))
    row = "<table:table-row>{}</table:table-row>".format("<table:table-cell><text:p>a</text:p></table:table-cell>" * 2)
    with ZipFile(path, "w") as archive:
        archive.writestr("content.xml", f"<office:document {names}><office:body><text:h>Ada</text:h>"
                         f"<text:list><text:list-item><text:p>{GOOD}</text:p></text:list-item></text:list><table:table>"
                         f"{row * 2}</table:table></office:body></office:document>")


def _mail(path: Path) -> None:
    message = EmailMessage()
    message["Subject"], message["From"] = "Ada", "a@example.org"
    message.set_content(GOOD)
    message.add_alternative(f"<p>{GOOD}</p>", subtype="html")
    path.write_bytes(bytes(message))


def _text(content: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_text(content, "utf-8")

    return write


SAMPLES: dict[str, Callable[[Path], None]] = {
    "docx": _word, "pptx": _slides, "xlsx": _sheet, "pdf": _pdf, "epub": _book, "eml": _mail,
    "odt": _open_text,
    "html": _text('<html><head><meta charset="utf-8"><title>Ada</title></head><body><h1>Ada</h1><table><tr><th>Born'
                  f"<th>Name</tr><tr><td colspan=2>1911</table><!-- x --><p>{GOOD}</p></body></html>"),
    "rtf": _text(r"{\rtf1\ansi{\fonttbl{\f0 Arial;}}{\info{\title Ada}}\f0\u26477? Ada Blum\par was born.}"),
    "md": _text(f"---\ntitle: Ada\ntags: [a, b]\n---\n# Ada\n\n{GOOD}\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\n```\nx\n"),
    "txt": _text(f"Ada\n\n{GOOD}\n玛丽·居里出生于华沙。\n"),
    "bib": _text(r'@article{a, title = {Ada {Blum}}, author = {Poe, Ann and Groß, J{\"u}rgen}, year = 2001}'),
    "ris": _text("TY  - JOUR\nTI  - Ada\nAU  - Poe, Ann\nPY  - 2001\nER  - \n"),
    "csv": _text("id,title,text,year\n1,Ada,Ada Blum was born in Warsaw.,1911\n2,Otto,\"Otto, too.\",1912\n"),
    "json": _text(json.dumps([{"id": str(n), "title": "Ada", "text": GOOD, "metadata": {"year": "1911"}}
                              for n in range(3)])),
    "jsonl": _text("".join(json.dumps({"id": str(n), "text": GOOD}) + "\n" for n in range(3))),
    "ndjson": _text("".join(json.dumps({"name": f"Ada {n}", "year": 1911}) + "\n" for n in range(3))),
    "org": _text("#+TITLE: Ada\n* TODO Life :a:\nSCHEDULED: <1911-05-02 Tue>\n:PROPERTIES:\n:Who: Otto\n:END:\n"
                 f"{GOOD}\n"
                 "| A | B |\n|---+---|\n| 1 | 2 |\n#+BEGIN_SRC c\nx\n#+END_SRC\n"),
    "rst": _text(f"Ada\n===\n\n:Author: Otto\n\n{GOOD} :ref:`a <b>`\n\n=== ===\nA   B\n=== ===\n1   2\n=== ===\n\n"
                 ".. note:: |x|\n\n.. |x| replace:: y\n"),
    "srt": _text(f"1\n00:00:01,000 --> 00:00:02,000\n<i>{GOOD}</i>\n\n2\n00:00:03,000 --> 00:00:04,000\nOtto.\n"),
    "xml": _text(f'<?xml version="1.0"?><a><title>Ada</title><p>{GOOD} <b>x</b> &amp; y</p><r k="1"><n>D100</n></r>'
                 '<r k="2"><n>D200</n></r></a>'),
    "ipynb": _text(json.dumps({"cells": [{"cell_type": "markdown", "source": ["# Ada\n", GOOD]}], "nbformat": 4})),
}


class Readers:
    name = "readers"

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "readers"
        self._samples: dict[str, bytes] = {}
        samples = folder / "samples"
        samples.mkdir()
        for ending, write in SAMPLES.items():
            write(samples / f"a.{ending}")
            self._samples[ending] = (samples / f"a.{ending}").read_bytes()

    def round(self, draw: random.Random) -> int:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        bad = []
        for number, (ending, sample) in enumerate(self._samples.items()):
            # As what it is, or as something else.
            name = f"{number:02}-bad.{ending if draw.random() < 0.9 else draw.choice(list(self._samples))}"
            (self._folder / name).write_bytes(mutated(sample, draw))
            (self._folder / f"{number:02}-good.txt").write_text(f"Good {number}. {GOOD}", "utf-8")
            bad.append(name)
        failed: list[str] = []
        began = time.monotonic()
        read = [document.id for document in load_documents(
            [self._folder], on_failure=lambda failure: failed.append(Path(failure.path).name), limits=LIMITS)]
        slow = sum(Path(name).suffix in PARSED for name in bad) * (LIMITS.seconds + _STARTING)
        assert time.monotonic() - began < slow, f"reading took {time.monotonic() - began:.0f} s"
        good = [f"{number:02}-good.txt" for number in range(len(bad))]
        assert not set(good) - set(read), f"good files were not read: {sorted(set(good) - set(read))}"
        known = {*read, *failed}
        # Records have ids of their own.
        of_records = {".csv", ".json", ".jsonl", ".ndjson"}
        silent = [name for name in bad if name not in known and Path(name).suffix not in of_records]
        assert not silent, f"neither read nor failed: {silent}"
        return len(bad)

    def close(self) -> None:
        pass
