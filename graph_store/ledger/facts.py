"""The ledger's rows of chunks: mentions, facts and values, and what bounding notes beside them.

Mentions, facts and values are the source of everything derived. Quotes are not stored: a span gives the characters of
the chunk's text.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Table

from ...schemas.extraction import BoundedExtraction
from .database import Database
from .tables import ATTRIBUTE_VALUES, FACTS, among

_BEGINS = "substr(d.text, c.start + a.start + 1, 44)"
_LAST = "substr(d.text, c.start + a.\"end\", 1)"
"""The beginning of what states a fact, which may hold the key of a line, and its last character."""
Rows = Sequence[tuple[Any, ...]]


class AdmittedRows(NamedTuple):
    """Rows of some chunks or of all, by chunk and place in it; the columns are those of the tables."""

    mentions: Iterable[Any]
    facts: Iterable[Any]
    values: Iterable[Any]


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


def count_from_sentences(database: Database) -> dict[str, int]:
    """Return how many facts and values are stated by sentences, by the fingerprint of what extracted them.

    The others are stated by rows of tables, metadata, and lines such as "* RFC-12: Pump noise" without a full stop.
    """
    stated = (f"SELECT e.reasoner, count(*) FROM {table.name} a JOIN chunks c ON c.id = a.chunk "  # noqa: S608 - ours
              "JOIN documents d ON d.id = c.document JOIN extractions e ON e.chunk = c.id "
              f"WHERE NOT ({_BEGINS} LIKE '| %' OR (({_BEGINS} LIKE '%: %' OR {_BEGINS} LIKE '%：%') AND {_LAST} "
              "NOT IN ('.', '!', '?', '。', '！', '？', '”', '\"'))) GROUP BY e.reasoner"
              for table in (FACTS, ATTRIBUTE_VALUES))
    counts = Counter[str]()
    for sql in stated:
        for reasoner, count in database.rows(sql):
            counts[reasoner] += int(count)
    return dict(counts)


def rows_of(chunk: str, admitted: BoundedExtraction) -> tuple[Rows, Rows, Rows]:
    """Return the rows of what is admitted of a chunk, by table as in `AdmittedRows`."""
    return (
        _number(chunk, [(m.name, m.type, m.span.start, m.span.end) for m in admitted.mentions]),
        _number(chunk, [(f.head, f.head_type, f.relation, f.tail, f.tail_type, f.time, f.span.start, f.span.end,
                         f.confidence) for f in admitted.facts]),
        _number(chunk, [(v.entity, v.entity_type, v.attribute, v.value, v.normal, v.time, v.span.start, v.span.end,
                         v.confidence) for v in admitted.attributes]))


def _number(chunk: str, rows: Rows) -> Rows:
    return [(chunk, ordinal, *row) for ordinal, row in enumerate(rows)]
