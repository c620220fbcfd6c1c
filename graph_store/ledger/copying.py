"""A ledger's rows, copied from one database to another."""

import json
from collections.abc import Callable, Iterator, Sequence

from sqlalchemy import Table

from .database import Database, Record
from .tables import (
    CHUNKS,
    DECLINED,
    DOCUMENTS,
    EDITS,
    ENTITY_DECISIONS,
    ENTITY_VERDICTS,
    METADATA,
    SCHEMA_VERSIONS,
    SUMMARIES,
    among,
    quote,
)
from .version import advance

_WHOLE_TABLES = (SCHEMA_VERSIONS, DECLINED, ENTITY_DECISIONS, ENTITY_VERDICTS, EDITS, SUMMARIES)
"""Decisions, and answers that were paid for. They are copied whole, because they belong to no single document."""
_SETTINGS = ("settings", "label_verdicts")
"""The keys of `meta` that are neither derived nor about a build."""
_DOCUMENTS_AT_ONCE = 200


def copy_rows(source: Database, target: Database, progress: Callable[[int, int], None]) -> None:
    """Replace all rows of the target ledger by those of the source.

    Readers of the target see the old rows until all are copied. Others may write to the source meanwhile: its state at
    the beginning is copied. Its connection must not be used for anything else until then.

    Args:
        source: the ledger to copy.
        target: the ledger to overwrite.
        progress: called with the number of rows copied so far and their total.
    """
    source.freeze()
    tables = METADATA.sorted_tables  # a table comes after those that it refers to
    total = sum(source.count(f"SELECT count(*) FROM {table.name}") for table in tables)  # noqa: S608
    done = 0
    with target.transaction():
        for table in reversed(tables):
            target.execute(f"DELETE FROM {table.name}")  # noqa: S608
        for table in tables:
            for rows in source.batches(table):
                target.insert(table, rows)
                done += len(rows)
                progress(done, total)


def copy_documents(source: Database, target: Database, documents: Sequence[str]) -> None:
    """Copy the rows of some documents, and all decisions, settings and reports, into an empty ledger.

    Derived rows are not copied; nor is new content that a document has but that is not in service yet.
    """
    with target.transaction():
        for table in _WHOLE_TABLES:
            target.insert(table, _rows(source, table))
        for start in range(0, len(documents), _DOCUMENTS_AT_ONCE):
            ids = json.dumps(documents[start:start + _DOCUMENTS_AT_ONCE])
            target.insert(DOCUMENTS, _rows(source, DOCUMENTS, among("id"), ids))
            in_service = f"revision = 0 AND {among('document')}"
            target.insert(CHUNKS, _rows(source, CHUNKS, in_service, ids))
            chunk_in_service = f"chunk IN (SELECT id FROM chunks WHERE {in_service})"  # noqa: S608  (of constants)
            for table in _tables_of_chunks():
                target.insert(table, _rows(source, table, chunk_in_service, ids))
        for key in _SETTINGS:
            if (value := source.get_meta(key)) is not None:
                target.set_meta(key, value)
        advance(target)


def _tables_of_chunks() -> Iterator[Table]:
    """Yield the tables whose rows belong to a chunk."""
    for table in METADATA.sorted_tables:
        if any(key.column.table is CHUNKS for key in table.foreign_keys):
            yield table


def _rows(source: Database, table: Table, condition: str = "1 = 1", among_ids: str = "[]") -> Sequence[Record]:
    """Return a table's rows under an SQL condition; `among_ids` is the JSON list for a condition of `tables.among`."""
    columns = ", ".join(map(quote, table.columns.keys()))
    values = {"among": among_ids} if ":among" in condition else {}
    return source.rows(f"SELECT {columns} FROM {table.name} WHERE {condition}", **values)  # noqa: S608
