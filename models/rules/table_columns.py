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

_DEGREE = re.compile(
    r"\b(?P<bare>most|least|fewest|more|less|fewer)\s+(?P<what>[a-z-]+)|\b(?P<word>(?!interest|request|forest|harvest|guest|"
    r"west|rest|best|test|latest news)[a-z]{3,}(?:est|er))\b(?:\s+(?P<noun>[a-z]+))?", re.IGNORECASE)
_COMPARED = re.compile(r"\bor\b|\bthan\b", re.IGNORECASE)
_LEAST = re.compile(r"(?:cheap|light|small|short|low|few|slow|young|early|near|narrow|thin|less|least)", re.IGNORECASE)
_EARLIEST, _LATEST = re.compile(r"(?:old|earl|long)", re.IGNORECASE), re.compile(r"(?:new|young|late)", re.IGNORECASE)
_DATED = re.compile(r"\b(?:born|birth|built|made|founded|opened|started?|since|from|joined|came|arrived|year|date)\b",
                    re.IGNORECASE)
_SHOWN = 3
_GAP = 8
"""Characters between two parts of a table: line breaks and no row."""

_Cells = tuple[Cell, ...]
_Value = Callable[[str], tuple[float, ...] | None]


def find_extreme(question: Question, units: Sequence[Unit], passages: Sequence[Passage],
                 ) -> tuple[str, str, Sequence[Unit]] | None:
    """Return the row with the largest or smallest value in the column that a question compares by, or None.

    A table of which rows are missing has no extreme: what is between two passages may be larger.

    Args:
        question: "Which boat is the oldest?", "Which boat has the most passengers?".
        units: the units of the passages; a table consists of the rows with one heading and one first header.
        passages: the passages.

    Returns:
        The first cells of the winning rows, a line with the best values, and their rows.
    """
    degree = _DEGREE.search(question.text)
    if degree is None or question.expected in {"number", "reason", "polar"}:
        return None
    if (degree["word"] or "").lower().endswith("er") and not _COMPARED.search(question.text):
        return None  # 'member' is not a comparative
    tables: dict[tuple[str, str], dict[_Cells, Unit]] = {}
    for unit in units:
        if unit.row is not None and unit.row.cells[0].header != DOCUMENT:
            called = unit.heading, unit.row.cells[0].header
            tables.setdefault(called, {}).setdefault(unit.row.cells, unit)  # passages overlap
    found = (_extreme(question, degree, chosen) for called, rows in tables.items()
             if (chosen := _chosen(question, rows, " ".join(called))) and (
                 _COMPARED.search(question.text) or _is_whole(rows.values(), passages)))
    return next(filter(None, found), None)


def _is_whole(units: Iterable[Unit], passages: Sequence[Passage]) -> bool:
    """Return True if the passages with the rows of a table follow each other in one document, from its first row on.

    A passage that begins with a row has others before it, but at the beginning of a document or below a heading.
    """
    opening: dict[int, Unit] = {}
    for unit in units:
        opening[unit.passage] = min(opening.get(unit.passage, unit), unit, key=lambda one: one.start)
    parts = sorted((passages[number - 1].document, passages[number - 1].start, number) for number in opening)
    document, end, number = parts[0]
    first = passages[number - 1]
    if end > _GAP and not first.heading and not first.text[:opening[number].start].strip():
        return False
    for other, start, number in parts:
        if other != document or start > end + _GAP:
            return False
        end = max(end, start + len(passages[number - 1].text))
    return True


def _chosen(question: Question, rows: Mapping[_Cells, Unit], called: str) -> Mapping[_Cells, Unit]:
    """Return the rows to compare: the named ones if things are compared, else those with the values that are named."""
    if _COMPARED.search(question.text):
        return {row: unit for row, unit in rows.items() if has_name(question.text, row[0].value)}
    asked = frozenset(content_words(question.text))
    matches = {row: {cell.header for cell in row if asked.issuperset(content_words(cell.value) or ("",))}
               for row in rows}
    wanted = set[str]().union(*matches.values())
    about = wanted or asked.intersection(content_words(called))
    return {row: unit for row, unit in rows.items() if about and matches[row] == wanted}


def _extreme(question: Question, degree: re.Match[str], rows: Mapping[_Cells, Unit],
             ) -> tuple[str, str, Sequence[Unit]] | None:
    word = degree["word"] or degree["bare"]
    value: _Value = _number
    header, is_least = _column(question, degree, rows), _LEAST.match(word) is not None
    if not header and (_EARLIEST.match(word) or _LATEST.match(word)):
        value, is_least = _day, _EARLIEST.match(word) is not None
        header = next(filter(_DATED.search, _headers(rows, value)), "")
    valued = [(size, row, cell.value) for row in rows for cell in row
              if cell.header == header and (size := value(cell.value)) is not None]
    if len(valued) < 2:  # noqa: PLR2004 - a comparison needs two
        return None
    valued.sort(key=lambda item: item[0], reverse=not is_least)
    winners = ", ".join(row[0].value for size, row, _ in valued if size == valued[0][0])
    listed = "; ".join(f"{row[0].value}: {said}" for _, row, said in valued[:_SHOWN])
    line = "{}，比较了 {} 行：{}" if question.language == "zh" else "{}, {} rows compared: {}"
    return winners, line.format(header, len(valued), listed), [rows[row] for _, row, _ in valued[:_SHOWN]]


def _column(question: Question, degree: re.Match[str], rows: Mapping[_Cells, Unit]) -> str:
    """Return the header of the numeric column that the words of a degree name, or after "most" the question; or ""."""
    what = " ".join(filter(None, (degree["word"], degree["what"], degree["noun"])))
    wanted = content_words(f"{what} {question.text}" if degree["bare"] else what)
    headers = _headers(rows, _number)
    return next((header for word in wanted for header in headers if word in content_words(header)), "")


def _headers(rows: Iterable[_Cells], value: _Value) -> Sequence[str]:
    """Return the headers of the columns that have a value of some kind."""
    return list(dict.fromkeys(cell.header for row in rows for cell in row[1:] if value(cell.value) is not None))


def _number(text: str) -> tuple[float, ...] | None:
    size = measure(parse_number(text)) if any(map(str.isdigit, text)) else None
    return (size[1],) if size else None


def _day(text: str) -> tuple[float, ...] | None:
    return calendar_day(parse_date(text))
