"""Superlatives and comparisons over a column of a table: which is the dearest, or which of two is lighter."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...text.content_words import content_words, spoken_words
from ...text.dates import calendar_day, parse_date
from ...text.lexicon import words
from ...text.quantities import measure, parse_number
from ...text.table_rows import DOCUMENT, Cell, Row
from ...text.whole_names import has_name
from .likeness import likeness
from .question import Question
from .units import Unit

_DEGREE = re.compile(
    r"\b(?P<bare>most|least|fewest|more|less|fewer)\s+(?P<what>[a-z-]+)|\b(?P<word>(?!interest|request|forest|harvest|guest|"
    r"west|rest|best|test|latest news)[a-z]{3,}(?:est|er))\b(?:\s+(?P<noun>[a-z]+))?|"
    r"[最更](?P<han>高|低|大|小|多|少|轻|重|长|短|贵|便宜|早|晚|新|老|旧)", re.IGNORECASE)
_COMPARED = re.compile(r"\bor\b|\bthan\b|还是|比", re.IGNORECASE)
_LEAST = re.compile(r"(?:cheap|light|small|short|low|few|slow|young|early|near|narrow|thin|less|least)\w*|"
                    r"[低小少轻短早]|便宜", re.IGNORECASE)
_EARLIEST = re.compile(r"(?:old|earl|long)\w*|[早老旧]", re.IGNORECASE)
_LATEST = re.compile(r"(?:new|young|late|recent)\w*|[晚新]", re.IGNORECASE)
_DATED = re.compile(r"\b(?:born|birth|built|made|founded|opened|started?|since|from|joined|came|arrived|year|date)\b|"
                    r"日期|年份|出生|建", re.IGNORECASE)
_HAN_WORDS = {"贵": "price", "便宜": "price", "轻": "weight", "重": "weight", "长": "length", "短": "length",
              "高": "height", "低": "height", "大": "size", "小": "size"}
_NO_VALUE = words("have has had made make be is take took")
_SIMILAR = 0.45
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Extreme:
    """The result of a comparison: the first cells of the winning rows, a line with the values, and the rows."""

    words: str
    line: str
    units: tuple[Unit, ...]


def find_extreme(question: Question, units: Sequence[Unit]) -> Extreme | None:
    """Return the row with the largest or smallest value in the column that a question compares by, or None.

    Args:
        question: the analysed question.
        units: the units of the passages; a table consists of the rows with one heading and one first header.
    """
    degree = _DEGREE.search(question.text)
    if degree is None or question.expected in {"number", "reason", "polar"}:
        return None
    if (degree["word"] or "").lower().endswith("er") and not _COMPARED.search(question.text):
        return None  # 'member' is not a comparative
    tables: dict[tuple[str, str], dict[tuple[Cell, ...], Unit]] = {}
    for unit in units:
        if unit.row is not None and unit.row.cells[0].header != DOCUMENT:
            key = unit.heading, unit.row.cells[0].header
            tables.setdefault(key, {}).setdefault(unit.row.cells, unit)  # passages overlap
    for (heading, header), rows in tables.items():
        chosen = _chosen(question, list(rows.values()), f"{heading} {header}")
        found = _extreme(question, degree, chosen) if len(chosen) > 1 else None
        if found is not None:
            return found
    return None


def _chosen(question: Question, rows: Sequence[Unit], called: str) -> list[Unit]:
    """Return the rows to compare: the named ones if there are several, else those of the requested kind."""
    named = [unit for unit in rows if unit.row and has_name(question.text, unit.row.cells[0].value)]
    if _COMPARED.search(question.text):
        return named if len(named) > 1 else []
    asked = frozenset(content_words(question.text))
    matches = [{cell.header for cell in unit.row.cells if asked.issuperset(content_words(cell.value) or ("",))}
            if unit.row else set[str]() for unit in rows]
    wanted = set[str]().union(*matches)
    about = asked.intersection(content_words(called)) or (question.focus and float(
        likeness([question.focus], [called]).max()) >= _SIMILAR)
    return [unit for unit, headers in zip(rows, matches, strict=True) if headers == wanted] if about or wanted else []


def _extreme(question: Question, degree: re.Match[str], rows: Sequence[Unit]) -> Extreme | None:
    word = degree["word"] or degree["bare"] or degree["han"]
    header = _column(question, degree, rows)
    least, value = bool(_LEAST.match(word)), _number
    if not header and (_EARLIEST.match(word) or _LATEST.match(word)):
        header = next((cell.header for unit in rows if unit.row for cell in unit.row.cells
                       if _DATED.search(cell.header) and _day(cell) is not None), "")
        least, value = bool(_EARLIEST.match(word)), _day
    valued = [(size, unit, cell) for unit in rows if unit.row is not None
              and (cell := _cell_under(unit.row, header)) is not None and (size := value(cell)) is not None]
    if len(valued) < 2:  # noqa: PLR2004 - a comparison needs two
        return None
    valued.sort(key=lambda item: item[0], reverse=not least)
    best = [item for item in valued if item[0] == valued[0][0]]
    winners = ", ".join(unit.row.cells[0].value for _, unit, _ in best if unit.row)
    listed = "; ".join(f"{unit.row.cells[0].value}: {cell.value}" for _, unit, cell in valued[:_SHOWN] if unit.row)
    line = "{}，比较了 {} 行：{}" if question.language == "zh" else "{}, {} rows compared: {}"
    return Extreme(winners, line.format(header, len(valued), listed),
                   tuple(unit for _, unit, _ in valued[:_SHOWN]))


def _column(question: Question, degree: re.Match[str], rows: Sequence[Unit]) -> str:
    """Return the header of the numeric column that a question compares by, or "".

    Args:
        question: "Which boat is the oldest?", "Which boat has the most passengers?".
        degree: the words of its comparison: "oldest", "most passengers".
        rows: rows of one table, whose first cell names the row.
    """
    what = " ".join(filter(None, (degree["word"], degree["what"], degree["noun"], _HAN_WORDS.get(degree["han"] or ""))))
    wanted = [word for word in content_words(what) if word not in _NO_VALUE]
    says_no_column = degree["han"] or degree["bare"] or not wanted
    if says_no_column:
        wanted += content_words(question.text)
    headers = dict.fromkeys(cell.header for unit in rows if unit.row for cell in unit.row.cells[1:]
                            if _number(cell) is not None)
    for word in wanted:
        for header in headers:
            if word in content_words(header):
                return header
    spoken = spoken_words(degree["what"] or "")
    near = [(float(likeness(spoken, [header]).max()), header) for header in headers] if spoken else []
    return max(near)[1] if near and max(near)[0] >= _SIMILAR else ""


def _number(cell: Cell) -> tuple[float, ...] | None:
    size = measure(parse_number(cell.value)) if any(map(str.isdigit, cell.value)) else None
    return (size[1],) if size else None


def _day(cell: Cell) -> tuple[float, ...] | None:
    return calendar_day(parse_date(cell.value)) or None


def _cell_under(row: Row, header: str) -> Cell | None:
    return next((cell for cell in row.cells if header and cell.header == header), None)


