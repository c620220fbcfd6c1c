"""Find the tables of a PDF page: those with lines around their cells, and those with lines above and below alone."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, pairwise, product
from typing import NamedTuple

import networkx

from ...text.cleaning import CELL_BREAK
from ..grids import GridCell, GridRow, header_depth, is_single
from ..table_lines import is_value
from .pdf_pages import CJK_LETTER, Box, DrawnPage, PageWord, TextLine, line_text, parts_of, rows_of

NEAR = 3.0  # the largest distance in points between ends of lines that meet, or columns of a table on two pages
_MOST_CROSSINGS = 2_000  # of vertical and horizontal lines; a drawing has more, and finding its cells takes long
_STANDS_OUT = 2.0  # the most points by which a word may extend over the edge of its cell
_MOST_HOLES = 0.2  # the largest share of a table's places that may lack their lines
_LONGEST_CELL, _LONGEST_LINE = 1_000, 120  # characters of a cell between lines, and of a line of a cell without them
_LONGEST_NAME, _LONG_NAMES = 100, 0.25  # with more longer cells in its first column, a grid frames paragraphs
_REGULAR = 0.7  # the smallest share of rows with a separate cell in each column; a form has fewer
_FILLED, _FILLED_OPEN = 0.5, 0.4  # the smallest shares of cells with text; a form to be filled in has fewer
_LABELS = 0.3  # the largest share of labels ("Name:") in a column after the first; a form has more
_LABEL = re.compile(r"[^:：]{1,40}(?::(?=\s|\Z)|：)")
_HYPHENATED = re.compile(r"(?<=[^\W\d_])-\Z")
CAPTION = re.compile(r"(?i:table|tab\.|tabelle|tableau|tabla|tabela|表)\s*[A-Z]{0,2}\d[\d.\-]*\s*(?:[:.：、—–|-]\s*|$|"
                     r"(?=[A-Z(\u4e00-\u9fff]))")
_LONGEST_CAPTION = 300
_MOST_LINES, _NARROWEST = 500, 60.0  # of a page that is no drawing; shorter lines underline words and divide fractions
_WIDE = 1.2  # the widest space between words of a justified caption as a share of the font size
_MOST_COLUMNS, _FEWEST_ROWS = 25, 2  # of a table without lines around its cells; the rows are those below its header
_LINES_ABOVE, _FURTHEST = 8, 120.0  # lines of a caption and a header above a table, and their height in points
_CLOSE = 2.5  # the largest distance of a caption from its table as a multiple of its font size
_CROSSING = 0.08  # the share of rows whose words may stand in the space between two columns
_MOSTLY, _VALUES = 0.7, 0.3  # the least shares of filled cells, and of numbers among them, in a table without a caption


class FoundTable(NamedTuple):
    """A table on a page."""

    box: Box
    edges: tuple[float, ...]  # the left edge of each column and the right edge of the last one
    grid: list[list[GridCell]]
    words: frozenset[int]  # the numbers of its words
    caption: str = ""  # the words above it that begin with its number


def _cell_text(words: Iterable[PageWord]) -> str:
    """Return the words of a cell in one line, without spaces between Chinese at line ends."""
    text = ""
    for line in rows_of(words):
        words_of_line = line_text(line)
        if _HYPHENATED.search(text):  # whether the hyphen stays is decided when all words of the file are known
            text = text[:-1] + CELL_BREAK
        elif text and not (CJK_LETTER.match(text[-1]) and CJK_LETTER.match(words_of_line)):
            text += " "
        text += words_of_line
    return text


def _split_cells(row: TextLine, edges: Sequence[float]) -> list[GridCell]:
    """Return a row's cells; the words of a part that is wider than its column are in the columns where they stand."""
    words: list[list[PageWord]] = [[] for _ in edges[1:]]
    inner = edges[1:-1]
    for part in parts_of(row):
        first = bisect_right(inner, part.box.x0 + NEAR)
        is_wide = bisect_right(inner, part.box.x1 - NEAR) > first  # it ends in another column than it begins
        for word in part:
            words[bisect_right(inner, word.box.center[0]) if is_wide else first].append(word)
    return [GridCell(_cell_text(words_of_cell)) for words_of_cell in words]


