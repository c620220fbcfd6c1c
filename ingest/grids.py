"""Find the captions, the header and the rows of tables: grids of cells, and sheets of spreadsheets and CSV files.

In a grid a merged cell is in each place that it spans. A sheet may hold several tables; it is split into blocks, rows
without a blank row between them, each of which is a table or continues the one above.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, groupby, pairwise, takewhile, zip_longest
from typing import NamedTuple

from .reading import DEFAULT_LIMITS
from .source_tables import TableLine, TableRow
from .table_lines import has_header, is_value, names_values, table_lines

_PAIR = 2  # places of a property and its value
_MOST_CELLS = 1_000_000  # places of a table: a small file may declare cells that span millions
_ENUMERATED = re.compile(r"\(?(?:[a-z]|[ivx]{1,6}|\d{1,3})[.)]", re.IGNORECASE)  # as paragraphs are: "(a)", "iv."
_HEAD = 50  # the rows of a block that decide on its titles and its header
_FAR = 2  # the blank rows after which another table begins, whatever is in it; with fewer, only its cells tell


class GridCell(str):
    """The text of a cell; a merged cell is the same object in every place that it spans."""

    is_header: bool  # True if the file declares the cell to be a header

    def __new__(cls, text: str, *, is_header: bool = False) -> "GridCell":
        """Return a cell with a text."""
        cell = super().__new__(cls, text)
        cell.is_header = is_header
        return cell


GridRow = Sequence[GridCell]


class GridTable(NamedTuple):
    """The parts of a grid, as `table_lines` takes them."""

    captions: list[str]
    header: list[str]
    rows: list[TableRow]


def read_grid(grid: Sequence[GridRow]) -> GridTable:
    """Split a table of at least two columns into captions, header and rows.

    The captions are the leading rows of a single cell that spans all columns. The header are the rows that the file
    declares, or the first row if it has no values, with the rows below it that divide its merged cells; it may be
    empty. In the rows, a merged cell's text is in each of its places, and a row of a single cell is a `TableLine`.
    """
    filled_up = _fill_up(grid)
    first_wide = next((at for at, row in enumerate(filled_up) if not is_single(row)), 0)
    captions = [str(row[0]) for row in filled_up[:first_wide] if row[0]]
    rows = filled_up[first_wide:]
    depth = header_depth(rows)
    header = [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*rows[:depth], strict=True)]
    return GridTable(captions, header, row_contents(rows[depth:]))


def _fill_up(rows: Sequence[GridRow]) -> list[list[GridCell]]:
    """Return rows of the same width; short ones get blank cells at their end."""
    width = max(map(len, rows))
    return [[*row, *(GridCell("") for _ in range(width - len(row)))] for row in rows]


def grid_lines(grid: Sequence[GridRow], title: str, caption: str = "") -> list[str]:
    """Return a table as lines about its caption, or else `title`; a single row or column gives its cells, with bars."""
    if len(grid) == 1 or max(map(len, grid)) == 1:
        return [" | ".join(row) for row in grid]
    if all(len(row) == _PAIR and _ENUMERATED.fullmatch(row[0]) for row in grid):  # paragraphs set as a table
        return [" ".join(row) for row in grid]
    has_merged_cells = [any(left is right for left, right in pairwise(row)) and not is_single(row) for row in grid]
    if sum(has_merged_cells) >= max(2, len(grid) / 2):  # a form: columns of data are not merged in so many rows
        return [*filter(None, [caption]), *table_lines([], _form_fields(grid), caption or title)]
    captions, header, rows = read_grid(grid)
    if any(cell.is_header for cell in chain(*grid)):  # then a caption that is not declared a header is a remark
        first_cell, *_ = grid[0]
        subject = first_cell if is_single(grid[0]) and first_cell.is_header else title
    else:
        subject = next(reversed(captions), title)
    return [*filter(None, [caption]), *captions, *table_lines(header, rows, caption or subject)]


def _form_fields(grid: Sequence[GridRow]) -> Iterator[TableRow]:
    """Yield the names and values of a form, whose rows are labels and the values beside them, in merged cells."""
    for row in grid:
        cells = [next(places) for _, places in groupby(row, key=id)]  # each merged one once
        texts = list(filter(None, cells))
        if len(texts) == 1:
            yield TableLine(texts[0])
        elif len(texts) % 2:  # no pairs: one label and several values
            yield [texts[0], "; ".join(texts[1:])]
        else:
            yield from zip(texts[::2], texts[1::2], strict=True)


def row_contents(rows: Sequence[GridRow]) -> list[TableRow]:
    """Return each row, and a `TableLine` for a row that is a single cell."""
    return [TableLine(row[0]) if is_single(row) else row for row in rows]


def header_depth(rows: Sequence[GridRow]) -> int:
    """Return how many of the first rows are the header (see `read_grid`); all rows have the same width."""
    depth = next((at for at, row in enumerate(rows) if not all(cell.is_header for cell in row)), len(rows))
    first_cell, *_ = rows[0]
    if depth == 0 and not first_cell.is_header:  # a declared one names its row: the headers are in the first column
        depth = int(has_header(rows))
    while 0 < depth < len(rows) - 1 and _is_divided(rows, depth):  # at least one row is no header
        depth += 1
    return depth


def _is_divided(rows: Sequence[GridRow], depth: int) -> bool:
    """Return True if the row at `depth` belongs to the header: it names the parts of merged cells in the row above."""
    above, row = rows[depth - 1], rows[depth]
    joins_next = [left is right for left, right in pairwise(above)]
    # A place belongs to a merged cell if its left or its right neighbour has the same cell.
    is_merged = [joins_before or joins_after for joins_before, joins_after in pairwise([False, *joins_next, False])]
    if not any(is_merged) or not has_header(rows[depth:]):
        return False
    if all(is_merged):  # only values in the next row tell names of parts from data
        return any(map(is_value, rows[depth + 1]))
    # Below a cell that is not merged stands its own lower half, or nothing.
    return all(row[at] is cell or not row[at] for at, cell in enumerate(above) if not is_merged[at])


def is_single(row: GridRow) -> bool:
    """Return True if one cell spans the whole row."""
    return all(left is right for left, right in pairwise(row))


def place_cells(rows: Iterable[Sequence[tuple[GridCell, int, int]]]) -> list[list[GridCell]]:
    """Put each cell, given with the columns and rows that it spans, into its places; return [] if they are too many."""
    places: list[dict[int, GridCell]] = []  # the cells of each row by their columns
    row_count = taken = 0
    for at, row in enumerate(rows):
        row_count = at + 1
        places += [{} for _ in range(row_count - len(places))]
        column = 0
        for cell, width, height in row:
            while column in places[at]:  # a cell of a row above spans this place
                column += 1
            taken += width * height
            if column + width > DEFAULT_LIMITS.table_columns or taken > _MOST_CELLS:
                return []
            places += [{} for _ in range(at + height - len(places))]
            for cells in places[at:at + height]:
                cells.update(dict.fromkeys(range(column, column + width), cell))
    return [[cells.get(column, GridCell("")) for column in range(max(cells, default=-1) + 1)]
            for cells in places[:row_count]]  # a cell may be declared to span more rows than there are


# --- sheets

SheetRow = Sequence[str]  # the cells of a row; a merged one is a `GridCell`


class TableBlock(NamedTuple):
    """Rows without a blank one between them, in some columns of a sheet."""

    rows: Sequence[SheetRow]
    columns: Sequence[int]  # those with text
    blank_rows: int  # the number of blank rows above it

    def cells(self, row: SheetRow) -> list[str]:
        """Return a row's cells in the columns of the block."""
        return [row[at] for at in takewhile(lambda at: at < len(row), self.columns)]

    @property
    def is_single(self) -> bool:
        """True if it is one row with one text, which may be in several places of a merged cell."""
        return len(self.rows) == 1 and len(_texts_of(self.rows[0])) == 1

    def split_head(self) -> tuple[Sequence[SheetRow], Sequence[SheetRow]]:
        """Split the head of the block into titles (rows of one text above the first wider row, if any) and the rest."""
        head = self.rows[:_HEAD]
        first_wide = next((at for at, row in enumerate(head) if len(_texts_of(row)) > 1), 0)
        return head[:first_wide], head[first_wide:]

    def number_columns(self, rows: Sequence[SheetRow]) -> set[int]:
        """Return the columns in which numbers or dates stand below a text in the first of some rows."""
        return {at for at in self.columns if names_values([row[at] if at < len(row) else "" for row in rows])}


