"""Write tables as lines of text: find the column that names the row, the units in headers, and rows that are no data.

Every table, from any format, becomes lines in the form of `text/table_rows.py`, which later steps read without seeing
the table. Tables in Markdown texts are found here, too.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ..schemas.naming import label_key
from ..text.date_cells import read_date_cell
from ..text.dates import MONTHS, parse_date
from ..text.lexicon import COUNTRIES, WORDS
from ..text.number_cells import read_number, split_unit
from ..text.quantities import figures_of, is_unit, parse_number
from ..text.scripts import has_han
from ..text.section_lines import field_words, is_telling, lines_under
from ..text.table_rows import Cell, numbered_cell, row_lines
from .reading import UnreadableError
from .source_tables import TOTALS, TableLine, TableRow, collect, mark_row

_SAMPLE = 1000  # the rows that decide what a column contains
_MOST_CELLS = 20_000_000  # of a table, which is in memory as a whole
_JUDGED = 100  # the cells of a column that are parsed as values: parsing takes much longer than writing
_LONGEST_HEADER, _LONGEST_NAME = 100, 200
_MOSTLY = 0.8  # the share of a column's cells that counts as most of them
_GAPS = 0.5  # the share of filled cells from which the first column may name the rows; others have to be filled mostly
_MOST_NAMED, _MOST_DESCRIBED = 2_000, 20_000
"""The most rows of a table whose rows are things of the graph, and the most cells in them: ten facts of each thing.

A thing with its vectors, facts and community takes twenty times as long as a record: this many about half a minute.
"""
_PLAIN_NUMBER = re.compile(r"[-+−]?\d[\d.,]*")
_CLOCK = re.compile(r"(?:[01]?\d|2[0-3])[:.][0-5]\d(?::[0-5]\d)?(?: ?[ap]\.?m\.?| ?Uhr)?", re.IGNORECASE)
_YEAR = re.compile(r"[12]\d{3}")
_YEARS = re.compile(r"[12]\d{3}(?: ?[-–,;] ?(?:[12]\d{3}|present|today|now)| [12]\d{3})*")
_COUNTED = re.compile(r"[1-9]\d{0,5} [a-z]+")  # such as "40 people", a value in a table of two columns
_KIND = re.compile(r"(?P<weekday>(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|"
                   r"(?:周|星期)[一二三四五六日])|(?P<address>(?:https?://|www\.)\S+|[^\s@]+@[^\s@]+\.\w+)",
                   re.IGNORECASE)
_CODE_PART = re.compile(r"(?P<letters>[^\W\d_]+)|\d+")
_LONGEST_CODE = 10
_NAMES, _DESCRIBING, _PROPERTIES, _VALUES = (WORDS[f"headers of {kind}"] for kind in (
    "names", "descriptions", "properties", "values"))
"""Headers of columns that name the rows, and that describe them, which name them only as the first column; and the
headers of a table that lists properties of its title and their values."""
_PAIR = 2
FORM_FIELDS = re.compile("|".join(name if has_han(name) else rf"\b{name}\b" for name in sorted(
    WORDS["fields of forms"])), re.IGNORECASE)
_LONGEST_FIELD = 30
_BAR = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"(?=[^|]*+\|)\s*+\|*+\s*+:*+-++:*+\s*+(?:\|\s*+:*+-++:*+\s*+)*+\|*+\s*+")  # below a header
_MARKS = re.compile(r"`(?P<code>[^`\n]*)`|!?\[(?P<link>[^\[\]\n]*)\]\([^()\n]*\)|(?P<break><br ?/?>)|`|"
                    r"(?<!\w)(?P<mark>\*\*|__)(?P<strong>(?=\S)[^\n]*?\S)(?P=mark)(?!\w)|"
                    r"(?<![\w*])\*(?P<emphasis>[^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])")


def table_lines(header: Sequence[str], rows: Iterable[TableRow], title: str) -> Iterator[str]:
    """Yield the lines of a table, those of each row that is not empty as one text.

    Rows are named by the column that names each of them differently; without one they are numbered, and no entities or
    facts are read from them. Rows without a name and rows of totals get another form, so that they are read as text.

    Args:
        header: the columns' names; empty if there are none. A table of two columns without names, or with names such
            as "Property" and "Value", lists properties of the title.
        rows: the cells of each row. Short rows lack their last cells; cells beyond the header are in unnamed columns.
            Lines between rows stay in place.
        title: the table's subject: the heading above it, or the file's name.

    The rows are also collected as they stand (see `source_tables`); blank rows and rows of totals are no records.
    """
    lines_and_rows, size = list[TableRow](), 0
    for written in rows:
        row: TableRow = written if isinstance(written, TableLine) else [" ".join(cell.split()) for cell in written]
        has_text = bool(row.text) if isinstance(row, TableLine) else any(row)
        if has_text:
            lines_and_rows.append(row)
            size += 1 if isinstance(row, TableLine) else len(row)
        if size > _MOST_CELLS:
            raise UnreadableError(f"a table of more than {_MOST_CELLS:,} cells: split it")
    table_rows = [row for row in lines_and_rows if not isinstance(row, TableLine)]
    properties = _property_rows(header, table_rows)
    if properties:
        yield from (line.text for line in lines_and_rows if isinstance(line, TableLine))
        yield from _property_lines(properties, title)
        return
    columns, number = _Columns(header, table_rows), 0
    marks = collect(title, header, lines_and_rows, columns.key)
    for at, row in enumerate(lines_and_rows):
        if isinstance(row, TableLine):
            yield row.text
        else:
            number += 1
            cells = columns.cells(row)
            named = cells if columns.key is not None else [numbered_cell(title, number), *cells]
            yield mark_row(_row_lines(named), marks.get(at))


def _property_rows(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return the rows of a table of two columns that lists properties of its title; none of any other table."""
    # Such a table has no header, or one that says so. Of a form, the header is a field with its value like all others.
    if not 0 < len(rows) < _SAMPLE or max(map(len, rows)) > _PAIR or len(header) not in {0, _PAIR}:
        return []
    fields = [[*row, ""][:_PAIR] for row in rows]
    if not header:
        names, values = [name for name, _ in fields if name], [value for _, value in fields if value]
        # Names of properties differ, and their values are of several kinds.
        is_list = len(set(names)) < len(names) or not values or (len(values) > 1 and _are_of_one_kind(values))
        return [] if is_list else [*fields]
    first, second = map(label_key, header)
    if first in _PROPERTIES | {""} and second in _VALUES | {""}:
        return [*fields]
    form = [header, *fields]
    names = [name for name, _ in form]
    if len(set(names)) < len(names) or not all(0 < len(name) <= _LONGEST_FIELD for name in names):
        return []
    are_fields = [FORM_FIELDS.search(name) is not None for name in names]
    names_column = second in {*_VALUES, *_DESCRIBING, ""} or FORM_FIELDS.search(header[1]) is not None
    is_form = len(fields) >= _PAIR and are_fields[0] and sum(are_fields) >= _PAIR and not names_column
    return form if is_form or all(name.rstrip().endswith((":", "：")) for name in names) else []


