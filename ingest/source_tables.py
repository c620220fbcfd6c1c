"""Collect the tables of a document while readers write them as text, and find the places of their rows in that text.

Cells cannot be read back from the text, which readers go on changing: marks stand around each row until it is whole.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import groupby, pairwise

from ..schemas.documents import SourceTable
from ..schemas.naming import label_key
from ..text.cleaning import clean_text
from ..text.lexicon import WORDS

_MEANS = WORDS["means"]
TOTALS = WORDS["sums"] | _MEANS  # names of rows that sum up the rows above them
_LONGEST_LABEL = max(map(len, TOTALS))
_BEGIN, _BEGUN, _END = "\ufdd3", "\ufdd4", "\ufdd5"
"""Around the numbers of a table and a row in front of the row's lines, and behind these lines: no text has them, as
Unicode has no characters there."""
_MARK = re.compile(f"{_BEGIN}(?P<table>\\d{{1,9}})\\.(?P<row>\\d{{1,9}}){_BEGUN}|[{_BEGIN}{_BEGUN}{_END}]")


@dataclass(frozen=True)
class TableLine:
    """A line between the rows of a table: a heading for the rows below it, or a page break."""

    text: str


TableRow = Sequence[str] | TableLine  # the cells of a row, or a line between rows
_COLLECTED: ContextVar[list[SourceTable] | None] = ContextVar("banyan_collected_tables", default=None)


@contextmanager
def collected_tables(before: Iterable[SourceTable] = ()) -> Iterator[list[SourceTable]]:
    """Yield a list that gets each table that is written within the block, still without the places of its rows."""
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
    return SourceTable.model_construct(title=change(table.title), columns=tuple(map(change, table.columns)),
                                       rows=tuple(tuple(map(change, row)) for row in table.rows), spans=table.spans)


def collect(title: str, header: Sequence[str], rows: Sequence[TableRow], key: int | None = None) -> dict[int, str]:
    """Collect a table as it stands in its source, and return the mark for each row that is a record, by its index.

    Rows that sum up others are no records; `key` is the column that names the rows, if one does.
    """
    collected, records = _COLLECTED.get(), dict[int, Sequence[str]]()
    if collected is None:  # nobody collects tables at present
        return {}
    for is_line, group in groupby(enumerate(rows), lambda row: isinstance(row[1], TableLine)):
        if not is_line:  # the rows between two lines may have sums of their own
            records |= _records_of({at: cells for at, cells in group if not isinstance(cells, TableLine)}, key)
    if not records:
        return {}
    width = max(len(header), *map(len, records.values()))
    names = [" ".join(name.split()) for name in header]
    collected.append(SourceTable.model_construct(
        title=" ".join(title.split()), columns=(*names, *[""] * (width - len(names))), spans=(),
        rows=tuple((*cells, *[""] * (width - len(cells))) for cells in records.values())))
    return {at: f"{_BEGIN}{len(collected) - 1}.{number}{_BEGUN}" for number, at in enumerate(records)}


def _records_of(rows: Mapping[int, Sequence[str]], key: int | None) -> dict[int, Sequence[str]]:
    """Return some rows, given by their indexes and without a line between them, except those that sum up others."""
    totals: dict[int, str] = {}  # the words of `TOTALS` that name or begin rows, else ""
    for at, cells in rows.items():
        name = cells[key] if key is not None and key < len(cells) else ""
        first_text = next(filter(None, cells), "")
        folded = [label_key(text) for text in (name, first_text) if len(text) <= _LONGEST_LABEL]
        totals[at] = next((label for label in folded if label in TOTALS), "")
    # A word that two neighbouring rows have is a kind of things: eclipses may be total.
    kinds = {label for label, below in pairwise(totals.values()) if label == below}
    last_record = max((at for at, label in totals.items() if not label), default=-1)
    records: dict[int, Sequence[str]] = {}
    for at, cells in rows.items():
        label = totals[at]
        words = [cell for cell in cells if any(map(str.isalpha, cell)) and not any(map(str.isdigit, cell))]
        # Above other records, a row that has further words than a name is no sum, and a mean is one of the values.
        is_record_among_others = at < last_record and (label in _MEANS or len(words) > 1)
        if not label or label in kinds or is_record_among_others:
            records[at] = cells
    return records


def mark_row(lines: Iterable[str], mark: str | None) -> str:
    """Return the lines of a row as one text, between its mark and the end of the row if it has one."""
    text = "\n".join(lines)
    return f"{mark}{text}{_END}" if mark else text


def without_marks(text: str) -> str:
    """Return a text without the marks of rows."""
    return _MARK.sub("", text)


def place_tables(text: str, tables: Sequence[SourceTable]) -> tuple[str, list[SourceTable]]:
    """Return a text without the marks of rows, and the tables with the place of each row, in the order of the text.

    A table without any of its rows in the text is no part of the document, such as one of a mail's HTML where the plain
    text is read; it is left out. A row that is not in the text gets the end of the row before.
    """
    parts, length, end_of_mark = list[str](), 0, 0  # the text without marks, its length, and where the last mark ends
    spans: dict[tuple[int, int], tuple[int, int]] = {}  # by the numbers of a table and a row
    open_row: tuple[int, int] | None = None
    start = 0
    for mark in _MARK.finditer(text):
        parts.append(text[end_of_mark:mark.start()])
        length += mark.start() - end_of_mark
        end_of_mark = mark.end()
        if mark["table"]:
            open_row, start = (int(mark["table"]), int(mark["row"])), length
        elif open_row is not None:
            spans[open_row], open_row = (start, length), None
    placed: list[SourceTable] = []
    for number in sorted({number for number, _ in spans}):
        table, places, end_before = tables[number], list[tuple[int, int]](), 0
        for at in range(len(table.rows)):
            places.append(spans.get((number, at), (end_before, end_before)))
            _, end_before = places[-1]
        texts = "".join((table.title, *table.columns, *map("".join, table.rows)))
        # Most tables are clean, and cleaning takes long.
        cleaned = table if texts.isascii() and texts.isprintable() else _with_change(table, clean_text)
        placed.append(cleaned.model_copy(update={"spans": tuple(places)}))
    return "".join([*parts, text[end_of_mark:]]), sorted(placed, key=lambda table: table.spans[:1])