def find_ruled(page: DrawnPage) -> list[FoundTable]:
    """Return the tables of a page whose cells have lines around them, from top to bottom."""
    # `_join_lines` joins horizontal lines, so vertical ones are given with x and y exchanged.
    columns = _join_lines([Box(line.top, line.x0, line.bottom, line.x1) for line in page.lines])
    ends: dict[int, list[Box]] = {}  # where vertical lines end together, a page may divide a row
    for column in columns:
        for end in (column.x0, column.x1):
            ends.setdefault(round(end), []).append(column)
    breaks = [Box(lines[0].top, end, lines[-1].top, end) for end, lines in ends.items() if len(lines) > 1]
    rows = _join_lines([*page.lines, *breaks])
    if not 0 < len(rows) * len(columns) <= _MOST_CROSSINGS:
        return []
    # Cells of one table have corners in common.
    meetings: networkx.Graph[Box | tuple[float, float]] = networkx.Graph()
    for cell in _find_cells(rows, columns):
        corners = product((cell.x0, cell.x1), (cell.top, cell.bottom))
        meetings.add_edges_from((cell, corner) for corner in corners)
    groups = ([node for node in group if isinstance(node, Box)] for group in networkx.connected_components(meetings))
    tables = [_fill_cells(sorted(cells, key=lambda cell: (cell.top, cell.x0)), page.words) for cells in groups]
    return [table for table in tables if table is not None and _is_data(table.grid)]


def _join_lines(lines: Iterable[Box]) -> list[Box]:
    """Return the horizontal lines; pieces at one height that meet are one line."""
    horizontal: list[Box] = []
    for line in sorted(lines, key=lambda line: line.top):
        if line.bottom == line.top and line.x1 - line.x0 >= 1:  # shorter ones are dots
            is_level = bool(horizontal) and line.top - horizontal[-1].top <= NEAR
            height = horizontal[-1].top if is_level else line.top
            horizontal.append(Box(line.x0, height, line.x1, height))
    joined: list[Box] = []
    for line in sorted(horizontal, key=lambda line: (line.top, line.x0)):
        if joined and joined[-1].top == line.top and line.x0 <= joined[-1].x1 + NEAR:
            joined[-1] = joined[-1]._replace(x1=max(joined[-1].x1, line.x1))
        else:
            joined.append(line)
    return joined


def _find_cells(rows: Sequence[Box], columns: Sequence[Box]) -> Iterator[Box]:
    """Yield the smallest rectangles with lines on all sides; `columns` are vertical lines with x and y exchanged."""
    def crosses(row: Box, column: Box) -> bool:
        return (row.x0 - NEAR <= column.top <= row.x1 + NEAR) and (column.x0 - NEAR <= row.top <= column.x1 + NEAR)

    for top in rows:
        lefts = [column for column in columns if crosses(top, column)]
        for at, left in enumerate(lefts):
            bottoms = (row for row in rows if row.top > top.top and crosses(row, left))
            corners = ((right, bottom) for bottom in bottoms for right in lefts[at + 1:])
            # The smallest rectangle ends at the first line below that has a corner with a line to the right.
            corner = next(((right, bottom) for right, bottom in corners if crosses(bottom, right)), None)
            if corner is not None:
                yield Box(left.top, top.top, corner[0].top, corner[1].top)


