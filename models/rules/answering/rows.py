"""Rows of tables as evidence: the cell that answers, and questions over all rows of a table."""

import functools
import re
from collections.abc import Sequence

from ....schemas.naming import canonical_name, normalise
from ....text.quantities import measured, parse_number
from ....text.table_rows import DOCUMENT, Cell, Row
from ..content_words import content_words
from ..lexicon import words
from ..likeness import likeness
from ..questions.answer_types import Expected, Question, figures
from ..questions.names import mentions
from .spans import Candidate

_STEM = 4
"""Letters that words of one family share at least: 'Italy' and 'Italian', 'supplies' and 'Supplier'."""
_NAMING = re.compile(r"\b(?:name|who|person|contact|author)\b|姓名|名称|负责人", re.IGNORECASE)
_COUNTS = re.compile(r"\b(?:quantity|count|amount|stock|units)\b|数量|库存", re.IGNORECASE)
_PLACES = re.compile(r"\b(?:country|city|place|location|region|warehouse|site)\b|国家|城市|地点|地区", re.IGNORECASE)
_DATES = re.compile(r"\b(?:date|year|since|until|by|when|founded|opened)\b|日期|时间|年份", re.IGNORECASE)
_NAMED = frozenset({Expected.NAME, Expected.PERSON, Expected.ORGANISATION})
_NAMES = frozenset({*_NAMED, Expected.PLACE})
_HEADERS = {Expected.PERSON: _NAMING, Expected.NUMBER: _COUNTS, Expected.PLACE: _PLACES, Expected.DATE: _DATES}
_MEASURELESS = words(
    "most least more less fewer fewest many much few little often high higher highest low lower lowest large larger "
    "largest big bigger biggest small smaller smallest great greater greatest good better best bad worse worst")
_LEAST_ALIKE, _USED_ALIKE = 0.27, 0.4
"""Cosines of words: pairs such as 'grow' and 'crop', 'earn' and 'salary' have .3 and more, others .25 and less."""
_WHOLE, _IN_ANOTHER_CELL, _IN_PART = 1.0, 0.8, 0.7
_OF_DOCUMENTS = frozenset(content_words("document file report minutes article page memo wrote sent published"))
_OF_FORMATS = {word: suffix for suffix, named in (
    (".eml", "e-mail email mail message"), (".ipynb", "notebook"), (".pptx", "slides presentation"),
    (".docx", "letter"), (".xlsx", "spreadsheet workbook")) for word in content_words(named)}
"""Words for a document by the ending of its name."""
UNDER_HEADER = 2.0
"""Fit of a cell whose header the question names; a cell of the expected kind alone fits less."""


def cell_candidates(question: Question, row: Row) -> list[Candidate]:
    """The cells that may answer, best first: under a header that the question names, or of the expected kind.

    Args:
        question: the question taken apart.
        row: a row.
    """
    spoken = frozenset((*content_words(question.text), *question.words))
    found: list[Candidate] = []
    if question.expected is Expected.REASON or (row.cells[0].header == DOCUMENT and not _asks_of_document(row, spoken)):
        return []
    for position, cell in enumerate(row.cells):
        if _is_said(cell.value, question, spoken):
            continue
        header = frozenset(content_words(cell.header))
        said = bool(header) and any(akin(word, other) for word in header for other in spoken)
        asked = 1.0 if said else max((_alike(word, cell.header) for word in question.spoken), default=0.0)
        kind = _HEADERS.get(question.expected)
        fits = kind is not None and kind.search(cell.header) is not None
        amount = number_of(cell) is not None
        numeric = amount if question.expected is Expected.NUMBER else not (amount and question.expected in _NAMES)
        naming = position == 0 and cell.header != DOCUMENT and question.expected in _NAMED
        if numeric and (asked or fits or naming):
            found.append(Candidate(_with_unit(cell), UNDER_HEADER * asked + 1.0 * fits + 0.5 * naming))
    return sorted(found, key=lambda candidate: -candidate.fit)


def _asks_of_document(row: Row, spoken: frozenset[str]) -> bool:
    """Whether a question speaks of a document: by such a word, or by its format."""
    return bool(spoken & _OF_DOCUMENTS) or any(row.cells[0].value.endswith(_OF_FORMATS.get(word, "?"))
                                               for word in spoken)