def _texts_of(row: SheetRow) -> set[str]:
    """Return the different texts of a row: that of a merged cell counts once."""
    return set(row) - {""}


def sheet_lines(sheet: Iterable[SheetRow], title: str) -> Iterator[str]:
    """Yield the lines of the tables in a sheet, one below the other and then beside each other; see `table_lines`."""
    blocks = list(_split_blocks(sheet))
    at, follows_table = 0, False
    while at < len(blocks):
        block, begin = blocks[at], at
        at += 1
        if follows_table:
            yield ""
        follows_table = not block.is_single
        if block.is_single:  # a text alone is the title of the tables below it
            title = next(filter(None, block.rows[0]))
            yield title
            continue
        captions, header, head = _read_head(block)
        number_columns = block.number_columns(block.rows[:_HEAD])
        while at < len(blocks) and not _begins_table(blocks[at], block, header, number_columns):
            at += 1
        below_head = map(block.cells, block.rows[_HEAD:])
        further_rows = list[TableRow]()
        for other in blocks[begin + 1:at]:  # which continue the table
            titles, rows = other.split_head()
            further_rows += (TableLine(next(filter(None, row))) for row in titles)
            cells_of_rows = map(block.cells, chain(rows, other.rows[_HEAD:]))
            further_rows += (cells for cells in cells_of_rows if not _is_repeated(cells, header))
        yield from captions
        lines = table_lines(header, chain(head, below_head, further_rows), next(reversed(captions), title))
        yield next(lines, "; ".join(filter(None, header)))  # a header without rows below it is text
        yield from lines