def _fill_cells(boxes: Sequence[Box], words: Sequence[PageWord]) -> FoundTable | None:
    """Return the table with its words in its cells; None if words cross its lines or too many cells are missing."""
    lefts = sorted({edge for cell in boxes for edge in (cell.x0, cell.x1)})
    tops = sorted({edge for cell in boxes for edge in (cell.top, cell.bottom)})
    number_at: dict[tuple[int, int], int] = {}  # the number of the cell at each place of the grid
    for number, cell in enumerate(boxes):
        rows_of_cell = range(tops.index(cell.top), tops.index(cell.bottom))
        columns_of_cell = range(lefts.index(cell.x0), lefts.index(cell.x1))
        number_at.update(dict.fromkeys(product(rows_of_cell, columns_of_cell), number))
    rows, columns = range(len(tops) - 1), range(len(lefts) - 1)
    words_of: dict[int, list[PageWord]] = {}  # by the numbers of cells
    for word in words:
        x, y = word.box.center
        if not (lefts[0] <= x < lefts[-1] and tops[0] <= y < tops[-1]):
            continue
        number_of_cell = number_at.get((bisect_right(tops, y) - 1, bisect_right(lefts, x) - 1))
        if number_of_cell is None or not word.upright:
            return None
        box = boxes[number_of_cell]
        if word.box.x0 < box.x0 - _STANDS_OUT or word.box.x1 > box.x1 + _STANDS_OUT:
            return None
        words_of.setdefault(number_of_cell, []).append(word)
    if len(number_at) < (1 - _MOST_HOLES) * len(rows) * len(columns):
        return None
    cells = [GridCell(_cell_text(words_of.get(number, ()))) for number in range(len(boxes))]
    grid = [[cells[number_at[row, column]] if (row, column) in number_at else GridCell("") for column in columns]
            for row in rows]
    return FoundTable(Box(lefts[0], tops[0], lefts[-1], tops[-1]), tuple(lefts), grid,
                      frozenset(word.number for words in words_of.values() for word in words))


def _is_data(grid: Sequence[GridRow]) -> bool:
    """Return True if a grid is a table of data, rather than a form, a frame or the layout of a page."""
    body = [row for row in grid if not is_single(row)]
    depth = header_depth(body) if body else 0
    rows = body[depth:]
    if not rows or len(grid) < 2 or max(map(len, chain(*grid))) > _LONGEST_CELL:  # noqa: PLR2004
        return False
    has_paragraphs = sum(len(row[0]) > _LONGEST_NAME for row in rows) > _LONG_NAMES * len(rows)
    regular_rows = sum(not any(left is right for left, right in pairwise(row)) for row in rows)  # no merged cells
    if has_paragraphs or regular_rows < _REGULAR * len(rows):
        return False
    columns = [list(filter(None, column)) for column in zip(*rows, strict=True)]
    is_filled = sum(map(bool, columns)) > 1 and sum(map(len, columns)) >= _FILLED * len(rows) * len(columns)
    has_labels = any(sum(bool(_LABEL.match(text)) for text in column) > _LABELS * len(column) for column in columns[1:])
    return is_filled and not has_labels


def find_open(page: DrawnPage, taken: Sequence[Box]) -> list[FoundTable]:
    """Return the tables between horizontal lines of equal ends, from top to bottom; none inside `taken`."""
    found: list[FoundTable] = []
    words = [word for word in page.words if word.upright]
    lines = _join_lines(page.lines)
    for rules in _group_rules(lines, words) if len(lines) <= _MOST_LINES else ():
        caption, top = find_caption(words, rules[0])
        box = Box(rules[0].x0, top, rules[0].x1, rules[-1].top)
        others = [*taken, *(table.box for table in found)]
        if any(box.x0 < other.x1 and other.x0 < box.x1 and box.top < other.bottom and other.top < box.bottom
               for other in others):  # they overlap
            continue
        heights = [rule.top for rule in rules]
        inside = [word for word in words if box.x0 - NEAR <= word.box.center[0] <= box.x1 + NEAR
                  and box.top <= word.box.center[1] <= box.bottom]
        table = _read_table(box, heights, inside)
        # Without a caption, a line below a header and numbers show that the lines do not just frame prose.
        has_ruled_header = len(heights) > 2  # noqa: PLR2004
        if table and (caption or caption_below(words, box) or (has_ruled_header and _has_numbers(table))):
            found.append(table)
    return found


