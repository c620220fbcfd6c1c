"""Find the tables of a PDF page that have lines above and below them, and none between their columns."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from ..grids import GridCell
from ..table_lines import is_value
from .pdf_pages import Box, DrawnPage, PageWord, TextLine, line_text, parts_of, rows_of
from .ruled_tables import NEAR, FoundTable, cell_text, join_lines, split_cells

CAPTION = re.compile(r"(?i:table|tab\.|tabelle|tableau|tabla|tabela|表)\s*[A-Z]{0,2}\d[\d.\-]*\s*(?:[:.：、—–|-]\s*|$|"
                     r"(?=[A-Z(\u4e00-\u9fff]))")
_MOST_LINES = 500  # the most horizontal lines of a page that is no drawing
_NARROWEST = 60.0  # points; shorter lines underline words and divide fractions
_WIDE = 1.2  # the widest space between words of a justified caption as a share of the font size
_MOST_COLUMNS, _FEWEST_ROWS = 25, 2
_LINES_ABOVE, _FURTHEST = 8, 120.0  # lines of a caption and a header above a table, and their height in points
_CLOSE = 2.5  # the largest distance of a caption from its table as a multiple of its font size
_CROSSING = 0.08  # the share of rows whose words may stand in the space between two columns
_LONGEST_CELL = 120  # the longest line of a cell, in characters
_FILLED = 0.4  # the smallest share of filled cells
_MOSTLY, _VALUES = 0.7, 0.3
"""The smallest shares of filled cells, and of numbers among them, in further columns of a table without a caption."""
_LONGEST_CAPTION = 300
_WHOLE_LINE, _FEW_PARTS = 0.85, 3  # the smallest share of a table's width that a line of prose fills, in few parts


def find_open(page: DrawnPage, taken: Sequence[Box]) -> list[FoundTable]:
    """Return the tables between horizontal lines of equal ends, from top to bottom; none inside `taken`."""
    found: list[FoundTable] = []
    words = [word for word in page.words if word.upright]
    lines = join_lines(page.lines)
    for rules in _group_rules(lines, words) if len(lines) <= _MOST_LINES else ():
        caption, top = find_caption(words, rules[0])
        box = Box(rules[0].x0, top, rules[0].x1, rules[-1].top)
        if any(box.x0 < other.x1 and other.x0 < box.x1 and box.top < other.bottom and other.top < box.bottom
               for other in [*taken, *(table.box for table in found)]):
            continue
        heights = [rule.top for rule in rules]
        if top < heights[0] - NEAR:  # the names of the columns stand above the first line
            heights.insert(0, top)
        inside = [word for word in words if box.x0 - NEAR <= word.center[0] <= box.x1 + NEAR
                  and box.top <= word.center[1] <= box.bottom]
        table = _read_table(box, heights, inside)
        if table is not None and (caption or caption_below(words, box) or (
                len(heights) > 2 and _has_numbers(table))):  # noqa: PLR2004 - a line below the header, too
            found.append(table)
    return found


def _group_rules(lines: Sequence[Box], words: Sequence[PageWord]) -> Iterator[Sequence[Box]]:
    """Yield the lines of each table, which begin and end at the same places, from top to bottom."""
    groups: list[list[Box]] = []
    for line in lines:
        if line.x1 - line.x0 < _NARROWEST:
            continue
        if group := next((group for group in groups if abs(group[0].x0 - line.x0) <= NEAR
                          and abs(group[0].x1 - line.x1) <= NEAR), None):
            group.append(line)
        else:
            groups.append([line])
    for group in groups:
        # A line that has a caption right above it begins another table.
        starts = [at for at, line in enumerate(group) if at == 0 or find_caption(
            [word for word in words if word.center[1] > group[at - 1].top], line)[0]]
        yield from (group[start:end] for start, end in pairwise([*starts, len(group)]) if end - start > 1)


def _has_numbers(table: FoundTable) -> bool:
    """Return True if most cells have text, many of them numbers and none a sentence."""
    cells = [cell for row in table.grid[1:] for cell in row[1:]]
    texts = list(filter(None, cells))
    return (len(texts) >= _MOSTLY * len(cells) and sum(map(is_value, texts)) >= _VALUES * len(texts)
            and max(map(len, texts), default=0) <= _LONGEST_CELL / 2)


def find_caption(words: Iterable[PageWord], box: Box) -> tuple[str, float]:
    """Return the caption above a table that begins with its number, or "", and where the table begins."""
    above = _lines_beside(words, box, box.top - _FURTHEST, box.top)
    rows: list[TextLine] = []
    top = box.top
    while above and len(rows) < _LINES_ABOVE and top - above[-1][0].box.bottom <= _CLOSE * above[-1][0].size:
        rows.insert(0, above.pop())
        top = rows[0][0].box.top
        if CAPTION.match(line_text(rows[0])):
            lines = 1
            while lines < len(rows) and len(parts_of(rows[lines], _WIDE)) == 1:
                lines += 1
            header = rows[lines:]
            text = cell_text(word for row in rows[:lines] for word in row)[:_LONGEST_CAPTION]
            return text, header[0][0].box.top if header else box.top
    return "", box.top


def caption_below(words: Iterable[PageWord], box: Box) -> str:
    """Return the caption right below a table that begins with its number, or ""."""
    rows = _lines_beside(words, box, box.bottom, box.bottom + _FURTHEST)
    if not rows or rows[0][0].box.top - box.bottom > _CLOSE * rows[0][0].size or not CAPTION.match(line_text(rows[0])):
        return ""
    last = next((at for at, (row, below) in enumerate(pairwise(rows), 1)
                 if below[0].box.top - row[0].box.bottom > row[0].size / 2), len(rows))
    return cell_text(word for row in rows[:last] for word in row)[:_LONGEST_CAPTION]


def _lines_beside(words: Iterable[PageWord], box: Box, top: float, bottom: float) -> list[TextLine]:
    """Return the lines between two heights above or below a table, whole even if they are wider than it."""
    lines: list[TextLine] = []
    for row in rows_of(word for word in words if top < word.center[1] <= bottom):
        parts = [part for part in parts_of(row, _WIDE)
                 if part[0].box.x0 <= box.x1 + NEAR and part[-1].box.x1 >= box.x0 - NEAR]
        lines += [[word for part in parts for word in part]] if parts else []
    return lines


def _read_table(box: Box, rules: Sequence[float], words: Sequence[PageWord]) -> FoundTable | None:
    """Return the table of some words; None if they do not stand in columns. `rules` are the heights of its lines."""
    rows = rows_of(words)
    if not rows:
        return None
    bands = [bisect_right(rules, row[0].center[1]) for row in rows]  # the number of lines above each row
    rules = [rule for at, rule in enumerate(rules, 1) if at in bands or at == len(rules)]  # of double lines one
    columns = _find_columns([parts for row in rows[1:] if len(parts := parts_of(row)) > 1])
    if not 1 < len(columns) <= _MOST_COLUMNS:
        return None
    edges = (box.x0, *((left[1] + right[0]) / 2 for left, right in pairwise(columns)), box.x1)
    header_end = _header_end(rows, rules, columns)
    header = [row for row in rows if row[0].center[1] <= header_end]
    body = rows[len(header):]
    if len(body) < _FEWEST_ROWS:
        return None
    grid = [_header_cells(row, columns, is_last=row is header[-1]) for row in header]
    grid += _join_rows([[split_cells([row], edges) for row in band]
                        for _, band in groupby(body, lambda row: bisect_right(rules, row[0].center[1]))],
                       are_ruled=len(rules) > 3)  # noqa: PLR2004 - more than above, below and under the header
    texts = [cell for row in grid for cell in row]
    is_filled = sum(map(bool, texts)) >= _FILLED * len(grid) * len(columns)
    widths = [[part[-1].box.x1 - part[0].box.x0 for part in parts_of(row)] for row in body]
    # Lines of paragraphs reach from one side of their columns to the other.
    whole = sum(sum(line) > _WHOLE_LINE * (edges[-1] - edges[0]) and len(line) <= _FEW_PARTS for line in widths)
    if not is_filled or max(map(len, texts)) > _LONGEST_CELL or whole > len(body) / 2:
        return None
    return FoundTable(box, edges, grid, frozenset(word.number for word in words))


def _header_end(rows: Sequence[TextLine], rules: Sequence[float], columns: Sequence[tuple[float, float]]) -> float:
    """Return where the header ends: at the first rule inside the table above which half of the columns have a name."""
    if len(rules) <= 2:  # noqa: PLR2004
        return rules[0]
    for rule in rules[1:-1]:
        header = [_header_cells(row, columns, is_last=False) for row in rows if row[0].center[1] < rule]
        if sum(any(row[at] for row in header) for at in range(len(columns))) >= len(columns) / 2:
            return rule
    return rules[1]


def _find_columns(rows: Sequence[Sequence[TextLine]]) -> list[tuple[float, float]]:
    """Return where columns begin and end: nearly all rows, given as their parts, have a space between two of them."""
    ends = sorted((place, change) for row in rows for part in row
                  for place, change in ((part[0].box.x0, 1), (part[-1].box.x1, -1)))
    columns: list[tuple[float, float]] = []
    most, depth, begin = int(_CROSSING * len(rows)), 0, 0.0  # `depth` rows have a word at the current place
    for place, change in ends:
        if change > 0 and depth == most:
            begin = place
        depth += change
        if change < 0 and depth == most:
            columns.append((begin, place))
    joined = columns[:1]
    for column in columns[1:]:
        in_both = sum(_is_in(row, joined[-1]) and _is_in(row, column) for row in rows)
        if in_both <= most:  # one column, in which some rows are indented
            joined[-1] = joined[-1][0], column[1]
        else:
            joined.append(column)
    return joined


def _is_in(row: Sequence[TextLine], column: tuple[float, float]) -> bool:
    return any(column[0] <= (part[0].box.x0 + part[-1].box.x1) / 2 <= column[1] for part in row)


def _header_cells(row: TextLine, columns: Sequence[tuple[float, float]], *, is_last: bool) -> list[GridCell]:
    """Return the names in a row of a header: each above the cells over which it stands."""
    parts = parts_of(row)
    spans = [_columns_below(part, columns) for part in parts]
    named = Counter(span[0] for span in spans)
    cells = [GridCell("", is_header=True) for _ in columns]
    for part, span in zip(parts, spans, strict=True):
        if not is_last and len(span) > 1:
            merged = GridCell(cell_text(part), is_header=True)
            for at in span:
                cells[at] = merged
            continue
        own = [at for at in sorted(span) if at == span[0] or at not in named]
        pieces: list[TextLine] = []
        if len(own) == len(part):  # a word for each column
            pieces = [[word] for word in part]
        elif len(own) == 1:
            pieces = [part]
        for at, piece in zip(own, pieces, strict=False):
            cells[at] = GridCell(f"{cells[at]} {cell_text(piece)}".strip(), is_header=True)
    if is_last and len(named) < len(columns) - 1:  # a column has no name
        cells = [GridCell("", is_header=True) if named[at] > 1 else cell for at, cell in enumerate(cells)]
    return cells


def _columns_below(part: TextLine, columns: Sequence[tuple[float, float]]) -> list[int]:
    """Return the columns below a part of a header, the one with most of it first; the nearest if it is above none."""
    left, right = part[0].box.x0, part[-1].box.x1
    shared = {at: min(right, end) - max(left, begin) for at, (begin, end) in enumerate(columns)}
    best = max(shared, key=shared.__getitem__)
    return [best, *(at for at, width in shared.items() if width > 0 and at != best)]


def _join_rows(bands: Sequence[Sequence[list[GridCell]]], *, are_ruled: bool) -> list[list[GridCell]]:
    """Return the rows, each with the further lines of its cells; `bands` are the lines of text between two rules."""
    joined: list[list[GridCell]] = []
    for band in bands:
        is_one_row = are_ruled and sum(bool(row[0]) for row in band) == 1 and bool(band[0][0])
        for at, row in enumerate(band):
            filled = [place for place, cell in enumerate(row) if cell]
            # A line goes on with the row above if it has no name and no values, and text only below other text.
            goes_on = not row[0] and not any(is_value(row[place]) for place in filled) and (
                at > 0 and all(joined[-1][place] for place in filled))
            is_rest_of_name = filled == [0] and row[0][:1].islower()
            if at > 0 and (goes_on or is_rest_of_name or is_one_row):
                joined[-1] = [GridCell(f"{above} {cell}".strip()) if cell else above
                              for above, cell in zip(joined[-1], row, strict=True)]
            elif filled == [0] and not is_one_row:
                joined.append([row[0]] * len(row))  # a line of its own between rows
            else:
                joined.append(row)
    return joined