def _split_blocks(rows: Iterable[SheetRow]) -> Iterator[TableBlock]:
    """Yield the blocks of a sheet from top to bottom, and those beside each other from left to right."""
    blank_rows = 0
    for has_text, group in groupby(rows, any):
        block_rows = list(group)
        parts = _side_by_side(block_rows) if has_text else []
        if len(parts) == 1:
            yield TableBlock(block_rows, _filled_columns(block_rows), blank_rows)
        else:  # each part may have blank rows where the others have text
            for block in chain.from_iterable(map(_split_blocks, parts)):
                # A table beside another one never continues the table above it.
                yield block._replace(blank_rows=max(block.blank_rows, _FAR))
        blank_rows = 0 if has_text else len(block_rows)


def _side_by_side(rows: Sequence[SheetRow]) -> list[Sequence[SheetRow]]:
    """Split rows at blank columns into tables that stand beside each other; a single part if they are one table."""
    columns, starts = _filled_columns(rows), list[int]()
    for before, start in pairwise(columns):
        if start == before + 1:  # no blank column is between them
            continue
        left, right = [row[:start] for row in rows], [row[start:] for row in rows]
        left_rows = [at for at, cells in enumerate(left) if any(cells)]
        right_rows = [at for at, cells in enumerate(right) if any(cells)]
        has_same_names = not _texts_of(left[left_rows[0]]).isdisjoint(_texts_of(right[right_rows[0]]))
        # Blank columns may also divide one table, whose parts have the same rows and other names.
        are_two_tables = left_rows != right_rows or has_same_names
        if are_two_tables and _is_whole(left) and _is_whole(right):
            starts.append(start)
    if not starts:
        return [rows]
    edges = [0, *starts, columns[-1] + 1]
    # Blank cells on the left keep each cell in its column.
    return [[[*[""] * start, *row[start:end]] for row in rows] for start, end in pairwise(edges)]


