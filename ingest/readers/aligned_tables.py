"""Tables of PDF pages without lines between their columns, where they are certain.

Two kinds are certain. The first is a header and rows between horizontal rules of one length, as in books and papers.
The second has no rules: at least three rows below a header, in at least three aligned columns of which one has numbers.
Columns of prose are neither: they have no names, and none of them consists of numbers.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from pdfplumber.page import Page

from ..grids import GridCell
from ..table_lines import has_header
from .pdf_words import Box, Word, cell_text, sort_lines
from .ruled_tables import FoundTable

_LEVEL = 1.5
"""The largest vertical distance in points between pieces of one rule."""
"""The largest distance in points between pieces of a rule, or between the ends of rules of one length."""
_THICKEST = 2.0
"""The largest thickness of a rule; a thicker rectangle is a background."""
_SHORTEST = 60.0
_FEWEST = 3
_MOST = 500
"""The most rules of a page; a page with more is a drawing."""
_NEAR = 3.0
"""The largest distance in points between aligned places."""
_GAP = 0.8
"""The widest gap within a cell as a share of the font size: about three spaces."""
_MOST_LINES = 3
"""The most lines of a header, or of a row between two rules."""
_FEWEST_ROWS = 3
_FEWEST_COLUMNS = 3
_LONGEST_NAME = 40
"""The longest cell in a header or between two rows of numbers; a longer one is a line of prose."""
_LONGEST_CELL = 200
_MOSTLY = 0.8
_NUMERIC = re.compile(r"[-+−–(<>≤≥~≈±$€£¥]{0,2}\d.{0,20}")
_BLANK = re.compile(r"[-–—.]*|n\.?/?a\.?", re.IGNORECASE)
Phrase = list[Word]
"""Words that are as close to each other as the words of a cell."""
Row = list[Phrase]
Span = tuple[float, float]
"""The left and right ends of something."""


class Rule(NamedTuple):
    """A horizontal rule."""

    y: float
    x0: float
    x1: float


def read_rules(page: Page) -> list[Rule]:
    """Return the horizontal rules of a page from top to bottom, with their pieces joined; none if too many."""
    pieces = sorted(Rule((shape["top"] + shape["bottom"]) / 2, shape["x0"], shape["x1"])
                    for shape in (*page.lines, *page.rects) if shape["bottom"] - shape["top"] <= _THICKEST)
    rules = [rule for level in _levels(pieces) for rule in _join_pieces(level)]
    return rules if len(rules) <= _MOST else []


def group_rules(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Return the groups of at least three rules that begin and end at the same places."""
    groups: list[list[Rule]] = []
    for rule in rules:
        if rule.x1 - rule.x0 < _SHORTEST:
            continue
        same = [group for group in groups
                if abs(group[0].x0 - rule.x0) <= _NEAR and abs(group[0].x1 - rule.x1) <= _NEAR]
        if same:
            same[0].append(rule)
        else:
            groups.append([rule])
    return [group for group in groups if len(group) >= _FEWEST]


def _levels(pieces: Sequence[Rule]) -> Iterator[list[Rule]]:
    level: list[Rule] = []
    for piece in pieces:
        if level and piece.y - level[0].y > _LEVEL:
            yield level
            level = []
        level.append(piece)
    if level:
        yield level


def _join_pieces(level: Sequence[Rule]) -> list[Rule]:
    joined: list[Rule] = []
    for piece in sorted(level, key=lambda piece: piece.x0):
        if joined and piece.x0 <= joined[-1].x1 + _NEAR:
            joined[-1] = joined[-1]._replace(x1=max(joined[-1].x1, piece.x1))
        else:
            joined.append(piece)
    return joined


def find_aligned(page: Page, words: Sequence[Word]) -> list[FoundTable]:
    """Return the tables of a page that have no lines between their columns.

    Args:
        page: the page.
        words: its words that are in no other table.

    Returns:
        The tables, except those in which a line may continue the cell above, or a name may belong to other columns.
    """
    upright = [word for word in words if word.upright]
    rules = read_rules(page)
    ruled = [table for group in group_rules(rules) for table in _between(group, rules, upright)]
    taken = {number for table in ruled for number in table.words}
    return [*ruled, *_without_rules([word for word in upright if word.number not in taken])]


