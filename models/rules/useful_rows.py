"""The rows and cells of tables that state something: not forms to fill in, layout, or cells without a header."""

import re
from collections.abc import Iterator, Sequence

from ...text.lexicon import words
from ...text.quantities import parse_number
from ...text.table_rows import DOCUMENT, NUMBER_OF, Cell, Row

_WRAPPED = re.compile(r"`?\{(?P<words>[^{}`]+)\}`?|`(?P<code>[^`]+)`")
"""A placeholder, or code as a whole."""
_UNNAMED = re.compile(r"Column \d{1,4}\Z")
"""The header of a column that has none in its document."""
_CODE = re.compile(r"(?:[A-Z]{2,20}(?:_[A-Z]{2,20})+|[A-Z]{12,20})\Z")
"""A constant of a program, such as YES_NO or SUBQUESTIONS."""
_MARKUP = re.compile(r"<(?:[!/]|(?:br|p|b|i|em|strong|span|div|img|a|u|li|ul|ol|sup|sub|code|font)\b)[^<>]{0,500}>|"
                     r"!\[[^\]]{0,200}\]\([^()]{0,500}\)", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,3}(?:\.[a-z\d]{1,4}){1,4}\Z|0x[\da-fA-F]+\Z|[\W\d_]+\Z")
_PROMPT = re.compile(r"\?(?: \(|\Z)|:\Z|_{3,}|\Aif (?:yes|no|so)\b|"
                     r"\b(?:yes|complete|full)\b.{0,12}\b(?:no|partial)\b", re.IGNORECASE)
"""Questions, blanks and choices of a form."""
_SENTENCE = re.compile(r" (?:is|are|was|were|can|will|should|must|have been|has been) |。$|ます$|です$")
_PLAIN_WORD = re.compile(r" (?!the |and |for )[a-z]{3,}(?:[ ,]|\.\Z)")
"""What a sentence has and a name has not, even one with a stop at its end: "Ulm Pumps Inc.", "Ulm, Ger."."""
_DATES = re.compile(r"\d[\d\s./:-]*(?:(?:to|until|bis|至|–) ?\d[\d\s./:-]*)?\Z")
_RANGE = re.compile(r"(?:between|from|up to|over|under|above|below|more than|less than|at least) [$€£]?\d[\d,. –-]*"
                    r"(?:(?:and|to) [$€£]?\d[\d,.]*)?", re.IGNORECASE)
_NUMBER_OF = re.compile(f"{NUMBER_OF}$")
_PLACEHOLDER = re.compile(r"(?:tb[acd]|n/?a|none|unknown|sample|example|placeholder|\W+|待定|未定|无|示例|样例)",
                          re.IGNORECASE)
"""What stands in a cell that is still to be filled in."""
_GROUPS = words("list group category section status stage phase board")
_NUMBERING = words("no no. nr nr. # s.no 序号")
_NAMES = words("title name task item 名称 标题")
"""Headers of columns that sort the rows, and of those that name them."""
_PLACES = words("field parameter param key variable property attribute argument arg column 字段 参数 属性")
"""Headers of columns of labels: a common noun in them names something only with its header, "Field: nonce"."""
_COMMON_NOUN = re.compile(r"[A-Za-z]|[a-z]+")
_LONGEST_HEADER, _LONGEST_NAME = 8, 14
"""The most words of a header, and of a name."""


def useful_rows(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the rows that state something of a subject, without the cells that do not."""
    for row in rows:
        if row.cells[0].header == DOCUMENT:  # a title may be its summary, too: no merged cells
            yield row
            continue
        cells = list(_stating(row))
        first = cells[0] if cells else None
        if first is not None and (first.header.lower() in _GROUPS or first.header != row.cells[0].header):
            naming = next((cell for cell in cells if set(cell.header.lower().split()) & _NAMES), None)
            if naming is not None:
                cells = [naming, *(cell for cell in cells if cell is not naming)]
        if len(cells) > 1 and _may_name(cells[0].value):
            if _is_bare(cells[0]):
                cells[0] = cells[0]._replace(value=_called(cells[0]))
            yield row._replace(cells=tuple(cells))


def _stating(row: Row) -> Iterator[Cell]:
    """Yield the cells that have a header and state something, without markup."""
    for place, cell in enumerate(row.cells):
        value, header = _MARKUP.sub("", cell.value).strip(), cell.header.lower()
        value = bare["words"] or bare["code"] if (bare := _WRAPPED.fullmatch(value)) else value
        unnamed = _UNNAMED.match(cell.header) is not None and (place > 0 or value.isdigit())
        idle = unnamed or (header in _NUMBERING and value.isdigit())
        if not idle and len(cell.header.split()) <= _LONGEST_HEADER and value and not _repeats(cell) and (
                place == 0 or not (_CODE.match(value) or (cell.header.isascii() and len(cell.header) == 1))):
            yield cell._replace(value=value)


def _is_bare(cell: Cell) -> bool:
    """Return True for what names a row only with its header: a number, date or amount ("1.a", "256 bits"), a letter."""
    value, is_label = cell.value, len(cell.value) == 1 or not _PLACES.isdisjoint(cell.header.lower().split())
    return bool(_NUMBER.match(value) or _DATES.match(value) or _RANGE.fullmatch(value) or parse_number(value) or (
        is_label and _COMMON_NOUN.fullmatch(value)))


def _called(cell: Cell) -> str:
    """Return what a row is called by its number: "Question 1.a" of "Question Number: 1.a", else with the header."""
    noun = _NUMBER_OF.sub("", cell.header)
    return f"{noun} {cell.value}" if noun != cell.header else f"{cell.header}: {cell.value}"


def _may_name(value: str) -> bool:
    """Return True if a cell can name the subject of a row: it is no blank or prompt of a form, and no sentence."""
    is_sentence = _SENTENCE.search(value) or (value.endswith(".") and _PLAIN_WORD.search(value))
    is_said = _PLACEHOLDER.fullmatch(value) or _PROMPT.search(value) or is_sentence
    return not is_said and len(value.split()) <= _LONGEST_NAME


def _repeats(cell: Cell) -> bool:
    """Return True for a cell that says no more than its header, as in a merged head of a table or a form."""
    header, value = (part.casefold().rstrip("s:") for part in cell)
    return value in {header, *map(str.strip, header.rsplit(",", 1))}
