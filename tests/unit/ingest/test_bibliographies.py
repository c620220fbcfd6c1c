"""Bibliographies as records, and the fields that they give to the papers beside them."""

import json

import pytest
from banyan.ingest.reading_process import ReadingProcess

from ...loading import failure, load, only, write
from ...pdf_sheets import pdf

pytestmark = pytest.mark.usefixtures("shared_reading")

BIB = r"""@string{jq = "Journal of Quays"}
@article{poe2001, author = {Poe, Ann and Gro{\ss}, J{\"u}rgen}, title = {{Boats} that lie at the quay},
  journal = jq, year = 2001, doi = {10.1016/j.jq.2001.04.001}}
@inproceedings{lang, author = "Ida Lang", title = "Bells", booktitle = "Proceedings of the Alder Meeting",
  date = {2014-05-01}}
"""
RIS = """TY  - JOUR
AU  - Poe, Ann
AU  - Groß, Jürgen
TI  - Boats that lie at the quay
JO  - Journal of Quays
PY  - 2001/04/01
DO  - 10.1016/j.jq.2001.04.001
ER  -

TY  - CONF
AU  - Lang, Ida
TI  - Bells
T2  - Proceedings of the Alder Meeting
PY  - 2014
ER  -
""".replace("\n", "\r\n")
CSL = json.dumps([
    {"id": "a", "type": "article-journal", "title": "Boats that lie at the quay", "container-title": "Journal of Quays",
     "author": [{"family": "Poe", "given": "Ann"}, {"family": "Groß", "given": "Jürgen"}],
     "issued": {"date-parts": [[2001, 4]]}, "DOI": "10.1016/j.jq.2001.04.001"},
    {"id": "b", "type": "paper-conference", "title": "Bells", "container-title": "Proceedings of the Alder Meeting",
     "author": [{"family": "Lang", "given": "Ida"}], "issued": {"raw": "2014-05-01"}}])


@pytest.mark.parametrize(("name", "text"), [("a.bib", BIB), ("a.ris", RIS), ("a.json", CSL)])
def test_a_bibliography_is_a_table_of_works(tmp_path, name, text):
    (table,) = only(write(tmp_path / name, text)).tables
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    assert [(row["title"], row["author"], row["year"], row["venue"]) for row in rows] == [
        ("Boats that lie at the quay", "Ann Poe; Jürgen Groß", "2001", "Journal of Quays"),
        ("Bells", "Ida Lang", "2014", "Proceedings of the Alder Meeting")]
    assert rows[0]["doi"] == "10.1016/j.jq.2001.04.001"


def test_what_is_no_bibliography_is_said(tmp_path):
    for text in ("@article{x, title = {open", "Some words."):
        assert "not BibTeX" in failure(write(tmp_path / "a.bib", text))
    assert "no entry of a bibliography" in failure(write(tmp_path / "a.ris", "Some words."))


def test_other_entries_of_a_bibliography_are_read_beside_one_that_is_broken(tmp_path):
    text = "% @Comment of mine\n" + BIB.replace("Poe, Ann and", r"\textbf{Poe, Ann} and") + "@article{x, title = {open"
    (document,), failures = load(write(tmp_path / "a.bib", text))
    assert [row[:2] for row in document.tables[0].rows] == [
        ("Boats that lie at the quay", "Ann Poe; Jürgen Groß"), ("Bells", "Ida Lang")]
    assert "1 of its entries (syntax error" in failures[0].reason


@pytest.mark.parametrize(("title", "text"), [("Boats That Lie at the Quay", "Boats lie at a quay."),
                                             ("PII: S0022", "https://doi.org/10.1016/J.JQ.2001.04.001. They lie.")])
def test_a_paper_gets_the_fields_of_its_work_by_title_or_doi(tmp_path, title, text):
    (tmp_path / "papers").mkdir()
    pdf(tmp_path / "papers" / "one.pdf", [text], title)
    pdf(tmp_path / "papers" / "two.pdf", ["Of other things, as in 10.1000/182."], "Of other things")
    write(tmp_path / "papers" / "zotero.bib", BIB)
    documents, failures = load(tmp_path / "papers")
    assert failures == []
    about = {document.id: document.metadata for document in documents}
    assert {name: about["one.pdf"][name] for name in ("author", "year", "venue")} == {
        "author": "Ann Poe; Jürgen Groß", "year": "2001", "venue": "Journal of Quays"}
    assert "venue" not in about["two.pdf"]


def test_a_bibliography_is_read_once(tmp_path, monkeypatch):
    names, read = [], ReadingProcess.read

    def noted(self, path):
        names.append(path.name)
        return read(self, path)

    monkeypatch.setattr(ReadingProcess, "read", noted)
    write(tmp_path / "papers" / "zotero.bib", BIB)
    documents, failures = load(tmp_path / "papers")
    assert ([document.id for document in documents], failures, names) == (["zotero.bib"], [], ["zotero.bib"])