def _rows(words: Sequence[Word]) -> list[Row]:
    return [_phrases(line) for line in sort_lines(words)]


def _phrases(line: Sequence[Word]) -> Row:
    row = [[line[0]]]
    for before, word in pairwise(line):
        if word.box.x0 - before.box.x1 > _GAP * min(before.size, word.size):
            row.append([word])
        else:
            row[-1].append(word)
    return row


def _span(phrase: Phrase) -> Span:
    return phrase[0].box.x0, phrase[-1].box.x1


def _columns(rows: Sequence[Row], known: Sequence[Span] = ()) -> list[Span]:
    """Return the columns that the phrases of rows and the known columns form together; none overlaps another one."""
    columns: list[Span] = []
    for x0, x1 in sorted([*known, *(_span(phrase) for row in rows for phrase in row)]):
        if columns and x0 <= columns[-1][1]:
            columns[-1] = columns[-1][0], max(columns[-1][1], x1)
        else:
            columns.append((x0, x1))
    return columns


def _columns_under(span: Span, columns: Sequence[Span]) -> list[int]:
    return [at for at, (x0, x1) in enumerate(columns) if span[0] < x1 and x0 < span[1]]


def _cells(row: Row, columns: Sequence[Span]) -> Row | None:
    """Return the cells of a row, with an empty list for each missing one; None if two phrases share a column."""
    cells: Row = [[] for _ in columns]
    for phrase in row:
        at = _columns_under(_span(phrase), columns)[0]
        if cells[at]:
            return None
        cells[at] = phrase
    return cells


# --- between rules


def _between(group: Sequence[Rule], rules: Sequence[Rule], words: Sequence[Word]) -> Iterator[FoundTable]:
    """Yield the tables between rules of one length, from top to bottom."""
    x0, x1 = group[0].x0 - _NEAR, group[0].x1 + _NEAR
    bands = [_rows([word for word in words if x0 <= word.center[0] <= x1 and above.y < word.center[1] < below.y])
             for above, below in pairwise(group)]
    if any(word.box.x0 < x0 or word.box.x1 > x1 for band in bands for row in band for phrase in row for word in phrase):
        return
    start = 0
    while start + 1 < len(bands):
        inner = [rule for rule in rules if group[start].y + _NEAR < rule.y < group[start + 1].y - _NEAR
                 and x0 <= rule.x0 and rule.x1 <= x1]
        table, used = _below_header(bands[start], inner, bands[start + 1:])
        if table is not None:
            yield table
        start += 1 + (used if table is not None else 0)


def _below_header(header: list[Row], inner: Sequence[Rule], bands: Sequence[list[Row]],
                  ) -> tuple[FoundTable | None, int]:
    """Return the table below a header, if there is one, and how many of the bands below belong to it."""
    if not 0 < len(header) <= _MOST_LINES:
        return None, 0
    body: list[list[Row]] = []
    columns = _columns(header[-1:])
    for band in bands:
        found = _columns(band, columns)
        if not band or not _is_named(header[-1], found):
            break
        body, columns = [*body, band], found
    lines = [[cells for row in band if (cells := _cells(row, columns))] for band in body]
    if not body or any(len(cells) < len(band) for cells, band in zip(lines, body, strict=True)):
        return None, 0  # a cell extends into the next column
    names = _names(header, inner, columns)
    rows = _ruled_rows(lines) or _lines_of_numbers([cells for band in lines for cells in band])
    if names is None or rows is None or not _is_header(names[-1], rows, header):
        return None, 0
    return _table(names, rows, columns, [word for row in header for phrase in row for word in phrase]), len(body)


def _is_named(header: Row, columns: Sequence[Span]) -> bool:
    """Return True if a header has a short name for each of at least two columns; the first may be unnamed."""
    cells = _cells(header, columns)
    return (cells is not None and len(columns) > 1 and all(cells[1:])
            and all(len(cell_text(cell)) <= _LONGEST_NAME for cell in cells))


