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

_OF_ALL = (SCHEMA_VERSIONS, DECLINED, ENTITY_DECISIONS, ENTITY_VERDICTS, EDITS, SUMMARIES)
"""What was decided or paid for, whichever documents it is about."""
_SETTINGS = ("settings", "label_verdicts")
"""What `meta` holds that is not derived, and not about a build."""
_DOCUMENTS_AT_ONCE = 200


def copy_rows(source: Database, target: Database, progress: Callable[[int, int], None]) -> None:
    """Replace all rows of the target by those of the source; a reader sees the old ones until all are copied.

    The state of the source at the beginning is copied, and nothing else may be read from it meanwhile. `progress` gets
    the number of rows copied and their total.
    """
    source.freeze()
    tables = METADATA.sorted_tables  # what refers to others comes after them
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
    """Copy the rows of some documents into an empty ledger, with decisions and reports; what is derived is not copied.

    New content that waits for a document is left out.
    """
    with target.transaction():
        for table in _OF_ALL:
            target.insert(table, _rows(source, table))
        for start in range(0, len(documents), _DOCUMENTS_AT_ONCE):
            of = json.dumps(documents[start:start + _DOCUMENTS_AT_ONCE])
            target.insert(DOCUMENTS, _rows(source, DOCUMENTS, among("id"), of))
            in_service = f"revision = 0 AND {among('document')}"
            target.insert(CHUNKS, _rows(source, CHUNKS, in_service, of))
            of_chunks = f"chunk IN (SELECT id FROM chunks WHERE {in_service})"  # noqa: S608  (of constants)
            for table in _tables_of_chunks():
                target.insert(table, _rows(source, table, of_chunks, of))
        for key in _SETTINGS:
            if (value := source.get_meta(key)) is not None:
                target.set_meta(key, value)
        advance(target)


def _tables_of_chunks() -> Iterator[Table]:
    """Yield the tables whose rows belong to a chunk."""
    for table in METADATA.sorted_tables:
        if any(key.column.table is CHUNKS for key in table.foreign_keys):
            yield table


def _rows(source: Database, table: Table, condition: str = "1 = 1", of: str = "[]") -> Sequence[Record]:
    columns = ", ".join(map(quote, table.columns.keys()))
    values = {"among": of} if ":among" in condition else {}
    return source.rows(f"SELECT {columns} FROM {table.name} WHERE {condition}", **values)  # noqa: S608
