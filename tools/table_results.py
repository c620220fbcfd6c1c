"""Computed tables as data: rows and groups with their sources, for Python, the command line and the servers."""

import csv
import io
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from pydantic import Field

from ..graph_store.graph_index import GraphIndex
from ..graph_store.index.field_columns import FieldColumn, amount_of, date_of
from ..schemas.documents import Frozen
from ..schemas.errors import BanyanError
from ..schemas.graph_schema import GraphSchema
from ..schemas.lookups import TripleLookup
from .fact_rows import FactRow
from .schema_names import find_term
from .table_query import FieldError, find_field
from .tables import coverage, notes_of, read_table, values_of

_RUN = tuple("=+-@\t\r")
"""Characters at the beginning of a cell that a spreadsheet would run as a formula."""
_DATED = frozenset({"first", "last"})
_COUNTED = frozenset({"count", "distinct", "sum", "mean"})
"""Calculations that have one result for all rows; an extreme is a choice of rows."""
MOST_ROWS = 10_000
"""How many rows are returned if the caller sets no limit; the counts are of all rows."""


class TableRow(Frozen):
    """A row: what it says, what its subject has of other fields, and the words that say so."""

    head: str
    relation: str
    tail: str
    date: str = Field(default="", description="the tail as a date that sorts, if it is one")
    number: float | None = Field(default=None, description="the tail as a number in its base unit, if it is one")
    fields: dict[str, tuple[str, ...]] = Field(default={}, description="the values of the fields to show")
    time: str = Field(default="", description="when it holds, in the document's words")
    document: str
    start: int
    end: int
    quote: str


class TableGroup(Frozen):
    """The rows of one key, and what was computed of them: a number, a date as YYYYMMDD; `said` is that in words."""

    key: str
    value: float
    said: str = ""
    rows: int


class ComputedTable(Frozen):
    """Rows of a relation or attribute with what was computed of all of them; `rows` may be cut, `total` never is."""

    relation: str
    do: str
    value: float | None = Field(default=None, description="the number that was computed; none for a list")
    unit: str = ""
    total: int = Field(description="the rows that fit")
    groups: tuple[TableGroup, ...] = ()
    rows: tuple[TableRow, ...] = ()
    notes: tuple[str, ...] = Field(default=(), description="what was left out, and on how many entities it rests")

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the groups if there are any, else the number that was computed, else the rows, as flat records."""
        for group in self.groups:
            value = group.said if self.do in _DATED else _plain_number(group.value)
            yield {"key": group.key, "value": value, "rows": group.rows}
        if self.groups:
            return
        if self.value is not None and self.do in _COUNTED:
            yield {self.do: _plain_number(self.value), "unit": self.unit, "rows": self.total}
            return
        for row in self.rows:
            fields = {name: "; ".join(values) for name, values in row.fields.items()}
            yield {"head": row.head, self.relation: row.tail, **fields, "time": row.time, "document": row.document,
                   "quote": row.quote}

    def to_csv(self) -> str:
        """Return the groups or rows as CSV with a line of headers.

        A cell that a spreadsheet would run as a formula gets an apostrophe before it.
        """
        records = list(self.records())
        names = list(dict.fromkeys(name for record in records for name in record))
        csv_text = io.StringIO()
        writer = csv.writer(csv_text, lineterminator="\n")
        writer.writerow(map(_safe_cell, names))
        writer.writerows([_safe_cell(record.get(name, "")) for name in names] for record in records)
        return csv_text.getvalue()

    def to_pandas(self) -> Any:
        """Return the groups or rows as a data frame; pandas has to be installed.

        Raises:
            BanyanError: pandas is not installed.
        """
        try:
            pandas = import_module("pandas")  # optional, and slow to import
        except ImportError as error:
            raise BanyanError("to_pandas needs pandas: pip install pandas, or use to_csv") from error
        return pandas.DataFrame(list(self.records()))


def _plain_number(value: float) -> float:
    return int(value) if value == int(value) else value


def _safe_cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_RUN) else value


def tabulate(index: GraphIndex, schema: GraphSchema, lookup: TripleLookup) -> ComputedTable:
    """Compute a table; the lookup's limit is the most rows and groups.

    Raises:
        FieldError, ConditionError: there is no such relation or field, or a condition cannot be read.
        DateError: `at` is no date with a year.
    """
    found = find_term(index, schema, lookup.relation)
    if not found.terms:
        raise FieldError(f"no relation or attribute is called {lookup.relation!r}; there are: "
                         f"{', '.join(found.near) or 'none, as the graph has no rows'}")
    table = read_table(index, schema, lookup, found.terms[0], lookup.most_rows or MOST_ROWS)
    computed = table.computed
    columns = {name: index.column(find_field(index, schema, name)) for name in lookup.show}
    rows = [] if lookup.by else table.rows
    return ComputedTable(
        relation=table.term.name, do=lookup.do, value=computed.value, unit=computed.unit, total=computed.total,
        groups=tuple(TableGroup(key=group.key, value=group.value, said=group.text, rows=len(group.rows))
                     for group in computed.groups[:lookup.limit or MOST_ROWS]),
        rows=tuple(_row(index, row, columns) for row in rows),
        notes=tuple(filter(None, [coverage(computed), *notes_of(table)])))


def _row(index: GraphIndex, row: FactRow, columns: Mapping[str, FieldColumn]) -> TableRow:
    """Return a row as data, with its first place as the source and its head's values of the fields to show."""
    place, amount = row.places[0], amount_of(row.tail)
    return TableRow(
        head=row.head, relation=row.relation, tail=row.tail, date=date_of(row.tail),
        number=amount.size if amount else None, time=row.validity.note(), document=place.document,
        start=place.start, end=place.start + len(place.text), quote=place.text,
        fields={name: values for name, column in columns.items()
                if (values := values_of(column, index.entity_row[row.ends[0]]))})