def _property_lines(rows: Sequence[Sequence[str]], title: str) -> Iterator[str]:
    """Yield the line of a table whose rows are properties of its title."""
    names, values = [name.strip().rstrip(":：").strip() for name, _ in rows], [value for _, value in rows]
    cells = [Cell("Name", title)]
    for name, value in zip(names, values, strict=True):
        label, unit = split_unit(name)
        lacks_unit = unit and _PLAIN_NUMBER.fullmatch(value)
        if label and value:
            cells.append(Cell(label, f"{value} {unit}" if lacks_unit else value))
    yield mark_row(_row_lines(cells), collect(title, names, [values]).get(0))


def _row_lines(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield the lines of a row: statements about its first cell, which names the row."""
    first = cells[0] if cells else Cell("", "")
    if first.value and label_key(first.value) not in TOTALS and len(first.value) <= _LONGEST_NAME:
        yield from row_lines([cell for cell in cells if cell.value])
    elif any(cell.value for cell in cells):
        yield "; ".join(f"{cell.header}: {cell.value}" for cell in cells if cell.value)


class _Columns:
    """The columns of a table: headers, units, and the column that names the rows, if one does."""

    def __init__(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        sample = rows[:_SAMPLE]
        width = max([len(header), *map(len, sample)])
        columns = [[row[at] for row in sample if at < len(row) and row[at]] for at in range(width)]
        self._headers: list[str] = []
        self._units: list[tuple[int, str]] = []  # each with its column
        seen = Counter[str]()
        for at, cells in enumerate(columns):
            name = header[at] if at < len(header) else ""
            label, unit = field_words(name)[:_LONGEST_HEADER], ""
            if _holds_values(cells):
                label, unit = split_unit(label)
            label = label or f"Column {at + 1}"
            seen[label_key(label)] += 1
            repeated = seen[label_key(label)]
            self._headers.append(label if repeated == 1 else f"{label} {repeated}")
            self._units += [(at, unit)] if unit else []
        self.key = self._naming_column(columns, rows)
        keys = columns[self.key] if self.key is not None else []
        # True if plain numbers name the rows; years do not count, because they are names by themselves.
        self._has_numeric_names = all(map(_PLAIN_NUMBER.fullmatch, keys)) and not all(map(_YEAR.fullmatch, keys))

    def cells(self, row: Sequence[str]) -> list[Cell]:
        """Return the cells of a row with headers and units, beginning with the one that names it if one does."""
        cells = [Cell(header, value) for header, value in zip(self._headers, row, strict=False)]
        cells += (Cell(f"Column {at + 1}", row[at]) for at in range(len(cells), len(row)))
        for at, unit in self._units:
            if at < len(row) and _PLAIN_NUMBER.fullmatch(row[at]):
                cells[at] = Cell(cells[at].header, f"{row[at]} {unit}")
        if self.key is None:
            return cells
        key = cells.pop(self.key) if self.key < len(cells) else Cell(self._headers[self.key], "")
        if self._has_numeric_names and _PLAIN_NUMBER.fullmatch(key.value):
            key = Cell(key.header, f"{key.header} {key.value}")  # a name such as "Flight 7" instead of "7"
        return [key, *cells]

    def _naming_column(self, columns: Sequence[Sequence[str]], rows: Sequence[Sequence[str]]) -> int | None:
        """Return the index of the column that names each row; None if there is none."""
        sample = rows[:_SAMPLE]
        described = [at for at, cells in enumerate(columns) if cells and not _holds_values(cells)]
        # Of readings, none is a name, and a large table is data to compute with, no list of things to tell of.
        is_large = len(rows) > _MOST_NAMED or len(rows) * len(columns) > _MOST_DESCRIBED
        if not described or is_large:
            return None
        distinct = [at for at, cells in enumerate(columns)
                    if len(cells) >= (_MOSTLY if at else _GAPS) * len(sample) and _all_rows_differ(at, sample)]
        # Columns after the first that only describe the row, or are a question, do not name it.
        describing = {at for at, header in enumerate(self._headers)
                      if at and (header.endswith(("?", "？")) or label_key(header) in _DESCRIBING)}
        texts = [at for at in distinct if at in described and at not in describing
                 and max(map(len, columns[at])) <= _LONGEST_NAME]
        names = [at for at in texts if label_key(self._headers[at]).endswith(tuple(_NAMES))]
        names.sort(key=lambda at: label_key(self._headers[at]) not in _NAMES)  # "name" before "team name"
        # Numbers name rows only from the first column: those of others are values.
        numbers = [0] if distinct[:1] == [0] and all(map(_PLAIN_NUMBER.fullmatch, columns[0])) else []
        # Best are columns with a header of names, then other texts.
        return next((at for at in (*names, *texts, *numbers) if _all_rows_differ(at, rows)), None)


def _all_rows_differ(column: int, rows: Sequence[Sequence[str]]) -> bool:
    """Return True if no two rows have the same text in a column, regardless of case; rows of totals do not count."""
    texts = [row[column].casefold() for row in rows if column < len(row) and row[column]]
    names = [text for text in texts if text not in TOTALS]
    return len(set(names)) == len(names)


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return True if the first row names columns: it has no values, or they may be names, and is unlike those below."""
    names = [cell.strip() for cell in rows[0]]
    columns = [[row[at].strip() for row in rows[1:_JUDGED] if at < len(row) and row[at].strip()]
               for at in range(len(names))]
    pairs = list(zip(names, columns, strict=True))
    if not all(_may_be_name(name, below, is_of_pair=len(names) == _PAIR) for name, below in pairs):
        return False
    if any([*map(str.strip, row)] == names for row in rows[1:]):  # a header that is repeated
        return True
    filled = [(name, below) for name, below in pairs if name and below]
    if any(names_values([name, *below]) for name, below in filled):
        return True
    is_alike = any(len(below) > 1 and _are_of_one_kind([name, *below]) for name, below in filled)
    repeated_names = sum(name in below for name, below in filled)  # as values of their columns
    return not is_alike and repeated_names <= len(filled) / 2


def _may_be_name(name: str, below: Sequence[str], *, is_of_pair: bool) -> bool:
    """Return True if a text can be the name of a column with some cells; `is_of_pair` if the table has two columns."""
    if not is_value(name) and not (is_of_pair and _COUNTED.fullmatch(name)):
        return True
    are_years = bool(below) and all(map(_YEAR.fullmatch, below))
    if _YEAR.fullmatch(name) or are_years:  # a year may name what was measured in it, but no further years
        return not are_years
    # A date may be above numbers and amounts, a number may not.
    return bool(below) and not _PLAIN_NUMBER.fullmatch(name) and all(
        read_number(cell) is not None and not read_date_cell(cell) for cell in below)


def _are_of_one_kind(cells: Sequence[str]) -> bool:
    """Return True if the first of some cells is of a kind that names of columns never are, and most others are, too."""
    kind = _kind_of(cells[0])
    return bool(kind) and sum(_kind_of(cell) == kind for cell in cells) >= _MOSTLY * len(cells)


def _kind_of(cell: str) -> str:
    """Return the kind of a cell: a country, a month, a weekday, an address, or a code's form ("A-9" of "KX-12")."""
    if cell in COUNTRIES.values():
        return "country"
    if cell.lower() in MONTHS:
        return "month"
    if found := _KIND.fullmatch(cell):
        return found.lastgroup or ""
    if len(cell) > _LONGEST_CODE or not any(map(str.isdigit, cell)) or not any(map(str.isalpha, cell)):
        return ""
    return _CODE_PART.sub(lambda part: "A" if part["letters"] else "9", cell)


def names_values(column: Sequence[str]) -> bool:
    """Return True if the first cell of a column is a text, and the filled cells below are mostly values."""
    name, *below = column
    return bool(name) and not is_value(name) and _holds_values(list(filter(None, below)))


def _holds_values(cells: Sequence[str]) -> bool:
    """Return True if most cells of a column are values."""
    sample = cells[:_JUDGED]
    return bool(sample) and sum(map(is_value, sample)) >= _MOSTLY * len(sample)


def is_value(cell: str) -> bool:
    """Return True if a cell is a number, a date or years, rather than a name that contains a number ("3M tape")."""
    if not any(character.isdigit() for character in cell):
        return False
    if any(form.fullmatch(cell) for form in (_PLAIN_NUMBER, _YEARS, _CLOCK)):
        return True
    number = read_number(cell)
    if (number is not None and number.is_known_unit) or read_date_cell(cell) is not None:
        return True
    unit, figures = figures_of(parse_number(cell))  # a range or a number in words
    return bool(figures and (not unit or is_unit(unit))) or bool(parse_date(cell))


def with_rows(text: str, title: str) -> str:
    """Return a Markdown text in which the lines of `table_lines` replace each pipe table outside fenced code."""
    if "|" not in text:
        return text
    lines, written, at = list(lines_under(text, "", title)), list[str](), 0
    while at < len(lines):
        line = lines[at]
        may_be_header = not line.is_code and "|" in line.text and at + 1 < len(lines)
        if may_be_header and _RULE.fullmatch(lines[at + 1].text):
            end = at + 2
            while end < len(lines) and "|" in lines[end].text:
                end += 1
            subject = next((heading for heading in reversed(line.above) if is_telling(heading)), title)
            header, *rows = (_cells_of_line(row.text) for row in (line, *lines[at + 2:end]))
            written += table_lines(header, rows, subject)
            at = end
        else:
            written.append(line.text)
            at += 1
    return "\n".join(written)


def _cells_of_line(line: str) -> list[str]:
    """Return the cells of a line of a pipe table, with the words of code, links and emphasis without their marks."""
    def words_of(mark: re.Match[str]) -> str:
        no_words = " " if mark["break"] else ""
        return next(filter(None, mark.group("code", "link", "strong", "emphasis")), no_words)

    line = line.strip().removeprefix("|")
    if line.endswith("|") and not line.endswith("\\|"):
        line = line[:-1]
    return [_MARKS.sub(words_of, cell).replace("\\|", "|").strip() for cell in _BAR.split(line)]
