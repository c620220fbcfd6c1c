"""The ledger's rows of chunks: mentions, facts and values, and what bounding notes beside them.

Mentions, facts and values are the source of everything derived. Quotes are not stored: a span gives the characters of
the chunk's text.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Table

from ...schemas.documents import Chunk, Span
from ...schemas.extraction import AttributeFact, BoundedExtraction, EntityMention, Fact
from ..store_errors import readable
from .database import Database, Record
from .tables import ATTRIBUTE_VALUES, FACTS, MENTIONS, among

_POSITION = "position"
Rows = Sequence[tuple[Any, ...]]


class AdmittedRows(NamedTuple):
    """Rows of some chunks or of all, by chunk and place in it; the columns are those of the tables."""

    mentions: Sequence[Any]
    facts: Sequence[Any]
    values: Sequence[Any]


class FactTable:
    """Mentions, facts and values by chunk."""

    def __init__(self, database: Database) -> None:
        """Read and write the rows of a ledger."""
        self._db = database

    def replace(self, admitted: Mapping[str, BoundedExtraction]) -> None:
        """Replace the rows of some chunks."""
        with self._db.transaction():
            mentions, facts, values = rows_of(admitted)
            changed = [replace_rows(self._db, table, list(admitted), rows)
                       for table, rows in ((MENTIONS, mentions), (FACTS, facts), (ATTRIBUTE_VALUES, values))]
            if any(changed):
                advance(self._db)

    def rows(self, chunk_ids: Sequence[str] | None = None) -> AdmittedRows:
        """Return the rows of some chunks, or of all by default."""
        where, values = ("", {}) if chunk_ids is None else (f"WHERE {among('chunk')}", {"among": json.dumps(chunk_ids)})
        return AdmittedRows(*(
            self._db.rows(f"SELECT * FROM {table.name} {where} ORDER BY chunk, ordinal", **values)  # noqa: S608
            for table in (MENTIONS, FACTS, ATTRIBUTE_VALUES)))

    def contribution(self, chunk: Chunk) -> BoundedExtraction:
        """Return what is admitted of a chunk, with the quotes that its text has at the spans.

        Raises:
            LedgerDamagedError: a row is not of the form that was written.
        """
        mentions, facts, values = self.rows([chunk.id])
        with readable(f"a row of chunk {chunk.id}"):
            return BoundedExtraction(mentions=tuple(EntityMention(**_fields(row, chunk)) for row in mentions),
                                facts=tuple(Fact(**_fields(row, chunk)) for row in facts),
                                attributes=tuple(AttributeFact(**_fields(row, chunk)) for row in values))


def _fields(row: Record, chunk: Chunk) -> dict[str, Any]:
    """Return a row's values by column, with its span in place of the chunk, the ordinal, start and end."""
    span = Span(start=row.start, end=row.end, quote=chunk.text[row.start:row.end])
    return {name: value for name, value in row._asdict().items()
            if name not in {"chunk", "ordinal", "start", "end"}} | {"span": span}


def chunk_rows(database: Database, table: Table, chunk_ids: Sequence[str]) -> dict[str, list[tuple[Any, ...]]]:
    """Return a table's rows of some chunks, sorted, by chunk."""
    rows = database.rows(f"SELECT * FROM {table.name} WHERE {among('chunk')}", among=json.dumps(chunk_ids))  # noqa: S608
    return _by_chunk(map(tuple, rows))


def replace_rows(database: Database, table: Table, chunk_ids: Sequence[str], rows: Rows) -> bool:
    """Replace a table's rows of some chunks, inside a transaction; return True if that changed any."""
    before, after = chunk_rows(database, table, chunk_ids), _by_chunk(rows)
    changed = [chunk for chunk in chunk_ids if before.get(chunk) != after.get(chunk)]
    if changed:
        database.execute(f"DELETE FROM {table.name} WHERE {among('chunk')}", among=json.dumps(changed))  # noqa: S608
        database.insert(table, [row for chunk in changed for row in after.get(chunk, ())])
    return bool(changed)


def _by_chunk(rows: Iterable[tuple[Any, ...]]) -> dict[str, list[tuple[Any, ...]]]:
    """Group rows by chunk, which is their first value, and sort them."""
    by_chunk: dict[str, list[tuple[Any, ...]]] = {}
    for row in rows:
        by_chunk.setdefault(row[0], []).append(row)
    return {chunk: sorted(own) for chunk, own in by_chunk.items()}


def position(database: Database) -> int:
    """Return the number of the last change of rows, which derived files are compared with."""
    return int(database.get_meta(_POSITION) or 0)


def advance(database: Database) -> None:
    """Count a change of rows, inside the transaction that makes it."""
    database.set_meta(_POSITION, str(position(database) + 1))


def rows_of(admitted: Mapping[str, BoundedExtraction]) -> AdmittedRows:
    """Return the rows of what is admitted of some chunks."""
    return AdmittedRows(
        _number((chunk, [(m.name, m.type, m.span.start, m.span.end) for m in own.mentions])
                for chunk, own in admitted.items()),
        _number((chunk, [(f.head, f.head_type, f.relation, f.tail, f.tail_type, f.time, f.span.start, f.span.end,
                          f.confidence) for f in own.facts]) for chunk, own in admitted.items()),
        _number((chunk, [(v.entity, v.entity_type, v.attribute, v.value, v.normal, v.time, v.span.start, v.span.end,
                          v.confidence) for v in own.attributes]) for chunk, own in admitted.items()))


def _number(rows: Iterable[tuple[str, Rows]]) -> Rows:
    return [(chunk, ordinal, *row) for chunk, own in rows for ordinal, row in enumerate(own)]