def _group_rules(lines: Sequence[Box], words: Sequence[PageWord]) -> Iterator[Sequence[Box]]:
    """Yield the lines of each table, which begin and end at the same places, from top to bottom."""
    groups: list[list[Box]] = []
    for line in lines:
        if line.x1 - line.x0 >= _NARROWEST:
            same_ends = (group for group in groups if abs(group[0].x0 - line.x0) <= NEAR
                         and abs(group[0].x1 - line.x1) <= NEAR)
            group = next(same_ends, None)
            if group is None:
                groups.append(group := [])
            group.append(line)
    for group in groups:
        # A line that has a caption right above it begins another table.
        starts = [at for at, line in enumerate(group) if at == 0 or find_caption(
            [word for word in words if word.box.center[1] > group[at - 1].top], line)[0]]
        yield from (group[start:end] for start, end in pairwise([*starts, len(group)]) if end - start > 1)


def _has_numbers(table: FoundTable) -> bool:
    """Return True if most cells have text, many of them numbers and none a sentence."""
    cells = [cell for row in table.grid[1:] for cell in row[1:]]
    texts = list(filter(None, cells))
    return (len(texts) >= _MOSTLY * len(cells) and sum(map(is_value, texts)) >= _VALUES * len(texts)
            and max(map(len, texts), default=0) <= _LONGEST_LINE / 2)


def find_caption(words: Iterable[PageWord], box: Box) -> tuple[str, float]:
    """Return the caption above a table, "" if none begins with a number, and the top of the column names below it."""
    above = _lines_beside(words, box, box.top - _FURTHEST, box.top)
    rows: list[TextLine] = []
    top = box.top
    while above and len(rows) < _LINES_ABOVE and top - above[-1].box.bottom <= _CLOSE * above[-1].size:
        rows.insert(0, above.pop())
        top = rows[0].box.top
        if CAPTION.match(line_text(rows[0])):
            # The caption ends where a line has wide spaces, as the names of columns have between them.
            end = next((at for at, row in enumerate(rows) if at and len(parts_of(row, _WIDE)) > 1), len(rows))
            text = _cell_text(chain(*rows[:end]))[:_LONGEST_CAPTION]
            return text, rows[end].box.top if end < len(rows) else box.top
    return "", box.top


def caption_below(words: Iterable[PageWord], box: Box) -> str:
    """Return the caption right below a table, which begins with a number, or ""."""
    rows = _lines_beside(words, box, box.bottom, box.bottom + _FURTHEST)
    if not rows or rows[0].box.top - box.bottom > _CLOSE * rows[0].size or not CAPTION.match(line_text(rows[0])):
        return ""
    end = next((at for at, (row, below) in enumerate(pairwise(rows), 1)
                if below.box.top - row.box.bottom > row.size / 2), len(rows))  # a gap ends the caption
    return _cell_text(chain(*rows[:end]))[:_LONGEST_CAPTION]


def _lines_beside(words: Iterable[PageWord], box: Box, top: float, bottom: float) -> list[TextLine]:
    """Return the lines between two heights above or below a table, whole even if they are wider than it."""
    rows = rows_of(word for word in words if top < word.box.center[1] <= bottom)
    # Parts entirely to the left or the right of the table belong to another column of the page.
    parts_beside = ([part for part in parts_of(row, _WIDE) if part.box.x0 <= box.x1 + NEAR
                     and part.box.x1 >= box.x0 - NEAR] for row in rows)
    return [TextLine(chain(*parts)) for parts in parts_beside if parts]


def _read_table(box: Box, rules: Sequence[float], words: Sequence[PageWord]) -> FoundTable | None:
    """Return the table of some words; None if they do not stand in columns. `rules` are the heights of its lines."""
    rows = rows_of(words)
    columns = _find_columns([parts for row in rows[1:] if len(parts := parts_of(row)) > 1])
    if not 1 < len(columns) <= _MOST_COLUMNS:
        return None
    edges = (box.x0, *((end + begin) / 2 for (_, end), (begin, _) in pairwise(columns)), box.x1)
    header_end = rules[1] if len(rules) > 2 else rules[0]  # noqa: PLR2004 - a line below the header, too
    header = [row for row in rows if row.box.center[1] <= header_end]
    body = rows[len(header):]
    if len(body) < _FEWEST_ROWS:
        return None
    grid = [_header_cells(row, columns, is_last=row is header[-1]) for row in header]
    for _, band in groupby(body, lambda row: bisect_right(rules, row.box.center[1])):  # the rows between two lines
        grid += _join_lines_of_cells([_split_cells(row, edges) for row in band])
    texts = [cell for row in grid for cell in row]
    is_filled = sum(map(bool, texts)) >= _FILLED_OPEN * len(grid) * len(columns)
    if not is_filled or max(map(len, texts)) > _LONGEST_LINE:
        return None
    return FoundTable(box, edges, grid, frozenset(word.number for word in words))


