"""Tables of PDF pages without lines between their columns, where they are certain.

These are at least three rows below a header, in at least three aligned columns of which one has numbers. Columns of
prose are none: they have no names, and none of them consists of numbers.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from ..grids import GridCell
from ..table_lines import has_header
from .pdf_words import Box, PageWord, cell_text, sort_lines
from .ruled_tables import FoundTable

_NEAR = 3.0
"""The largest distance in points between aligned places."""
_GAP = 0.8
"""The widest gap within a cell as a share of the font size: about three spaces."""
_FEWEST_ROWS = 3
_FEWEST_COLUMNS = 3
_LONGEST_NAME = 40
"""The longest cell in a header or between two rows of numbers; a longer one is a line of prose."""
_MOSTLY = 0.8
_NUMERIC = re.compile(r"[-+−–(<>≤≥~≈±$€£¥]{0,2}\d.{0,20}")
_BLANK = re.compile(r"[-–—.]*|n\.?/?a\.?", re.IGNORECASE)
Phrase = list[PageWord]
"""Words that are as close to each other as the words of a cell."""
Row = list[Phrase]
Span = tuple[float, float]
"""The left and right ends of something."""


def find_aligned(words: Sequence[PageWord]) -> list[FoundTable]:
    """Return the tables of a page that have no lines between their columns.

    Args:
        words: the page's words that are in no other table.

    Returns:
        The tables, except those in which a line may continue the cell above, or a name may belong to other columns.
    """
    lines = [_phrases(line) for line in sort_lines(word for word in words if word.upright)]
    tables: list[FoundTable] = []
    start = 0
    while start < len(lines):
        end = start + 1
        while end < len(lines) and len(lines[end]) == len(lines[start]) and _follows(lines[end - 1], lines[end]):
            end += 1
        header, rows = lines[start], lines[start + 1 : end]
        columns = _columns(lines[start:end])
        around = (*lines[max(start - 1, 0) : start], *lines[end : end + 1])
        if (len(header) >= _FEWEST_COLUMNS and len(rows) >= _FEWEST_ROWS and len(columns) == len(header)
                and _is_certain(header, rows)
                and not any(_may_belong(line, lines[start:end], columns) for line in around)):
            tables.append(_table(header, rows, columns))
        start = end
    return tables


def _phrases(line: Sequence[PageWord]) -> Row:
    row = [[line[0]]]
    for before, word in pairwise(line):
        if word.box.x0 - before.box.x1 > _GAP * min(before.size, word.size):
            row.append([word])
        else:
            row[-1].append(word)
    return row


def _span(phrase: Phrase) -> Span:
    return phrase[0].box.x0, phrase[-1].box.x1


def _columns(rows: Sequence[Row]) -> list[Span]:
    """Return the columns that the phrases of rows form together; none overlaps another one."""
    columns: list[Span] = []
    for x0, x1 in sorted(_span(phrase) for row in rows for phrase in row):
        if columns and x0 <= columns[-1][1]:
            columns[-1] = columns[-1][0], max(columns[-1][1], x1)
        else:
            columns.append((x0, x1))
    return columns


def _columns_under(span: Span, columns: Sequence[Span]) -> list[int]:
    return [at for at, (x0, x1) in enumerate(columns) if span[0] < x1 and x0 < span[1]]


def _follows(row: Row, below: Row) -> bool:
    """Return True if a line is no farther below another line than table rows are."""
    return below[0][0].box.top - row[0][0].box.bottom <= 2 * row[0][0].size


def _is_certain(header: Row, rows: Sequence[Row]) -> bool:
    texts = [[cell_text(phrase) for phrase in row] for row in (header, *rows)]
    longest = max(len(text) for row in texts for text in row)
    if longest > _LONGEST_NAME or not has_header(texts) or not _has_numbers(rows):
        return False
    for at, column in enumerate(zip(*rows, strict=True)):
        spans = list(map(_span, column))
        kinds = ([x0 for x0, _ in spans], [x1 for _, x1 in spans], [(x0 + x1) / 2 for x0, x1 in spans])
        whole = min(x0 for x0, _ in spans), max(x1 for _, x1 in spans)
        if min(max(places) - min(places) for places in kinds) > _NEAR or not _columns_under(_span(header[at]), [whole]):
            return False
    return True


def _has_numbers(rows: Sequence[Row]) -> bool:
    """Return True if a column after the first consists of numbers."""
    columns = [[text for cell in column if not _BLANK.fullmatch(text := cell_text(cell))]
               for column in zip(*(row[1:] for row in rows), strict=True)]
    return any(column and sum(bool(_NUMERIC.fullmatch(text)) for text in column) >= _MOSTLY * len(column)
               for column in columns)


def _may_belong(line: Row, rows: Sequence[Row], columns: Sequence[Span]) -> bool:
    """Return True if a line next to some rows may be part of their table.

    It is not if it is far away, in another font or size, or has words that cross columns.
    """
    is_below = line[0][0].box.top > rows[-1][0][0].box.top
    near = rows[-1] if is_below else rows[0]
    is_near = _follows(near, line) if is_below else _follows(line, near)
    is_alike = line[0][0].font in {word.font for phrase in near for word in phrase} and (
        abs(line[0][0].size - near[0][0].size) < 1)
    return is_near and is_alike and all(len(_columns_under(_span(phrase), columns)) == 1 for phrase in line)


def _table(header: Row, rows: Sequence[Row], columns: Sequence[Span]) -> FoundTable:
    words = [word for row in (header, *rows) for cell in row for word in cell]
    box = Box(columns[0][0], min(word.box.top for word in words),
              columns[-1][1], max(word.box.bottom for word in words))
    grid = [[GridCell(cell_text(phrase), is_header=True) for phrase in header],
            *([GridCell(cell_text(cell)) for cell in row] for row in rows)]
    fonts = [frozenset(word.font for cell in row for word in cell) for row in (header, *rows)]
    return FoundTable(box, (*(x0 for x0, _ in columns), columns[-1][1]), grid, fonts,
                      frozenset(word.number for word in words))
