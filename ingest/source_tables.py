"""Collect the tables of a document while readers write them as text, and find their rows in that text again.

The text of a document repeats headers, joins units to numbers and reorders cells, so cells cannot be read back from it.
The collector is set for a block, like the listener in `models/claim_stream.py`: no reader has to pass it on.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import groupby, pairwise
from typing import NamedTuple

from ..schemas.documents import Frozen, SourceTable
from ..schemas.naming import label_key
from ..text.cleaning import clean_text

_SUMS = frozenset({"total", "totals", "sum", "subtotal", "grand total", "合计", "总计", "小计"})
_MEANS = frozenset({"average", "mean", "平均"})
TOTALS = _SUMS | _MEANS
"""Names of rows that sum up the rows above them."""
_LONGEST_LABEL = max(map(len, TOTALS))


class WrittenTable(Frozen):
    """A table whose rows a reader wrote as text; `lines` are those of each row, joined by line breaks."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[str, ...]

    def map(self, change: Callable[[str], str]) -> "WrittenTable":
        """Return the table with each of its texts changed."""
        return WrittenTable(title=change(self.title), columns=tuple(map(change, self.columns)),
                            rows=tuple(tuple(map(change, row)) for row in self.rows),
                            lines=tuple(map(change, self.lines)))

    @classmethod
    def of(cls, table: SourceTable, text: str) -> "WrittenTable":
        """Return a table of a document with the given text."""
        return cls(title=table.title, columns=table.columns, rows=table.rows,
                   lines=tuple(text[start:end] for start, end in table.spans))


_COLLECTED: ContextVar[list[WrittenTable] | None] = ContextVar("banyan_collected_tables", default=None)


@contextmanager
def collected_tables() -> Iterator[list[WrittenTable]]:
    """Yield a list that gets each table that is written within the block."""
    tables: list[WrittenTable] = []
    token = _COLLECTED.set(tables)
    try:
        yield tables
    finally:
        _COLLECTED.reset(token)


def change_collected(change: Callable[[str], str]) -> None:
    """Change the texts of the tables that were collected so far, as a reader does with the text of its pages."""
    if (collected := _COLLECTED.get()) is not None:
        collected[:] = [table.map(change) for table in collected]


class _Row(NamedTuple):
    cells: Sequence[str]
    lines: str
    total: str  # the key of its label if it may sum up other rows, else ""
    group: int


class TableRecorder:
    """The rows of a table while it is written. Nothing is recorded outside a block of `collected_tables`."""

    def __init__(self, title: str, header: Sequence[str]) -> None:
        self._title, self._header = title, [" ".join(name.split()) for name in header]
        self._collected = _COLLECTED.get()
        self._rows: list[_Row] = []
        self._group = 0

    def add(self, cells: Sequence[str], lines: Sequence[str], name: str = "") -> None:
        """Record a row as it stands in its source, and the lines that it was written as.

        A row whose `name` or first text is a word such as "Total" sums up others and is no record, unless that word is
        a kind of record (two neighbouring rows have it), or the row has another text and does not end a group of rows.
        """
        if self._collected is not None:
            first = next(filter(None, cells), "")
            labels = (label_key(text) for text in (name, first) if len(text) <= _LONGEST_LABEL)
            total = next((label for label in labels if label in TOTALS), "")
            self._rows.append(_Row(cells, "\n".join(lines), total, self._group))

    def end_group(self) -> None:
        """Record that a heading or a page break stands between the rows before and after."""
        self._group += 1

    def close(self) -> None:
        """Add the table to those that are collected, if it has any rows."""
        rows = list(self._records())
        if self._collected is None or not rows:
            return
        width = max(len(self._header), *(len(row.cells) for row in rows))
        columns = [*self._header, *[""] * (width - len(self._header))]
        self._collected.append(WrittenTable.model_construct(
            title=" ".join(self._title.split()), columns=tuple(columns), lines=tuple(row.lines for row in rows),
            rows=tuple((*row.cells, *[""] * (width - len(row.cells))) for row in rows)))

    def _records(self) -> Iterator[_Row]:
        """Yield the rows that sum up no others."""
        if not any(row.total for row in self._rows):
            yield from self._rows
            return
        for _, group in groupby(self._rows, lambda row: row.group):
            rows = list(group)
            kinds = {row.total for row, below in pairwise(rows) if row.total == below.total}
            end = len(rows)
            while end and rows[end - 1].total:
                end -= 1
            for at, row in enumerate(rows):
                may_be_mean = row.total in _MEANS and at < end
                if not row.total or row.total in kinds or may_be_mean or (at < end and _has_text(row.cells)):
                    yield row


def _has_text(cells: Sequence[str]) -> bool:
    """Return True if a cell after the first text has letters and no digits."""
    texts = [cell for cell in cells if any(map(str.isalpha, cell)) and not any(map(str.isdigit, cell))]
    return len(texts) > 1


def place_tables(tables: Sequence[WrittenTable], text: str) -> tuple[SourceTable, ...]:
    """Return the tables with the place of each row in a document's text, in the order of the text.

    A table without any of its rows in the text is no part of the document, such as one of a mail's HTML where the plain
    text is read; it is left out. Equal rows take the places of their lines in order.
    """
    cleaned = [_cleaned(table) for table in tables]
    first_lines = {lines.partition("\n")[0] for table in cleaned for lines in table.lines}
    places: dict[str, deque[int]] = {}
    start = 0
    for line in text.split("\n") if first_lines else ():
        if line in first_lines:
            places.setdefault(line, deque()).append(start)
        start += len(line) + 1
    placed = [(table, _spans(table, places, text)) for table in cleaned]
    return tuple(SourceTable.model_construct(title=table.title, columns=table.columns, rows=table.rows, spans=spans)
                 for table, spans in sorted(placed, key=lambda one: one[1][:1]) if spans)


def _spans(table: WrittenTable, places: dict[str, deque[int]], text: str) -> tuple[tuple[int, int], ...]:
    """Return the place of each row; a row that is not in the text gets the end of the row before; () if none is."""
    spans: list[tuple[int, int]] = []
    end, is_in_text = 0, False
    for lines in table.lines:
        first = lines.partition("\n")[0]
        starts = places.get(first)
        if starts:
            start, is_in_text = starts.popleft(), True
            end = start + len(lines if text.startswith(lines, start) else first)
        else:
            start = end
        spans.append((start, end))
    return tuple(spans) if is_in_text else ()


def _cleaned(table: WrittenTable) -> WrittenTable:
    """Return a table in the form in which texts are stored."""
    texts = "".join((table.title, *table.columns, *map("".join, table.rows)))
    return table if texts.isascii() and texts.isprintable() else table.map(clean_text)
