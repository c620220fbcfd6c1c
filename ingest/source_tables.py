"""Collect the tables of a document while readers write them as text, and find the places of their rows in that text.

The text repeats headers, joins units to numbers and reorders cells, so cells cannot be read back from it. Readers go on
changing the text, so the lines of each row stand between marks until the text is whole. The collector is set for a
block, like the listener in `models/reasoner.py`: no reader has to pass it on.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import groupby, pairwise

from ..schemas.documents import SourceTable
from ..schemas.naming import label_key
from ..text.cleaning import clean_text

_SUMS = frozenset({"total", "totals", "sum", "subtotal", "grand total", "合计", "总计", "小计"})
_MEANS = frozenset({"average", "mean", "平均"})
TOTALS = _SUMS | _MEANS  # names of rows that sum up the rows above them
_LONGEST_LABEL = max(map(len, TOTALS))
_BEGIN, _BEGUN, _END = "\ufdd3", "\ufdd4", "\ufdd5"
"""Around the numbers of a table and a row in front of the row's lines, and behind these lines.

No text has them, as Unicode has no characters there."""
_MARK = re.compile(f"{_BEGIN}(?P<table>\\d{{1,9}})\\.(?P<row>\\d{{1,9}}){_BEGUN}|[{_BEGIN}{_BEGUN}{_END}]")


@dataclass(frozen=True)
class TableLine:
    """A line between the rows of a table: a heading for the rows below it, or a page break."""

    text: str


TableRow = Sequence[str] | TableLine  # the cells of a row, or a line between rows
_COLLECTED: ContextVar[list[SourceTable] | None] = ContextVar("banyan_collected_tables", default=None)


@contextmanager
def collected_tables(before: Iterable[SourceTable] = ()) -> Iterator[list[SourceTable]]:
    """Yield a list that gets each table that is written within the block, still without the places of its rows.

    Args:
        before: the tables with which the list begins, because their rows are marked in the text already.
    """
    tables = list(before)
    token = _COLLECTED.set(tables)
    try:
        yield tables
    finally:
        _COLLECTED.reset(token)


def change_collected(change: Callable[[str], str]) -> None:
    """Change the texts of the tables that were collected so far, as a reader does with the text of its pages."""
    if (collected := _COLLECTED.get()) is not None:
        collected[:] = [_with_change(table, change) for table in collected]


def _with_change(table: SourceTable, change: Callable[[str], str]) -> SourceTable:
    return SourceTable.model_construct(
        title=change(table.title), columns=tuple(map(change, table.columns)), spans=table.spans,
        rows=tuple(tuple(map(change, row)) for row in table.rows))


def collect(title: str, header: Sequence[str], rows: Sequence[TableRow], key: int | None = None) -> dict[int, str]:
    """Collect a table as it stands in its source, and return the mark for each row that is a record, by its index.

    A row whose cell in the column `key` or first text is a word such as "Total" sums up others and is no record, unless
    that word is a kind of record (two neighbouring rows have it), or the row has another text and does not end a group
    of rows. Nothing is collected outside a block of `collected_tables`.
    """
    collected = _COLLECTED.get()
    records = {} if collected is None else dict(_rows_without_totals(rows, key))
    if collected is None or not records:
        return {}
    names = [" ".join(name.split()) for name in header]
    width = max(len(names), *map(len, records.values()))
    collected.append(SourceTable.model_construct(
        title=" ".join(title.split()), columns=(*names, *[""] * (width - len(names))), spans=(),
        rows=tuple((*cells, *[""] * (width - len(cells))) for cells in records.values())))
    return {at: f"{_BEGIN}{len(collected) - 1}.{number}{_BEGUN}" for number, at in enumerate(records)}


def mark_row(lines: Iterable[str], mark: str | None) -> str:
    """Return the lines of a row as one text, between its mark and the end of the row if it has one."""
    text = "\n".join(lines)
    return f"{mark}{text}{_END}" if mark else text


def _rows_without_totals(rows: Sequence[TableRow], key: int | None) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the rows that sum up no others, each with its index."""
    for is_line, group in groupby(enumerate(rows), lambda row: isinstance(row[1], TableLine)):
        if is_line:
            continue
        cells_of = {at: cells for at, cells in group if not isinstance(cells, TableLine)}
        totals: dict[int, str] = {}  # the labels of rows that may sum up other rows, else ""
        for at, cells in cells_of.items():
            name = cells[key] if key is not None and key < len(cells) else ""
            labels = (label_key(text) for text in (name, next(filter(None, cells), "")) if len(text) <= _LONGEST_LABEL)
            totals[at] = next((label for label in labels if label in TOTALS), "")
        kinds = {totals[at] for at, below in pairwise(totals) if totals[at] == totals[below]}
        last = max((at for at, total in totals.items() if not total), default=-1)
        for at, cells in cells_of.items():
            total = totals[at]
            texts = [cell for cell in cells if any(map(str.isalpha, cell)) and not any(map(str.isdigit, cell))]
            is_inside = at < last and (total in _MEANS or len(texts) > 1)
            if not total or total in kinds or is_inside:
                yield at, cells


def without_marks(text: str) -> str:
    """Return a text without the marks of rows."""
    return _MARK.sub("", text)


def place_tables(text: str, tables: Sequence[SourceTable]) -> tuple[str, list[SourceTable]]:
    """Return a text without the marks of rows, and the tables with the place of each row, in the order of the text.

    A table without any of its rows in the text is no part of the document, such as one of a mail's HTML where the plain
    text is read; it is left out. A row that is not in the text gets the end of the row before.
    """
    parts, length, end = list[str](), 0, 0
    begun, places = None, dict[tuple[int, int], tuple[int, int]]()
    for mark in _MARK.finditer(text):
        parts.append(text[end:mark.start()])
        length += mark.start() - end
        end = mark.end()
        if mark["table"]:
            begun = (int(mark["table"]), int(mark["row"])), length
        elif begun is not None:
            places[begun[0]], begun = (begun[1], length), None
    placed: list[SourceTable] = []
    for number, table in enumerate(tables):
        spans: list[tuple[int, int]] = []
        for row in range(len(table.rows)):
            before = spans[-1][1] if spans else 0
            spans.append(places.get((number, row), (before, before)))
        if any((number, row) in places for row in range(len(table.rows))):
            texts = "".join((table.title, *table.columns, *map("".join, table.rows)))
            stored = table if texts.isascii() and texts.isprintable() else _with_change(table, clean_text)
            placed.append(stored.model_copy(update={"spans": tuple(spans)}))
    return "".join([*parts, text[end:]]), sorted(placed, key=lambda table: table.spans[:1])
