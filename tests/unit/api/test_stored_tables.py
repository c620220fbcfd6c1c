"""Tables of documents in a knowledge base: kept as they stand over additions, updates and deletions."""

import banyan
import pytest
from banyan.schemas.documents import SourceTable
from hypothesis import given
from hypothesis import strategies as st

from ... import scripted
from .test_python_api import Frame

ROWS = st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from(["1", "1", "2,5", "", "n/a"]), st.just("m")),
                min_size=2, max_size=8)
STEPS = st.lists(st.tuples(st.sampled_from("abc"), st.none() | ROWS), min_size=1, max_size=6)
HEADER = ["species", "growth", "site"]


@pytest.fixture(scope="module")
def kb(tmp_path_factory, hashed_embedder):
    shop = scripted.Workshop(tmp_path_factory.mktemp("tables"), hashed_embedder)
    with shop.resources() as resources:
        kb = banyan.open("tables", resources=resources)
        kb.add({"id": "first", "text": "Ada:Person --employer--> Acme:Organization."}, schema=shop.schema)
        yield kb


def stored(kb) -> list[tuple[str, SourceTable]]:
    with kb.resources.snapshot(kb.name) as snapshot:
        documents = snapshot.kb.documents
        tables = list(documents.tables())
        assert tables == [(key, table) for key in sorted({key for key, _ in tables})
                          for table in documents.get(key).tables]
    return tables


@given(steps=STEPS)
def test_tables_are_those_of_the_documents_that_are_there(kb, steps):
    expected: dict[str, list[tuple[str, ...]]] = {}
    for name, rows in steps:
        if rows is None and name in expected:
            kb.delete(expected.pop(name) and name)
        elif rows is not None:
            kb.add(Frame(HEADER, rows), id=name, title="Reefs")
            expected[name] = rows
    assert [(name, list(table.rows)) for name, table in stored(kb)] == sorted(expected.items())
    for name in expected:
        kb.delete(name)
    assert stored(kb) == []


def test_documents_added_again_change_nothing(kb, tmp_path):
    (tmp_path / "reefs.csv").write_text("study,species,growth\n1,Porites,12\n1,Porites,12\n2,Fungia,30\n")
    kb.add(tmp_path / "reefs.csv")
    before, tables = kb.status(), stored(kb)
    kb.add(tmp_path / "reefs.csv")
    assert kb.status() == before
    assert stored(kb) == tables
    assert [len(table.rows) for _, table in tables] == [3]
    with kb.resources.snapshot(kb.name) as snapshot:
        document = snapshot.kb.documents.get("reefs.csv")
    kb.add(document, id="copy")
    copied = [table for name, table in stored(kb) if name == "copy"]
    assert [(table.columns, table.rows) for table in copied] == [(table.columns, table.rows) for _, table in tables]
