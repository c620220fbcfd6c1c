"""The rows and cells of tables that state something: not forms to fill in, layout, or cells without a header."""

import re
from collections.abc import Iterator, Sequence

from ...text.lexicon import word_set
from ...text.quantities import parse_number
from ...text.table_rows import DOCUMENT, NUMBER_OF, Cell, Row

_PLACEHOLDER_OR_CODE = re.compile(r"`?\{(?P<words>[^{}`]+)\}`?|`(?P<code>[^`]+)`")  # a placeholder, or code as a whole
_DEFAULT_HEADER = re.compile(r"Column \d{1,4}\Z")  # the header of a column that has none in its document
_CONSTANT = re.compile(r"(?:[A-Z]{2,20}(?:_[A-Z]{2,20})+|[A-Z]{12,20})\Z")
"""A constant of a program, such as YES_NO or SUBQUESTIONS."""
_MARKUP = re.compile(r"<(?:[!/]|(?:br|p|b|i|em|strong|span|div|img|a|u|li|ul|ol|sup|sub|code|font)\b)[^<>]{0,500}>|"
                     r"!\[[^\]]{0,200}\]\([^()]{0,500}\)", re.IGNORECASE)
_NUMBER_OR_MARKS = re.compile(r"\d{1,3}(?:\.[a-z\d]{1,4}){1,4}\Z|0x[\da-fA-F]+\Z|[\W\d_]+\Z")
_PROMPT = re.compile(r"\?(?: \(|\Z)|\Aif (?:yes|no|so)\b|"
                     r"\b(?:yes|complete|full)\b.{0,12}\b(?:no|partial)\b", re.IGNORECASE)
"""Questions and choices of a form."""
_BLANK = re.compile(r":\Z|_{3,}")
"""What a form leaves to be filled in."""
_SENTENCE = re.compile(r" (?:is|are|was|were|can|will|should|must|have been|has been) |。$|ます$|です$")
_PLAIN_WORD = re.compile(r" (?!the |and |for )[a-z]{3,}(?:[ ,]|\.\Z)")
"""What a sentence has and a name has not, even one with a stop at its end: "Ulm Pumps Inc.", "Ulm, Ger."."""
_DATE_OR_PERIOD = re.compile(r"\d[\d\s./:-]*(?:(?:to|until|bis|至|–) ?\d[\d\s./:-]*)?\Z")
_RANGE = re.compile(r"(?:between|from|up to|over|under|above|below|more than|less than|at least) [$€£]?\d[\d,. –-]*"
                    r"(?:(?:and|to) [$€£]?\d[\d,.]*)?", re.IGNORECASE)
_NUMBER_HEADER = re.compile(f"{NUMBER_OF}$")
_PLACEHOLDER = re.compile(r"(?:tb[acd]|n/?a|none|unknown|sample|example|placeholder|\W+|待定|未定|无|示例|样例)",
                          re.IGNORECASE)
"""What stands in a cell that is still to be filled in."""
_GROUP_HEADERS = word_set("list group category section status stage phase board")
_NUMBERING_HEADERS = word_set("no no. nr nr. # s.no 序号")
_TITLE_HEADERS = word_set("title name 名称 标题")
_NAME_HEADERS = _TITLE_HEADERS | word_set("task item")
"""Headers of columns that sort the rows, and of those that name them."""
_LABEL_HEADERS = word_set("field parameter param key variable property attribute argument arg column 字段 参数 属性")
"""Headers of columns of labels: a common noun in them names something only with its header, "Field: nonce"."""
_COMMON_NOUN = re.compile(r"[A-Za-z]|[a-z]+")
_LONGEST_HEADER, _LONGEST_NAME, _LONGEST_TITLE = 8, 14, 30
"""The most words of a header, of a name, and of a name under a header that says that it is one."""


def useful_rows(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the rows that state something of a subject, without the cells that state nothing.

    If the first column only groups the rows ("Status") or states nothing, a column of names comes first.
    """
    for row in rows:
        if row.cells[0].header == DOCUMENT:  # fields of a document: no merged cells or numbered rows
            yield row
            continue
        cells = list(_stating_cells(row))
        first = cells[0] if cells else None
        states_nothing_first = first is not None and first.header != row.cells[0].header  # such as a row's number
        if first is not None and (first.header.lower() in _GROUP_HEADERS or states_nothing_first):
            name_cell = next((cell for cell in cells if set(cell.header.lower().split()) & _NAME_HEADERS), None)
            if name_cell is not None:
                cells = [name_cell, *(cell for cell in cells if cell is not name_cell)]
        if len(cells) > 1 and _may_name(cells[0]):
            if _is_bare(cells[0]):  # "Question 1.a" for 1.a under "Question Number"
                header, value = cells[0]
                noun = _NUMBER_HEADER.sub("", header)
                cells[0] = Cell(header, f"{noun} {value}" if noun != header else f"{header}: {value}")
            yield row._replace(cells=tuple(cells))


def _stating_cells(row: Row) -> Iterator[Cell]:
    """Yield the cells that have a header and state something, with their values without markup."""
    for column, cell in enumerate(row.cells):
        value, header = _MARKUP.sub("", cell.value).strip(), cell.header.lower()
        if wrapped := _PLACEHOLDER_OR_CODE.fullmatch(value):
            value = wrapped["words"] or wrapped["code"]
        lacks_header = _DEFAULT_HEADER.match(cell.header) is not None and (column > 0 or value.isdigit())
        counts_rows = header in _NUMBERING_HEADERS and value.isdigit()
        is_prose_header = len(cell.header.split()) > _LONGEST_HEADER
        if lacks_header or counts_rows or is_prose_header or not value or _repeats(cell):
            continue
        has_letter_header = cell.header.isascii() and len(cell.header) == 1
        if column == 0 or not (_CONSTANT.match(value) or has_letter_header):
            yield cell._replace(value=value)


def _is_bare(cell: Cell) -> bool:
    """Return True if a cell names a row only together with its header."""
    value = cell.value
    is_label = len(value) == 1 or not _LABEL_HEADERS.isdisjoint(cell.header.lower().split())
    is_figure = (_NUMBER_OR_MARKS.match(value) or _DATE_OR_PERIOD.match(value) or _RANGE.fullmatch(value)
                 or parse_number(value))
    return bool(is_figure or (is_label and _COMMON_NOUN.fullmatch(value)))


def _may_name(cell: Cell) -> bool:
    """Return True if a cell can name a row's subject: it is no placeholder or prompt of a form, and no sentence."""
    value = cell.value
    is_title = not _TITLE_HEADERS.isdisjoint(cell.header.lower().split())
    if _PLACEHOLDER.fullmatch(value) or _BLANK.search(value):
        return False
    if is_title:  # "Can machines think?" is one
        return len(value.split()) <= _LONGEST_TITLE
    is_sentence = _SENTENCE.search(value) or (value.endswith(".") and _PLAIN_WORD.search(value))
    return not (is_sentence or _PROMPT.search(value)) and len(value.split()) <= _LONGEST_NAME


def _repeats(cell: Cell) -> bool:
    """Return True for a cell whose value is its header or a part of it between commas, as in merged heads of tables."""
    header, value = (part.casefold().rstrip("s:") for part in cell)
    return value in {header, *map(str.strip, header.rsplit(",", 1))}