def _is_whole(part: Sequence[SheetRow]) -> bool:
    """Return True if a part of a sheet is a table by itself, and not notes or columns that belong to one beside it."""
    # It has at least two columns, and two rows without a blank one between them, all with a text in the first column.
    filled_rows, columns = [at for at, cells in enumerate(part) if any(cells)], _filled_columns(part)
    has_adjacent_rows = len(filled_rows) > 1 and filled_rows[-1] - filled_rows[0] == len(filled_rows) - 1
    return has_adjacent_rows and len(columns) > 1 and all(part[at][columns[0]] for at in filled_rows)


def _filled_columns(rows: Sequence[SheetRow]) -> list[int]:
    width = max(map(len, rows), default=0)
    return [at for at in range(width) if any(row[at] for row in rows if at < len(row))]


def _read_head(block: TableBlock) -> GridTable:
    """Return the titles of a block, its header, and the rows below it that belong to its head."""
    titles, rows = block.split_head()
    grid = [[cell if isinstance(cell, GridCell) else GridCell(cell) for cell in block.cells(row)] for row in rows]
    # In a grid of one column, each row would be a single cell that spans all columns, and so a line between rows.
    if max(map(len, grid)) <= 1:
        cells = [block.cells(row) for row in block.rows[:_HEAD]]
        return GridTable([], cells[0], [*cells[1:]]) if has_header(cells) else GridTable([], [], [*cells])
    has_merged_cells = any(isinstance(cell, GridCell) for cell in chain(*rows))
    if not has_merged_cells and len(grid) > 2:  # noqa: PLR2004 - two rows may be the header
        grid = _fill_up(grid)
        first, second, third, *_ = grid
        without_name_above = [at for at, cell in enumerate(first) if at and not cell and second[at]]
        is_header = not any(map(is_value, second)) and all(is_value(third[at]) for at in without_name_above)
        if without_name_above and is_header:  # each name of the first row fills the blank cells behind it
            # A blank first cell takes the name below it.
            grid[0] = [*accumulate(first, lambda before, cell: cell or before, initial=second[0])][1:]
    captions, header, below = read_grid(grid)
    captions = [*(next(filter(None, row)) for row in titles), *captions]
    filled_columns = _filled_columns([row for row in below if not isinstance(row, TableLine)])
    names_a_column = any(name and at in filled_columns for at, name in enumerate(header))
    if below and not names_a_column:  # no named column has any text below its name, so these names are a row
        return GridTable(captions, [], [header, *below])
    return GridTable(captions, header, below)


def _begins_table(block: TableBlock, above: TableBlock, header: Sequence[str], number_columns: set[int]) -> bool:
    """Return True if a block is a table of its own, and False if it continues the table above it."""
    if block.is_single:  # a single text is the title of the next table, or a heading among the rows
        return block.blank_rows >= _FAR or not header
    _, rows = block.split_head()
    if not set(block.columns) <= set(above.columns):
        return True
    repeats_header = _is_repeated(above.cells(rows[0]), header)
    if repeats_header or len(rows) == 1 or not has_header(rows):
        return False
    # The first row may be a header. It is one if values are below it, or if it has texts in columns of values.
    has_texts_for_values = any(cell for at, cell in enumerate(rows[0]) if at in number_columns)
    return bool(block.number_columns(rows)) or has_texts_for_values or block.blank_rows >= _FAR


def _is_repeated(cells: Sequence[str], header: Sequence[str]) -> bool:
    """Return True if a row repeats a header; cells that either of them lacks count as empty."""
    return any(cells) and all(left == right for left, right in zip_longest(cells, header, fillvalue=""))
