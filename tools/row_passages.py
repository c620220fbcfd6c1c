"""Passages that are a few rows of a large table: they say little beside the table, which a query can read."""

from collections.abc import Mapping, Sequence

from ..graph_store.graph_index import GraphIndex
from ..schemas.retrieval import Passage
from ..text.content_words import content_words
from ..text.table_rows import find_rows
from .fact_rows import fit_lines

WIDER = 3
"""How many times the budget is searched for passages that are no rows."""
_LEAST_SHARE = 1 / 2
"""A passage with at least this share of a table's rows is shown as it is."""


def has_table_rows(index: GraphIndex, passages: Sequence[Passage]) -> bool:
    """Return True if a passage is a few rows of a table."""
    rows_of = _rows_of_documents(index)
    return any(_is_part(passage, rows_of) for passage in passages)


def limit_table_rows(index: GraphIndex, question: str, passages: Sequence[Passage], tokens: int) -> list[Passage]:
    """Return the passages that fit a budget, with one row in place of all that are a few rows of a table.

    The row is the one that shares most words with the question: what it asks for, or what the rows are like.
    """
    rows_of = _rows_of_documents(index)
    parts = [passage for passage in passages if _is_part(passage, rows_of)]
    asked = frozenset(content_words(question))
    rows = [(len(asked.intersection(content_words(passage.text[row.start:row.end]))), passage, row)
            for passage in parts for row in find_rows(passage.text)]
    if not rows:
        return fit_lines(passages, tokens)[0]
    _, passage, row = max(rows, key=lambda scored: scored[0])
    best = passage.model_copy(update={"text": passage.text[row.start:row.end], "start": passage.start + row.start})
    others = [passage for passage in passages if passage not in parts]
    return fit_lines([best, *others], tokens)[0]


def _rows_of_documents(index: GraphIndex) -> dict[str, int]:
    """Return the rows of the largest table that documents have, by the documents that have most of them."""
    rows_of = dict[str, int]()
    for table in index.sql.tables():
        if table.kind == "records":
            documents = next((column.frequent for column in table.columns if column.name == "document"), ())
            for document, count in documents:
                rows_of[document] = max(count, rows_of.get(document, 0))
    return rows_of


def _is_part(passage: Passage, rows_of: Mapping[str, int]) -> bool:
    """Return True if a passage is nothing but rows, and of less than `_LEAST_SHARE` of its document's table."""
    lines = passage.text.strip().splitlines()
    rows = len(list(find_rows(passage.text)))
    return bool(rows) and rows == len(lines) and rows < _LEAST_SHARE * rows_of.get(passage.document, 0)
