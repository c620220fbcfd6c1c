"""Tables to rows of text: which column names the row, what a header means, and which rows are not data.

Every table, from any format, becomes lines in the form of `text/table_rows.py`, while the whole table is at hand. Later
steps read the lines alone. Those of Markdown are found here, too.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice

from ..schemas.naming import label_key
from ..text.dates import parse_date
from ..text.quantities import figures_of, is_unit, parse_number
from ..text.section_lines import Line, is_telling, lines_under
from ..text.table_rows import Cell, row_lines

_SAMPLE = 1000
"""The rows that decide what a column contains; the rest is streamed."""
_JUDGED = 100
"""The cells of a column that are parsed as values, because parsing a cell takes much longer than writing it."""
_LONGEST_HEADER = 100
_LONGEST_NAME = 200
_MOSTLY = 0.8
"""The share of a column's cells that must be numbers before the header's unit applies to them."""
_UNIT = re.compile(r"(?P<label>[^()\[\]（）]+?) ?[(\[（](?P<unit>[^()\[\]（）]{1,30})[)\]）]")
_LAST_WORD = re.compile(r"(?P<label>\S.*)[ ](?P<unit>\S{1,10})")
_PLAIN_NUMBER = re.compile(r"[-+−]?\d[\d.,]*")
_YEAR = re.compile(r"[12]\d{3}")
_NAMING = ("name", "title", "名称", "姓名", "名字", "标题", "品名")
_COUNTS = frozenset({"#", "no", "nr", "num", "number", "rank", "index", "pos", "position", "row", "line", "item", "id",
                     "column 1", "序号", "编号", "名次", "排名"})
"""Headers of columns that count rows, whatever these are of."""
_TOTALS = frozenset({"total", "totals", "sum", "subtotal", "grand total", "average", "mean", "合计",
                     "总计", "小计", "平均"})
_DESCRIBING = frozenset({"type", "kind", "category", "status", "unit", "required", "default", "value", "description",
                         "comment", "comments", "note", "notes", "meaning", "reason", "commentary", "rationale",
                         "definition", "example", "explanation", "remarks", "类型", "状态", "备注", "说明", "单位"})
"""Headers of columns that name nothing beside another column."""
_PROPERTY = frozenset({"", "property", "attribute", "field", "feature", "specification", "spec", "parameter", "key",
                       "characteristic", "detail", "details", "item", "参数", "属性", "项目", "字段"})
_VALUE = frozenset({"", "value", "values", "detail", "details", "specification", "description", "data", "content",
                    "内容", "值", "数值", "说明"})
_PAIR = 2
_FIELDS = re.compile(
    r"\b(?:authors?|owners?|reviewers?|editors?|created|updated|modified|approved|submitted|dates?|status|version|revision|"
    r"title|file ?name|licen[cs]e|department|contact|e-?mail|phone|telephone|address|deadline)\b|"
    r"作者|时间|日期|版本|文件名|名称|状态|部门|负责人|联系人|电话|邮箱|地址|编号", re.IGNORECASE)
"""Words of the fields of a form."""
_LONGEST_FIELD = 30
_BAR = re.compile(r"(?<!\\)\|")
_MARKS = re.compile(r"`(?P<code>[^`\n]*)`|!?\[([^\[\]\n]*)\]\([^()\n]*\)|<br ?/?>|`|"
                    r"(?<!\w)(?P<mark>\*\*|__)(?P<strong>(?=\S)[^\n]*?\S)(?P=mark)(?!\w)|"
                    r"(?<![\w*])\*(?P<words>[^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])")


@dataclass(frozen=True)
class TableLine:
    """A line between the rows of a table: a heading for the rows below it, or a page break."""

    text: str


def table_lines(header: Sequence[str], rows: Iterable[Sequence[str] | TableLine], title: str) -> Iterator[str]:
    """Yield the lines of a table; memory holds a sample of the rows at most.

    Args:
        header: the columns' names; empty if there are none. A table of two columns without names, or with names such
            as "Property" and "Value", is about the title.
        rows: the cells; short rows lack their last cells, long ones have unnamed columns. Lines between rows stay in
            place.
        title: the table's subject: the heading above it, or the file's name.

    Yields:
        At least one line for each row with a cell that is not empty. A row without a name, and a row of totals, gets
        another form, so its cells are read as text and not as facts.
    """
    stream = (row for row in map(_clean, rows) if (row.text if isinstance(row, TableLine) else any(row)))
    first = list(islice(stream, _SAMPLE))
    sample = [row for row in first if not isinstance(row, TableLine)]
    if _is_of_properties(header, sample):
        yield from _property_lines(first, title)
        return
    if _is_form(header, sample):
        yield from _property_lines([header, *first], title)
        return
    columns = _Columns(header, sample)
    for row in chain(first, stream):
        yield from [row.text] if isinstance(row, TableLine) else _lines(columns.cells(row))


def _clean(row: Sequence[str] | TableLine) -> list[str] | TableLine:
    return row if isinstance(row, TableLine) else [" ".join(cell.split()) for cell in row]


def _property_lines(rows: Sequence[Sequence[str] | TableLine], title: str) -> Iterator[str]:
    """Yield the properties of one subject, one row for each group between two lines."""
    for is_line, group in groupby(rows, lambda row: isinstance(row, TableLine)):
        if is_line:
            yield from (row.text for row in group if isinstance(row, TableLine))
        else:
            pairs = (_pair(row) for row in group if not isinstance(row, TableLine))
            yield from _lines([Cell("Name", title), *(Cell(name, value) for name, value in pairs if name and value)])


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return True if the first row names columns: none of its cells is a number or a date.

    A year may be a name unless years are below it. Another value may be a name above plain numbers ("2023 (kg)").
    """
    return not any(is_value(name) and not _may_be_name(name, [row[at].strip() for row in rows[1:] if at < len(row)])
                   for at, name in enumerate(cell.strip() for cell in rows[0]))


