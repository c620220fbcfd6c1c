"""The tables that a prompt describes: which, how fully, within which budget, and that they can be cited."""

from types import SimpleNamespace

import pytest
from banyan.schemas.documents import Citation
from banyan.schemas.records import Basis, ColumnInfo, TableInfo
from banyan.text.scripts import estimate_tokens
from banyan.tools.table_choice import describe_tables


def column(name: str, kind: str = "text", frequent=(), **more) -> ColumnInfo:
    return ColumnInfo(**{"name": name, "title": name.replace("_", " "), "kind": kind, "frequent": frequent,
                         "distinct": len(frequent)} | more)


BIRDS = TableInfo(name="birds", title="Birds", kind="records", rows=344, documents=1, columns=(
    column("document", frequent=(("birds.csv", 344),)), column("species", frequent=(("Adelie", 152), ("Gentoo", 124))),
    column("body_mass", "number", unit="g", smallest="2700", largest="6300", empty=2),
    column("price", units=("EUR", "USD"), distinct=9), column("hatched", "date", smallest="2007-11-09",
                                                             largest="2009-12-01", untyped=3)))
CARS = TableInfo(name="cars", title="Cars of 1983", kind="records", rows=406, documents=2, columns=(
    column("document", frequent=(("a.csv", 400), ("b.csv", 6))), column("origin", frequent=(("USA", 254),), distinct=3),
    column("horsepower", "number", smallest="46", largest="230")))
DOCUMENTS = TableInfo(name="documents", title="documents", kind="documents", rows=40, documents=40, columns=tuple(
    map(column, ("document", "title", "source"))))
OTHERS = [TableInfo(name=f"table_{number}", title=f"Table {number}", kind="records", rows=5, columns=(
    column("name"),)) for number in range(60)]


FIRST = Citation(id=1, document="birds.csv", start=20, end=30, quote="Adelie,3750")


def retriever(tables, near: str = ""):
    chunk = SimpleNamespace(document_id=near)
    run = SimpleNamespace(citations=(FIRST,))
    sql = SimpleNamespace(tables=lambda: tuple(tables), run=lambda *_, **__: run)
    lexical = SimpleNamespace(knows=lambda word: word.isascii())
    index = SimpleNamespace(sql=sql, chunks=[chunk], chunk_row={"c": 0}, lexical=lexical)
    return SimpleNamespace(
        index=index, rank_passages=lambda *_: [("c", 1.0)] if near else [])


def lines(tables, question: str, *, near: str = "", **more) -> list[str]:
    return [line for block in describe_tables(retriever(tables, near), question, **more)
            for line in [*(item.statement for item in block.items), *filter(None, [block.note])]]


def test_a_table_is_described_by_kinds_units_ranges_values_and_what_is_missing():
    first, others = lines([CARS, BIRDS], "How heavy is the Gentoo species on average?")
    assert first == (
        "birds (344 rows): species: Adelie 152, Gentoo 124; body_mass number g 2700..6300; price EUR|USD; "
        "hatched date 2007-11-09..2009-12-01, 3 other text")
    assert others == "other tables: cars 406"


def test_the_table_of_documents_is_described_where_it_has_words_of_the_question():
    fields = DOCUMENTS.model_copy(update={"columns": (*DOCUMENTS.columns, column("status", frequent=(("Final", 3),)))})
    asked = lines([BIRDS, fields], "body mass of the Gentoo species and the status of documents")
    unasked = lines([BIRDS, fields], "How heavy is the Gentoo?")
    assert [line.partition(" ")[0] for line in asked] == ["birds", "documents"]
    assert unasked[1] == "other tables: documents 40"
    assert lines([DOCUMENTS], "status") == [], "without fields it is no table"


def test_numbers_of_a_table_are_cited_by_its_first_row_and_count_all_rows():
    (block,) = describe_tables(retriever([BIRDS]), "How many Gentoo penguins are there?")
    (item,) = block.items
    assert [place.model_dump() for place in item.places] == [
        {"document": "birds.csv", "start": 20, "text": "Adelie,3750", "member": ""}]
    assert item.basis == Basis(query='SELECT * FROM "birds"', records=344)


@pytest.mark.parametrize(("question", "near", "first"), [
    ("Which species is heaviest?", "birds.csv", "birds"), ("mean horsepower", "", "cars"),
    ("die schwersten Tiere", "a.csv", "cars"), ("die schwersten Tiere", "birds.csv", "birds")])
def test_words_values_and_the_documents_of_near_passages_choose(question, near, first):
    assert lines([BIRDS, CARS], question, near=near)[0].startswith(first)


def test_what_does_not_fit_is_counted():
    for tokens in (60, 120, 450):
        shown = lines([*OTHERS, BIRDS, CARS], "horsepower and the species Gentoo", tokens=tokens)
        assert estimate_tokens("\n".join(shown)) <= tokens + 8
        assert shown[-1] in {"60 other tables", "other tables: cars 406, 60 more"}
    assert lines([BIRDS], "When had it hatched?", tokens=36) == [
        "birds (344 rows): hatched date 2007-11-09..2009-12-01, 3 other text; species; … 2 more columns"]