def _find_columns(rows: Sequence[Sequence[TextLine]]) -> list[tuple[float, float]]:
    """Return where columns begin and end: nearly all rows, given as their parts, have a space between two of them."""
    parts = list(chain(*rows))
    ends = sorted([*((part.box.x0, 1) for part in parts), *((part.box.x1, -1) for part in parts)])
    columns: list[tuple[float, float]] = []
    # A column is where more rows have a word than may cross a space; `covering` is their number at the current place.
    most_crossing, covering, begin = int(_CROSSING * len(rows)), 0, 0.0
    for place, change in ends:
        if change > 0 and covering == most_crossing:
            begin = place
        covering += change
        if change < 0 and covering == most_crossing:
            columns.append((begin, place))
    middles = [[part.box.center[0] for part in row] for row in rows]
    joined = columns[:1]
    for begin, end in columns[1:]:
        begin_before, end_before = joined[-1]
        in_both = [row for row in middles if any(begin <= middle <= end for middle in row)
                   and any(begin_before <= middle <= end_before for middle in row)]
        if len(in_both) <= most_crossing:  # one column, in which some rows are indented
            joined[-1] = begin_before, end
        else:
            joined.append((begin, end))
    return joined


def _header_cells(row: TextLine, columns: Sequence[tuple[float, float]], *, is_last: bool) -> list[GridCell]:
    """Return the names in a row of a header: each above the cells over which it stands."""
    spans: list[tuple[TextLine, list[int]]] = []  # parts of the row, each with the columns below it, the nearest first
    for part in parts_of(row):
        left, right = part.box.x0, part.box.x1
        shared = {at: min(right, end) - max(left, begin) for at, (begin, end) in enumerate(columns)}
        nearest = max(shared, key=shared.__getitem__)
        spans.append((part, [nearest, *(at for at, width in shared.items() if width > 0 and at != nearest)]))
    parts_above = Counter(nearest for _, (nearest, *_) in spans)  # how many are nearest to each column
    cells = [GridCell("", is_header=True) for _ in columns]
    for part, span in spans:
        if not is_last and len(span) > 1:  # it stands over the names in the next row
            merged = GridCell(_cell_text(part), is_header=True)
            for at in span:
                cells[at] = merged
            continue
        own = [at for at in sorted(span) if at == span[0] or at not in parts_above]  # no other part is nearest to them
        pieces = [TextLine([word]) for word in part]  # a name for each column
        if len(own) != len(part):  # a part over several columns is the name of none
            pieces = [part] if len(own) == 1 else []
        for at, piece in zip(own, pieces, strict=False):
            cells[at] = GridCell(f"{cells[at]} {_cell_text(piece)}".strip(), is_header=True)
    return cells


def _join_lines_of_cells(lines: Sequence[list[GridCell]]) -> list[list[GridCell]]:
    """Return lines of cells as rows: each row with the further lines of its cells."""
    rows: list[list[GridCell]] = []
    for line in lines:
        filled = [column for column, cell in enumerate(line) if cell]
        # A line goes on with the row above if it has no name and no values, or only the rest of a name.
        has_words_alone = not line[0] and not any(is_value(line[column]) for column in filled)
        is_rest_of_name = filled == [0] and line[0][:1].islower()
        if rows and (has_words_alone or is_rest_of_name):
            rows[-1] = [GridCell(f"{above} {cell}".strip()) for above, cell in zip(rows[-1], line, strict=True)]
        elif filled == [0]:
            rows.append([line[0]] * len(line))  # a line of its own between rows
        else:
            rows.append(line)
    return rows
