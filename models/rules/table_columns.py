"""Superlatives and comparisons over a column of a table: which is the dearest, or which of two is lighter."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from ...schemas.naming import has_name
from ...schemas.retrieval import Passage
from ...text.content_words import content_words
from ...text.dates import calendar_day, parse_date
from ...text.quantities import measure, parse_number
from ...text.table_rows import DOCUMENT, Cell
from .question import Question
from .units import Unit

_DEGREE_WORD = re.compile(
    r"\b(?P<bare>most|least|fewest|more|less|fewer)\s+(?P<what>[a-z-]+)|\b(?P<word>(?!interest|request|forest|harvest|guest|"
    r"west|rest|best|test|latest news)[a-z]{3,}(?:est|er))\b(?:\s+(?P<noun>[a-z]+))?", re.IGNORECASE)
_COMPARISON = re.compile(r"\bor\b|\bthan\b", re.IGNORECASE)
_ASKS_SMALLEST = re.compile(
    r"(?:cheap|light|small|short|low|few|slow|young|early|near|narrow|thin|less|least)", re.IGNORECASE)
_ASKS_EARLIEST = re.compile(r"(?:old|earl|long)", re.IGNORECASE)
_ASKS_LATEST = re.compile(r"(?:new|young|late)", re.IGNORECASE)
_DATE_HEADER = re.compile(
    r"\b(?:born|birth|built|made|founded|opened|started?|since|from|joined|came|arrived|year|date)\b",
    re.IGNORECASE)
_ROWS_SHOWN = 3
_LARGEST_GAP = 8  # the most characters between two parts of one table: only line breaks, no row

_Cells = tuple[Cell, ...]
_Value = Callable[[str], tuple[float, ...] | None]


def find_extreme(question: Question, units: Sequence[Unit], passages: Sequence[Passage],
                 ) -> tuple[str, str, Sequence[Unit]] | None:
    """Return the answer to "Which boat is the oldest?" or "Which boat has the most passengers?", or None.

    It is the first cells of the rows with the largest or smallest value in the column that the question compares by, a
    line with the best values, and their rows. A table consists of the rows with one heading and one first header. A
    superlative needs the whole table: a row that is missing between two passages may have a larger value.
    """
    degree = _DEGREE_WORD.search(question.text)
    if degree is None or question.expected in {"number", "reason", "polar"}:
        return None
    if (degree["word"] or "").lower().endswith("er") and not _COMPARISON.search(question.text):
        return None  # a word such as "member" is a comparative only beside "or" or "than"
    tables: dict[tuple[str, str], dict[_Cells, Unit]] = {}
    for unit in units:
        if unit.row is not None and unit.row.cells[0].header != DOCUMENT:
            table = unit.heading, unit.row.cells[0].header
            tables.setdefault(table, {}).setdefault(unit.row.cells, unit)  # passages overlap
    for (heading, first_header), rows in tables.items():
        compared = _rows_to_compare(question, rows, f"{heading} {first_header}")
        if not compared or not (_COMPARISON.search(question.text) or _is_whole(rows.values(), passages)):
            continue
        if extreme := _extreme_row(question, degree, compared):
            return extreme
    return None


def _is_whole(units: Iterable[Unit], passages: Sequence[Passage]) -> bool:
    """Return True if the passages with a table's rows follow each other in one document, from its first row on."""
    first_rows: dict[int, Unit] = {}  # by the number of the passage
    for unit in units:
        first_rows[unit.passage] = min(first_rows.get(unit.passage, unit), unit, key=lambda one: one.start)
    parts = sorted((passages[number - 1].document, passages[number - 1].start, number) for number in first_rows)
    document, first_start, number = parts[0]
    first = passages[number - 1]
    begins_with_row = not first.text[:first_rows[number].start].strip()
    if first_start > _LARGEST_GAP and not first.heading and begins_with_row:
        return False
    end = first_start
    for other, start, number in parts:
        if other != document or start > end + _LARGEST_GAP:
            return False
        end = max(end, start + len(passages[number - 1].text))
    return True


def _rows_to_compare(question: Question, rows: Mapping[_Cells, Unit], table_name: str) -> Mapping[_Cells, Unit]:
    """Return the rows of a table to compare, or none if the question is not about the table."""
    if _COMPARISON.search(question.text):
        return {row: unit for row, unit in rows.items() if has_name(question.text, row[0].value)}
    asked = frozenset(content_words(question.text))

    def is_mentioned(cell: Cell) -> bool:
        value_words = content_words(cell.value)
        return bool(value_words) and asked.issuperset(value_words)

    headers_of_matches = {row: {cell.header for cell in row if is_mentioned(cell)} for row in rows}
    all_headers = set[str]().union(*headers_of_matches.values())
    if not all_headers and asked.isdisjoint(content_words(table_name)):
        return {}
    return {row: unit for row, unit in rows.items() if headers_of_matches[row] == all_headers}


def _extreme_row(question: Question, degree: re.Match[str], rows: Mapping[_Cells, Unit],
                 ) -> tuple[str, str, Sequence[Unit]] | None:
    """Return the answer of `find_extreme` for some rows, or None if fewer than two have a value to compare."""
    word = degree["word"] or degree["bare"]
    parse_value: _Value = _number_in
    header, smallest_first = _column(question, degree, rows), _ASKS_SMALLEST.match(word) is not None
    if not header and (_ASKS_EARLIEST.match(word) or _ASKS_LATEST.match(word)):
        parse_value, smallest_first = _day_in, _ASKS_EARLIEST.match(word) is not None
        header = next(filter(_DATE_HEADER.search, _headers(rows, parse_value)), "")
    valued_rows = [(value, row, cell.value) for row in rows for cell in row
                   if cell.header == header and (value := parse_value(cell.value)) is not None]
    if len(valued_rows) < 2:  # noqa: PLR2004 - a comparison needs two
        return None
    valued_rows.sort(key=lambda entry: entry[0], reverse=not smallest_first)
    winners = ", ".join(row[0].value for value, row, _ in valued_rows if value == valued_rows[0][0])
    shown = valued_rows[:_ROWS_SHOWN]
    values = "; ".join(f"{row[0].value}: {cell_text}" for _, row, cell_text in shown)
    template = "{}，比较了 {} 行：{}" if question.language == "zh" else "{}, {} rows compared: {}"
    return winners, template.format(header, len(valued_rows), values), [rows[row] for _, row, _ in shown]


def _column(question: Question, degree: re.Match[str], rows: Mapping[_Cells, Unit]) -> str:
    """Return the header of the column of numbers that the question compares by, or ""."""
    degree_words = " ".join(filter(None, (degree["word"], degree["what"], degree["noun"])))
    wanted = content_words(f"{degree_words} {question.text}" if degree["bare"] else degree_words)
    headers = _headers(rows, _number_in)
    return next((header for word in wanted for header in headers if word in content_words(header)), "")


def _headers(rows: Iterable[_Cells], parse_value: _Value) -> Sequence[str]:
    """Return the headers of the columns, but the first, with a cell from which `parse_value` reads a value."""
    return list(dict.fromkeys(cell.header for row in rows for cell in row[1:] if parse_value(cell.value) is not None))


def _number_in(text: str) -> tuple[float, ...] | None:
    size = measure(parse_number(text)) if any(map(str.isdigit, text)) else None
    return (size[1],) if size else None


def _day_in(text: str) -> tuple[float, ...] | None:
    return calendar_day(parse_date(text))
