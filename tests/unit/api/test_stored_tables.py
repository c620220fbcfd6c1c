"""Tables of documents in a knowledge base: kept as they stand over additions, updates and deletions."""

import pytest
from banyan.schemas.documents import SourceTable
from hypothesis import given, settings
from hypothesis import strategies as st

from .test_python_api import Frame

ROWS = st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from(["1", "1", "2,5", "", "n/a"]), st.just("m")),
                min_size=2, max_size=8)
STEPS = st.lists(st.tuples(st.sampled_from("abc"), st.none() | ROWS), min_size=1, max_size=6)
HEADER = ["species", "growth", "site"]


@pytest.fixture(scope="module")
def kb(base_of):
    return base_of({"id": "first", "text": "Ada:Person --employer--> Acme:Organization."})


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
