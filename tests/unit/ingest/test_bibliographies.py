"""Bibliographies as records, with the fields that they give to papers; reference lists, which name no one."""

import json

import pytest
from banyan.ingest.reference_lists import reference_tables

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


def test_a_word_that_nothing_defines_means_itself_and_a_field_that_stands_twice_is_read_once(tmp_path):
    entry = "@article{a, title = {Bells}, journal = Science, month = march, keywords = {old}, keywords = {new}}"
    table, = only(write(tmp_path / "a.bib", entry)).tables
    fields = dict(zip(table.columns, table.rows[0], strict=True))
    assert (fields["venue"], fields["keywords"]) == ("Science", "old")


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


TITLE = "Boats that lie at the quay"
FORMS = {
    "Vancouver": "[1] Poe A, van Gro J, et al. Boats that lie at the quay. J Quays 2001;12:3–9.",
    "BioMed Central": "1. Poe AB, Gro J: Boats that lie at the quay. Journal of Quays 2001, 12(3):3-9.",
    "PLOS": "1. Poe A, Gro J (2001) Boats that lie at the quay. J Quays 12: 3–9.",
    "IEEE": "[1] A. Poe and J.-B. Gro, “Boats that lie at the quay,” J. Quays, vol. 12, no. 3, pp. 3–9, Jan. 2001.",
    "ACM": "[1] Ann Poe and John B. Gro. Boats that lie at the quay. J. Quays, 12(3):3–9, January 2001.",
    "APA": "Poe, A., & Gro, J. B. (2001). Boats that lie at the quay. Journal of Quays, 12(3), 3–9.",
    "Harvard": "Poe, A. and Gro, J. (2001), ‘Boats that lie at the quay’, Journal of Quays 12(3), 3–9.",
    "Elsevier": "[1] A. Poe, J. Gro, Boats that lie at the quay, Journal of Quays 12 (2001) 3–9.",
    "Springer": "1. Poe, A., Gro, J.: Boats that lie at the quay. J. Quays 12, 3–9 (2001)",
    "MDPI": "1. Poe, A.B.; Gro, J. Boats that lie at the quay. J. Quays 2001, 12, 3–9.",
    "ACL": "Ann Poe and John Gro. 2001. Boats that lie at the quay. Journal of Quays, 12(3):3–9.",
    "Chicago": "Poe, A. and J. Gro. 2001. Boats that lie at the quay. Journal of Quays 12: 3–9."}
OTHER = {"[": "[2] I. Lang, “Bells of the towns,” J. Bells, vol. 1, pp. 1–2, 2014.",
         "1": "2. Lang I: Bells of the towns. J Bells 2014, 1:1-2.",
         "": "Lang, I. (2014). Bells of the towns. Journal of Bells, 1(1), 1–2."}


def rows_of(text, heading="References"):
    tables = reference_tables(f"# Study\n\n## {heading}\n\n{text}")
    return [dict(zip(table.columns, row, strict=True)) for table in tables for row in table.rows]


@pytest.mark.parametrize("form", FORMS)
def test_author_year_and_title_are_read_in_the_common_forms(form):
    text = FORMS[form]
    row, other = rows_of(f"{text}\n{OTHER.get(text[0], OTHER[''])}")
    assert (row["title"], row["year"], row["reference"]) == (TITLE, "2001", text)
    assert "Poe" in row["author"].partition("; ")[0] and "Gro" in row["author"].partition("; ")[2]
    assert row["venue"].startswith("J") and row["venue"].endswith("Quays")
    assert (other["title"], other["year"]) == ("Bells of the towns", "2014")


@pytest.mark.parametrize(("text", "year", "title", "venue"), [
    ("[1] Poe A, Gro J. Towers and bells at 65, 203, and 222. Spine (Phila Pa 1976) 2007;32:1.", "2007",
     "Towers and bells at 65, 203, and 222", "Spine"),
    ("[1] A. Poe. Boats that lie “here”. In 2017 Conference on Quays (CQ), pages 88–95. Alder, 2017.", "2017",
     "Boats that lie “here”", "Conference on Quays"),
    ("[1] A. Poe. „Boote, die am Kai liegen“. In: Tagung der Kais. Bd. 30. 2016.", "2016", "Boote, die am Kai liegen",
     "Tagung der Kais. Bd")])
def test_unusual_marks_and_years_are_read(text, year, title, venue):
    row = rows_of(f"{text}\n{OTHER['[']}")[0]
    assert (row["year"], row["title"], row["venue"]) == (year, title, venue)


@pytest.mark.parametrize(("text", "fields"), [
    ("[1] B. M. Poe and V. Gro, Chem. Rev., 2009, 109, 5069-5119.", ("B. M. Poe; V. Gro", "2009", "")),
    ("[1] Poe, B. M.; Gro, V. Chem. Rev. 2009, 109, 5069.", ("Poe, B. M.; Gro, V.", "2009", "")),
    ("[1] X. Poe, M. ge Gro, Of quays, and of bells, 2009.", ("", "2009", "")),
    ("[1] Harbour office. Rates of the quay 1999-2007. Accessed 2 May 2020.", ("", "", "")),
    ("[1] See the note by Poe (personal communication).", ("", "", ""))])
def test_what_has_no_certain_form_is_left_empty(text, fields):
    row = rows_of(f"{text}\n{OTHER['[']}\n[3] Kay I. Towers and bells. J Bells 2015;1:1.")[0]
    assert (row["reference"], row["author"], row["year"], row["title"]) == (text, *fields)


def test_entries_of_several_lines_and_pages_are_whole_and_know_their_place():
    text = ("# Study\n\n## 7. References\n\nPoe, A., Gro, J., 2001. Boats that lie\nat the quay. J. Quays 12,\n\n3–9. "
            "https://doi.org/10.1016/j.jq.\n2001.04.001\nLang, I., 2014. Bells of the towns. J. Bells 1, 1–2.\n\n"
            "## Appendix\n\nKay, I., 2015. No work.\n")
    (table,) = reference_tables(text)
    assert [text[start:start + 4] for start, _ in table.spans] == ["Poe,", "Lang"]
    assert text[table.spans[0][0]:table.spans[0][1]].endswith("2001.04.001")
    assert [row[3] for row in table.rows] == [TITLE, "Bells of the towns"]
    assert table.rows[0][-1] == "10.1016/j.jq.2001.04.001"


@pytest.mark.parametrize("text", ["- [The quay](https://quay.example)\n- [Bells](https://bells.example)",
                                  "Boats lie at the quay.\nBells ring.",
                                  "[1] Poe A. Boats at the quay. J Quays 2001;1:3."])
def test_links_prose_and_other_sections_are_no_list_of_works(text):
    assert rows_of(text) == []
    assert rows_of(f"{FORMS['Vancouver']}\n{OTHER['[']}", "Methods") == []
