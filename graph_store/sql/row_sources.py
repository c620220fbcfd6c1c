"""Find the record that each row of a list shows, so that the row can lead to its source."""

import re
from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any

import duckdb
import orjson
from sqlglot import exp

from .result_values import plain
from .tracing import TracedQuery, is_grouped

_TRACED = re.compile(r"_row\d+")
"""The columns with which a traced query has the ids of rows."""


def is_list(query: exp.Query, parts: Sequence[TracedQuery]) -> bool:
    """Return True if each row of a statement shows one record of one table."""
    return (isinstance(query, exp.Select) and not is_grouped(query) and len(parts) == 1
            and len(parts[0].ids) == 1 and not parts[0].is_joined)


def records_of_rows(connection: duckdb.DuckDBPyConnection, part: TracedQuery, text: str,
                    rows: Sequence[Sequence[Any]]) -> list[int | None]:
    """Return the id of the record that each of the first rows of a list shows; None where that is not certain.

    Rows with equal values for an ORDER BY may come in another order when the query runs again, so records are found
    by the values that they show.

    Args:
        connection: a connection with the tables.
        part: the traced statement, which selects what the statement selects and the ids of rows.
        text: its text, with full names.
        rows: the first rows of the result.
    """
    found = connection.execute(f"SELECT * FROM ({text}) LIMIT {len(rows)}")  # noqa: S608
    names = [str(column[0]) for column in found.description or []]
    shown = [place for place, name in enumerate(names) if not _TRACED.fullmatch(name)]
    record = names.index(part.ids[0].column)
    records = defaultdict[bytes, deque[int]](deque)
    for row in found.fetchall():
        records[orjson.dumps([plain(row[place]) for place in shown])].append(row[record])
    return [same.popleft() if (same := records.get(orjson.dumps(list(row)))) else None for row in rows]