def _may_be_name(value: str, cells: Sequence[str]) -> bool:
    """Return True if a value can be the name of the column with the given cells."""
    below = list(filter(None, cells))
    if _YEAR.fullmatch(value):
        return not below or not all(map(_YEAR.fullmatch, below))
    return bool(below) and not _PLAIN_NUMBER.fullmatch(value) and all(map(_PLAIN_NUMBER.fullmatch, below))


def _is_of_properties(header: Sequence[str], sample: Sequence[Sequence[str]]) -> bool:
    """Return True if each row is a property with its value, and the table is about a single subject."""
    label, value = map(label_key, header) if len(header) == _PAIR else ("", "" if not header else "-")
    return (label in _PROPERTY and value in _VALUE and 0 < len(sample) < _SAMPLE
            and max(map(len, sample)) == _PAIR)


def _is_form(header: Sequence[str], sample: Sequence[Sequence[str]]) -> bool:
    """Return True if the first column has the names of fields, such as author and date, and so has the header."""
    if len(header) != _PAIR or not _PAIR <= len(sample) < _SAMPLE or max(map(len, sample)) > _PAIR:
        return False
    names = [row[0] for row in (header, *sample)]
    if len(set(names)) < len(names) or not all(0 < len(name) <= _LONGEST_FIELD for name in names):
        return False
    heads_values = label_key(header[1]) in _VALUE | _DESCRIBING or _FIELDS.search(header[1]) is not None
    are_fields = [_FIELDS.search(name) is not None for name in names]
    return not heads_values and are_fields[0] and sum(are_fields) >= _PAIR


def _pair(row: Sequence[str]) -> tuple[str, str]:
    label, value = [*row, "", ""][:_PAIR]
    label, unit = _split_unit(label.strip().rstrip(":：").strip())
    return (label, f"{value} {unit}" if _PLAIN_NUMBER.fullmatch(value) else value) if unit else (label, value)


def _lines(cells: Sequence[Cell]) -> Iterator[str]:
    """Write a row as statements about its first cell; as one plain line if that cell is empty, a total or too long."""
    first = cells[0] if cells else Cell("", "")
    if first.value and label_key(first.value) not in _TOTALS and len(first.value) <= _LONGEST_NAME:
        yield from row_lines([cell for cell in cells if cell.value])
    elif any(cell.value for cell in cells):
        yield "; ".join(f"{cell.header}: {cell.value}" for cell in cells if cell.value)


class _Columns:
    """The columns of a table: headers, units, and the column that names the row."""

    def __init__(self, header: Sequence[str], sample: Sequence[Sequence[str]]) -> None:
        width = max([len(header), *map(len, sample)])
        columns = [[row[at] for row in sample if at < len(row) and row[at]] for at in range(width)]
        self._headers: list[str] = []
        self._units: list[str] = []
        for at, cells in enumerate(columns):
            label, unit = _header(header[at] if at < len(header) else "", cells)
            self._headers.append(label or f"Column {at + 1}")
            self._units.append(unit)
        self._headers = _distinct(self._headers)
        self._key = self._identifying_column(columns, len(sample))
        keys = columns[self._key] if columns else []
        self._numbered = all(map(_PLAIN_NUMBER.fullmatch, keys)) and not all(map(_YEAR.fullmatch, keys))

    def cells(self, row: Sequence[str]) -> list[Cell]:
        """Return the cells of a row, beginning with the one that names it."""
        cells = [Cell(self._header_at(at), self._with_unit(at, value)) for at, value in enumerate(row)]
        cells += [Cell(self._headers[self._key], "")] if self._key >= len(cells) else []
        key = cells.pop(min(self._key, len(cells) - 1))
        if self._numbered and _PLAIN_NUMBER.fullmatch(key.value):
            key = Cell(key.header, f"{key.header} {key.value}")  # a bare number is not a name: 'Flight 7'
        return [key, *cells]

    def _header_at(self, at: int) -> str:
        return self._headers[at] if at < len(self._headers) else f"Column {at + 1}"

    def _with_unit(self, at: int, value: str) -> str:
        unit = self._units[at] if at < len(self._units) else ""
        return f"{value} {unit}" if unit and _PLAIN_NUMBER.fullmatch(value) else value

    def _identifying_column(self, columns: Sequence[Sequence[str]], rows: int) -> int:
        """Return the index of the column that identifies a row: the first of these that exists.

        1. A column of distinct texts whose header says "name".
        2. The leftmost column, if it holds serial numbers and its header says of what ("Flight", not "No.").
        3. Any column of distinct texts.
        4. The leftmost column, if it holds distinct numbers.
        5. Any column of texts.
        6. The leftmost column.
        """
        texts = [at for at, cells in enumerate(columns) if cells and not all(map(is_value, cells[:_JUDGED]))
                 and max(map(len, cells)) <= _LONGEST_NAME and not (at and self._is_describing(at))]
        distinct = [at for at, cells in enumerate(columns) if len(set(cells)) == len(cells) >= _MOSTLY * rows]
        of_texts = [at for at in distinct if at in texts]
        named = [at for at in of_texts if label_key(self._headers[at]).endswith(_NAMING)]
        numbering = [at for at in distinct[:1] if at == 0 and all(map(_PLAIN_NUMBER.fullmatch, columns[at]))]
        counting = [at for at in numbering if label_key(self._headers[at]).rstrip(".") not in _COUNTS
                    and _is_counted_up(columns[at])]
        return next(iter((*named, *counting, *of_texts, *numbering, *texts)), 0)

    def _is_describing(self, at: int) -> bool:
        return self._headers[at].endswith(("?", "？")) or label_key(self._headers[at]) in _DESCRIBING