def _is_header(names: Sequence[GridCell], rows: Sequence[Row], header: Sequence[Row]) -> bool:
    """Return True if names are not values, and differ from the rows: by numbers below them, or by their font."""
    written, below = ({word.font for row in part for cell in row for word in cell} for part in (header, rows))
    return has_header([[name.text for name in names], *([cell_text(cell) for cell in row] for row in rows)]) and (
        _has_numbers(rows) or not written & below)


def _ruled_rows(bands: Sequence[list[Row]]) -> list[Row] | None:
    """Return the rows of a table with a rule below each row; their cells may have several lines."""
    if len(bands) < _FEWEST_ROWS or any(len(band) > _MOST_LINES for band in bands):
        return None
    rows = [[[word for part in cell for word in part] for cell in zip(*band, strict=True)] for band in bands]
    is_short = all(len(cell_text(cell)) <= _LONGEST_CELL for row in rows for cell in row)
    return rows if is_short and all(row[0] and any(row[1:]) for row in rows) else None


def _lines_of_numbers(rows: list[Row]) -> list[Row] | None:
    """Return the rows of a table with one line each and a column of numbers; None if lines may continue."""
    is_whole = all((row[0] and any(row[1:])) or all(row[1:]) for row in rows)
    return rows if len(rows) > 1 and is_whole and _has_numbers(rows) else None


def _has_numbers(rows: Sequence[Row]) -> bool:
    """Return True if a column after the first consists of numbers."""
    columns = [[text for cell in column if not _BLANK.fullmatch(text := cell_text(cell))]
               for column in zip(*(row[1:] for row in rows), strict=True)]
    return any(column and sum(bool(_NUMERIC.fullmatch(text)) for text in column) >= _MOSTLY * len(column)
               for column in columns)


def _names(header: list[Row], inner: Sequence[Rule], columns: Sequence[Span]) -> list[list[GridCell]] | None:
    """Return the rows of a header; None if it is not certain which columns a name belongs to."""
    names: list[list[GridCell]] = []
    for number, row in enumerate(header):
        names.append([GridCell("", is_header=True) for _ in columns])
        is_last = number == len(header) - 1
        wraps = len(row) >= len(columns) - 1
        for phrase in row:
            middle = sum(_span(phrase)) / 2
            above = [] if is_last else [(rule.x0, rule.x1) for rule in inner if rule.x0 <= middle <= rule.x1]
            covered = _columns_under(above[0] if above else _span(phrase), columns)
            is_shared = above and any(other is not phrase and _columns_under(_span(other), above[:1]) for other in row)
            if is_shared or not covered or (len(covered) > 1 and not above) or not (is_last or wraps or inner):
                return None  # touching rules are read as one rule, so the columns are unclear
            cell = GridCell(cell_text(phrase), is_header=True)
            for at in covered:
                names[-1][at] = cell
    return names


# --- without rules


def _without_rules(words: Sequence[Word]) -> Iterator[FoundTable]:
    """Yield the tables among the lines of a page; each line of a table has a phrase in each of its columns."""
    lines = _rows(words)
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
            names = [[GridCell(cell_text(phrase), is_header=True) for phrase in header]]
            yield _table(names, rows, columns, [word for phrase in header for word in phrase])
        start = end


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


def _table(names: list[list[GridCell]], rows: Sequence[Row], columns: Sequence[Span],
           header: Sequence[Word]) -> FoundTable:
    words = [*header, *(word for row in rows for cell in row for word in cell)]
    box = Box(columns[0][0], min(word.box.top for word in words),
              columns[-1][1], max(word.box.bottom for word in words))
    grid = [*names, *([GridCell(cell_text(cell)) for cell in row] for row in rows)]
    fonts = [*(frozenset(word.font for word in header) for _ in names),
             *(frozenset(word.font for cell in row for word in cell) for row in rows)]
    return FoundTable(box, (*(x0 for x0, _ in columns), columns[-1][1]), grid, fonts,
                      frozenset(word.number for word in words))