def akin(word: str, other: str) -> bool:
    """Whether two content words are one, or of one family by their beginning."""
    if word == other:
        return True
    shared = min(len(word), len(other), max(_STEM, max(len(word), len(other)) - _STEM))
    return word.isascii() and shared >= _STEM and word[:shared] == other[:shared]


def said_in_row(row: Row, word: str) -> bool:
    """Whether a header or cell says a content word, in another form; a document's own row is about a document."""
    if row.cells[0].header == DOCUMENT and (
            word in _OF_DOCUMENTS or row.cells[0].value.endswith(_OF_FORMATS.get(word, "?"))):
        return True
    return any(akin(word, other) for cell in row.cells for other in content_words(f"{cell.header} {cell.value}"))


def named_in_row(row: Row, name: str) -> float:
    """How surely a row is about a name: its first cell is it, another is, or one holds it among other words; 0..1."""
    folded = canonical_name(name)
    same = [position for position, cell in enumerate(row.cells) if canonical_name(cell.value) == folded]
    if same:
        return _IN_ANOTHER_CELL if same[0] else _WHOLE
    return _IN_PART if any(mentions(cell.value, name) for cell in row.cells) else 0.0


@functools.lru_cache(4096)
def _alike(word: str, header: str) -> float:
    """How surely a header says an English word in another ('grow': 'Crop'), by how alike they are used; 0 to 1."""
    if not word.isalpha() or not word.isascii():  # numbers are used alike, and are not each other
        return 0.0
    best = float(likeness([word], [header])[0, 0])
    return min(1.0, best / _USED_ALIKE) if best >= _LEAST_ALIKE else 0.0


def header_says(row: Row, word: str) -> float:
    """How surely one of a row's headers says an English word, or another that is used alike; 0 to 1."""
    return max(_alike(word, cell.header) for cell in row.cells)


def is_meant(row: Row, question: Question) -> bool:
    """Whether a question says something that a cell says: its words may as well be the headers of all rows."""
    values = [word for cell in row.cells for word in content_words(cell.value)]
    return any(named_in_row(row, name) for name in question.names) or any(
        akin(word, value) for word in question.words for value in values)


def figured(question: Question, row: Row) -> int:
    """How many of a question's numbers a row has; those with the same unit count twice ('20 metres', '20 m')."""
    if not question.figures:
        return 0
    return sum(bool(figures(cell.value) & question.figures) + (parse_number(cell.value) in question.amounts)
               for cell in row.cells)


def _is_said(value: str, question: Question, spoken: frozenset[str]) -> bool:
    """Whether the question itself says a cell's value."""
    said = content_words(value)
    if question.expected in _NAMES and any(mentions(value, name) for name in question.names):
        return True  # 'Who was against the Lund offer?' is not answered by Lund & Sons
    return mentions(normalise(question.text), value) or (bool(said) and spoken.issuperset(said))


def _with_unit(cell: Cell) -> str:
    """A cell's value; a bare number with the unit that stands in its header."""
    unit = re.search(r"[(（]([^()（）]{1,30})[)）]$", cell.header)
    if unit is None or not re.fullmatch(r"[\d.,]+", cell.value):
        return cell.value
    return f"{unit[1]}{cell.value}" if unit[1] in {"£", "$", "€", "¥"} else f"{cell.value} {unit[1]}"


def column(question: Question, rows: Sequence[Row], adjective: str, noun: str = "") -> str:
    """The header of the numeric column that a comparison is about, or nothing.

    Args:
        question: the question.
        rows: rows of one table.
        adjective: the word of comparing ('expensive').
        noun: what it is said of ('the heaviest load').
    """
    wanted = (*content_words(adjective), *content_words(noun))
    if not adjective.isascii() or _MEASURELESS.intersection(re.findall(r"[a-z]+", adjective.lower())):
        wanted += question.words  # 'the most passengers', 'the highest price': the noun says what is compared
    headers = dict.fromkeys(cell.header for row in rows for cell in row.cells if number_of(cell) is not None)
    for word in wanted:
        for header in headers:
            if any(akin(word, other) for other in content_words(header)):
                return header
    return ""


def number_of(cell: Cell) -> float | None:
    """The number that a cell holds, in the base unit of its kind."""
    size = measured(parse_number(cell.value)) if any(map(str.isdigit, cell.value)) else None
    return size[1] if size else None


def value_under(row: Row, header: str) -> Cell | None:
    """A row's cell under a header."""
    return next((cell for cell in row.cells if cell.header == header), None)