def _is_counted_up(cells: Sequence[str]) -> bool:
    """Return True for whole numbers that go up by one, such as 0, 1, 2: quantities and years rarely do."""
    return all(map(str.isdecimal, cells)) and not all(map(_YEAR.fullmatch, cells)) and [*map(int, cells)] == [
        int(cells[0]) + place for place in range(len(cells))]


def _header(written: str, cells: Sequence[str]) -> tuple[str, str]:
    """Return a header's label, and the unit that it gives its numbers."""
    label = " ".join(written.replace("_", " ").split())
    some = cells[:_JUDGED]
    if some and sum(map(is_value, some)) >= _MOSTLY * len(some):
        return _split_unit(label)
    return label[:_LONGEST_HEADER], ""


def _split_unit(header: str) -> tuple[str, str]:
    header = header[:_LONGEST_HEADER]
    for match in (_UNIT.fullmatch(header), _LAST_WORD.fullmatch(header)):
        if match and is_unit(match["unit"]):
            return match["label"].rstrip(",; "), match["unit"].strip()
    return header, ""


def _distinct(headers: Sequence[str]) -> list[str]:
    """Return the headers, and append a number to repeated ones."""
    seen: Counter[str] = Counter()
    distinct = []
    for header in headers:
        seen[label_key(header)] += 1
        number = seen[label_key(header)]
        distinct.append(header if number == 1 else f"{header} {number}")
    return distinct


def is_value(cell: str) -> bool:
    """Return True if a cell is a number or a date, rather than a name that contains a number ("3M tape")."""
    if not any(character.isdigit() for character in cell):
        return False
    if _PLAIN_NUMBER.fullmatch(cell):
        return True
    unit, figures = figures_of(parse_number(cell))
    return bool(figures and (not unit or is_unit(unit))) or bool(parse_date(cell))


def with_rows(text: str, title: str) -> str:
    r"""Write the tables of a Markdown text as rows.

    Args:
        text: the text; `\n` is its only line break.
        title: the subject of a table that is under no heading with a subject of its own.

    Returns:
        The text in which each pipe table outside fenced code is written by `table_lines`.
    """
    if "|" not in text:
        return text
    return "\n".join(_with_row_lines(list(lines_under(text, "", title)), title))


def _with_row_lines(lines: Sequence[Line], title: str) -> Iterator[str]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.is_code and "|" in line.text and at + 1 < len(lines) and _is_rule(lines[at + 1].text):
            end = at + 2
            while end < len(lines) and "|" in lines[end].text:
                end += 1
            subject = next(filter(is_telling, reversed(line.above)), title)
            yield from table_lines(_cells(line.text), [_cells(row.text) for row in lines[at + 2 : end]], subject)
            at = end
        else:
            yield line.text
            at += 1


def _is_rule(line: str) -> bool:
    """Return True if a line separates a table's header from its rows."""
    parts = [part.strip() for part in line.strip().strip("|").split("|")]
    return "|" in line and all(part.strip(":") and not part.strip(":").strip("-") for part in parts)


def _cells(line: str) -> list[str]:
    line = line.strip().removeprefix("|")
    if line.endswith("|") and not line.endswith("\\|"):
        line = line[:-1]
    return [_MARKS.sub(_plain, part).replace("\\|", "|").strip() for part in _BAR.split(line)]


def _plain(mark: re.Match[str]) -> str:
    """Replace a mark: code and a link by their words, a line break by a space, emphasis by nothing."""
    return mark["code"] or mark[2] or mark["strong"] or mark["words"] or (" " if mark[0].startswith("<") else "")
