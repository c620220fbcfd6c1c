"""The ledger's rows of what was admitted: mentions, facts and values, each of a chunk, with which they go.

They are the source of all that is derived. Quotes are not stored: a span says which characters of the chunk's text they
are.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import ValidationError
from sqlalchemy import Table

from ...schemas.documents import Chunk, Frozen, Span
from ...schemas.extraction import AttributeFact, BoundedExtraction, EntityMention, Fact
from ..errors import LedgerDamagedError
from .database import Database, Record
from .tables import ATTRIBUTE_VALUES, FACTS, MENTIONS, among

_TABLES = (MENTIONS, FACTS, ATTRIBUTE_VALUES)
_POSITION = "position"
Rows = Sequence[tuple[Any, ...]]


class Contribution(Frozen):
    """What one chunk adds to the graph."""

    mentions: tuple[EntityMention, ...] = ()
    facts: tuple[Fact, ...] = ()
    attributes: tuple[AttributeFact, ...] = ()


class AdmittedRows(NamedTuple):
    """Rows of some chunks or of all, by chunk and place in it; the columns are those of the tables."""

    mentions: Sequence[Record]
    facts: Sequence[Record]
    values: Sequence[Record]


class FactTable:
    """Mentions, facts and values by chunk."""

    def __init__(self, database: Database) -> None:
        """Read and write the rows of a ledger."""
        self._db = database

    def replace(self, contributions: Mapping[str, Contribution]) -> None:
        """Make these the rows of some chunks; rows that stay as they are are not written again."""
        with self._db.transaction():
            for table, made in zip(_TABLES, rows_of(contributions), strict=True):
                before = {tuple(row) for row in self._rows(table, list(contributions))}
                gone, new = before - set(made), [row for row in made if row not in before]
                self._db.execute_many(
                    f"DELETE FROM {table.name} WHERE chunk = :chunk AND ordinal = :ordinal",  # noqa: S608
                    [{"chunk": row[0], "ordinal": row[1]} for row in sorted(gone, key=lambda row: row[:2])])
                self._db.insert(table, new)
                if gone or new:
                    advance(self._db)

    def rows(self, chunk_ids: Sequence[str] | None = None) -> AdmittedRows:
        """Return the rows of some chunks; None: of all."""
        return AdmittedRows(*(self._rows(table, chunk_ids) for table in _TABLES))

    def contribution(self, chunk: Chunk) -> Contribution:
        """Return what a chunk adds to the graph, with the quotes that its text has at the spans.

        Raises:
            LedgerDamagedError: a row is not of the form that was written.
        """
        try:
            return self._read(chunk)
        except ValidationError as error:
            raise LedgerDamagedError(f"what the ledger has of chunk {chunk.id} is damaged "
                                     f"({error.errors()[0]['msg']})") from error

    def _read(self, chunk: Chunk) -> Contribution:
        rows = self.rows([chunk.id])

        def span(row: Record) -> Span:
            return Span(start=row.start, end=row.end, quote=chunk.text[row.start:row.end])

        return Contribution(
            mentions=tuple(EntityMention(name=row.name, type=row.type, span=span(row)) for row in rows.mentions),
            facts=tuple(Fact(head=row.head, head_type=row.head_type, relation=row.relation, tail=row.tail,
                             tail_type=row.tail_type, time=row.time, span=span(row), confidence=row.confidence)
                        for row in rows.facts),
            attributes=tuple(AttributeFact(
                entity=row.entity, entity_type=row.entity_type, attribute=row.attribute, value=row.value,
                normal=row.normal, time=row.time, span=span(row), confidence=row.confidence) for row in rows.values))

    def _rows(self, table: Table, chunk_ids: Sequence[str] | None) -> Sequence[Record]:
        where, values = ("", {}) if chunk_ids is None else (f"WHERE {among('chunk')}", {"among": json.dumps(chunk_ids)})
        return self._db.rows(f"SELECT * FROM {table.name} {where} ORDER BY chunk, ordinal", **values)  # noqa: S608


def contribution_of(bounded: BoundedExtraction) -> Contribution:
    """Return the mentions, facts and values that a bounded extraction adds to the graph."""
    return Contribution(mentions=bounded.mentions, facts=bounded.facts, attributes=bounded.attributes)


def position(database: Database) -> int:
    """Return the number of the last change of rows: what derived files are compared with."""
    return int(database.get_meta(_POSITION) or 0)


def advance(database: Database) -> None:
    """Count a change of rows, inside the transaction that makes it."""
    database.set_meta(_POSITION, str(position(database) + 1))


def rows_of(contributions: Mapping[str, Contribution]) -> tuple[Rows, Rows, Rows]:
    """Return the rows of some contributions: mentions, facts and values."""
    return (
        _number((chunk, [(m.name, m.type, m.span.start, m.span.end) for m in own.mentions])
                for chunk, own in contributions.items()),
        _number((chunk, [(f.head, f.head_type, f.relation, f.tail, f.tail_type, f.time, f.span.start, f.span.end,
                          f.confidence) for f in own.facts]) for chunk, own in contributions.items()),
        _number((chunk, [(v.entity, v.entity_type, v.attribute, v.value, v.normal, v.time, v.span.start, v.span.end,
                          v.confidence) for v in own.attributes]) for chunk, own in contributions.items()))


def _number(rows: Iterable[tuple[str, Rows]]) -> Rows:
    return [(chunk, ordinal, *row) for chunk, own in rows for ordinal, row in enumerate(own)]
