"""Tables of documents in a knowledge base: kept as they stand over additions, updates and deletions."""

import banyan
import pytest
from banyan.schemas.documents import SourceTable
from hypothesis import given, settings
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


@settings(max_examples=2)
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


def test_a_large_table_is_read_by_nobody_and_embedded_once(kb, tmp_path):
    """No chunk of its rows is parsed or asked about, and questions see its columns as one text."""
    rows = [f"Reef {number % 7},{number % 5},2020-01-{number % 28 + 1:02}" for number in range(400)]
    (tmp_path / "growth.csv").write_text("\n".join(["site,growth,day", *rows]))
    before = kb.entities()
    kb.add(tmp_path / "growth.csv")
    assert kb.entities() == before
    with kb.resources.snapshot(kb.name) as snapshot:
        chunks = [chunk for chunk in snapshot.kb.documents.chunks() if chunk.document_id == "growth.csv"]
        vectors = snapshot.kb.vector_synchroniser.store.get("chunks", [chunk.id for chunk in chunks])
        assert snapshot.kb.documents.count_status("pending", "extracted", "failed") == 0
    assert len(chunks) > 5
    assert (vectors == vectors[0]).all()
    (tmp_path / "growth.csv").write_text("\n".join(["site,growth,day", *rows[::-1]]))
    kb.add(tmp_path / "growth.csv")
    ((_, table),) = [one for one in stored(kb) if one[0] == "growth.csv"]
    assert table.rows == tuple(tuple(row.split(",")) for row in rows[::-1])
    kb.delete("growth.csv")
