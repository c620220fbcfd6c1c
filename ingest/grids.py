"""Find the captions, the header and the rows of tables: grids of cells, and sheets of spreadsheets and CSV files.

In a grid a merged cell is in each place that it spans. A sheet may hold several tables; it is split into blocks, rows
without a blank row between them, each of which is a table or continues the one above.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise, takewhile, zip_longest
from typing import NamedTuple

from .reading import DEFAULT_LIMITS
from .source_tables import TableLine, TableRow
from .table_lines import has_header, is_value, names_values, table_lines

_PAIR = 2  # places of a property and its value
_MOST_CELLS = 1_000_000
_ENUMERATED = re.compile(r"\(?(?:[a-z]|[ivx]{1,6}|\d{1,3})[.)]", re.IGNORECASE)
_HEAD = 50  # the rows of a block that decide on its titles and its header
_FAR = 2
"""The number of blank rows that separate two tables of texts; tables with numbers or dates are told apart by these."""


@dataclass(frozen=True, eq=False)
class GridCell:
    """A cell; the same object is in every place that the cell spans."""

    text: str
    is_header: bool = False  # True if the file declares the cell to be a header


GridRow = Sequence[GridCell]


GridTable = tuple[list[str], list[str], list[TableRow]]
"""The captions, the header and the rows of a grid, as `table_lines` takes them."""


def read_grid(grid: Sequence[GridRow]) -> GridTable:
    """Split a table of at least two columns into captions, header and rows.

    The captions are the leading rows of a single cell that spans all columns. The header are the rows that the file
    declares, or the first row if it has no values, with the rows below it that divide its merged cells; it may be
    empty. In the rows, a merged cell's text is in each of its places, and a row of a single cell is a `TableLine`.
    """
    width = max(map(len, grid))
    rows = [[*row, *(GridCell("") for _ in range(width - len(row)))] for row in grid]
    captions: list[str] = []
    while is_single(rows[0]) and not all(map(is_single, rows)):
        captions.append(rows.pop(0)[0].text)
    depth = header_depth(rows)
    header = [" ".join(dict.fromkeys(filter(None, (cell.text for cell in column))))
              for column in zip(*rows[:depth], strict=True)]
    return [text for text in captions if text], header, row_contents(rows[depth:])


def grid_lines(grid: Sequence[GridRow], title: str, caption: str = "") -> list[str]:
    """Return a table as lines of text; a single row or column gives its cells, with bars between those of a row."""
    if len(grid) == 1 or max(map(len, grid)) == 1:
        return [" | ".join(cell.text for cell in row) for row in grid]
    if all(len(row) == _PAIR and _ENUMERATED.fullmatch(row[0].text) for row in grid):  # paragraphs set as a table
        return [f"{row[0].text} {row[1].text}" for row in grid]
    has_merged_cells = [any(left is right for left, right in pairwise(row)) and not is_single(row) for row in grid]
    if sum(has_merged_cells) >= max(2, len(grid) / 2):
        return [*filter(None, [caption]), *table_lines([], _form_fields(grid), caption or title)]
    captions, header, rows = read_grid(grid)
    if any(cell.is_header for row in grid for cell in row):
        subject = grid[0][0].text if is_single(grid[0]) and grid[0][0].is_header else title
    else:
        subject = next(reversed(captions), title)
    return [*filter(None, [caption]), *captions, *table_lines(header, rows, caption or subject)]


def _form_fields(grid: Sequence[GridRow]) -> Iterator[TableRow]:
    """Yield the names and values of a form, whose rows are labels and the values beside them, in merged cells."""
    for row in grid:
        texts = [cell.text for cell in dict.fromkeys(row) if cell.text]
        if len(texts) == 1:
            yield TableLine(texts[0])
        elif len(texts) % 2:
            yield [texts[0], "; ".join(texts[1:])]
        else:
            yield from zip(texts[::2], texts[1::2], strict=True)


def row_contents(rows: Sequence[GridRow]) -> list[TableRow]:
    """Return the cells' texts of each row; a row that is a single cell becomes a `TableLine`."""
    return [TableLine(row[0].text) if is_single(row) else [cell.text for cell in row] for row in rows]


def header_depth(rows: Sequence[GridRow]) -> int:
    """Return how many of the first rows are the header (see `read_grid`); all rows have the same width."""
    depth = next((at for at, row in enumerate(rows) if not all(cell.is_header for cell in row)), len(rows))
    if depth == 0 and not rows[0][0].is_header:  # otherwise the file declares headers in the first column only
        depth = int(has_header(_cell_texts(rows)))
    while 0 < depth < len(rows) - 1 and _is_divided(rows, depth):
        depth += 1
    return depth


def _is_divided(rows: Sequence[GridRow], depth: int) -> bool:
    """Return True if the row at `depth` belongs to the header: it names the parts of merged cells in the row above."""
    above, row = rows[depth - 1], rows[depth]
    is_merged = [cell in (*above[at + 1:at + 2], *above[max(at - 1, 0):at]) for at, cell in enumerate(above)]
    if not any(is_merged) or not has_header(_cell_texts(rows[depth:])):
        return False
    if all(is_merged):  # only values in the next row tell names of parts from data
        return any(is_value(cell.text) for cell in rows[depth + 1])
    # Below a cell that is not merged stands its own lower half, or nothing.
    return all(row[at] is cell or not (is_merged[0] or row[at].text)
               for at, cell in enumerate(above) if not is_merged[at])


def is_single(row: GridRow) -> bool:
    """Return True if one cell spans the whole row."""
    return all(left is right for left, right in pairwise(row))


def _cell_texts(rows: Sequence[GridRow]) -> list[list[str]]:
    return [[cell.text for cell in row] for row in rows]


def place_cells(rows: Iterable[Sequence[tuple[GridCell, int, int]]]) -> list[list[GridCell]]:
    """Put each cell, given with the columns and rows that it spans, into its places; return [] if they are too many."""
    lines: list[dict[int, GridCell]] = []  # the cells of each row by their columns
    size = 0
    for at, row in enumerate(rows):
        lines += [{} for _ in range(at + 1 - len(lines))]
        column = 0
        for cell, columns, height in row:
            while column in lines[at]:  # a cell of a row above spans this place
                column += 1
            size += columns * height
            if column + columns > DEFAULT_LIMITS.table_columns or size > _MOST_CELLS:
                return []
            lines += [{} for _ in range(at + height - len(lines))]
            for line in lines[at:at + height]:
                line.update(dict.fromkeys(range(column, column + columns), cell))
    return [[line.get(column, GridCell("")) for column in range(max(line, default=-1) + 1)] for line in lines[:at + 1]]


# --- sheets

Merged = Mapping[tuple[int, int], int]  # the number of the merged cell that covers a place, given as row and column


class SheetRow(NamedTuple):
    """A row with its number in the sheet; a merged cell's text is in each of its places."""

    number: int
    cells: Sequence[str]


class TableBlock(NamedTuple):
    """Rows without a blank one between them, in some columns of a sheet."""

    rows: Sequence[SheetRow]
    columns: Sequence[int]  # its columns, in a sheet only those with text
    blank_rows: int  # the number of blank rows above it

    @property
    def head(self) -> Sequence[SheetRow]:
        """The rows that decide on its titles and its header."""
        return self.rows[:_HEAD]


def read_blocks(rows: Iterable[SheetRow]) -> Iterator[TableBlock]:
    """Yield the blocks of some rows in order."""
    blank_rows = 0
    for has_text, group in groupby(rows, lambda row: any(row.cells)):
        block_rows = list(group)
        if has_text:
            yield TableBlock(block_rows, range(max(len(row.cells) for row in block_rows)), blank_rows)
        blank_rows = 0 if has_text else len(block_rows)


def split_blocks(rows: Iterable[SheetRow]) -> Iterator[TableBlock]:
    """Yield the blocks of a sheet from top to bottom, and those beside each other from left to right."""
    for block in read_blocks(rows):
        parts = _side_by_side(block.rows)
        for part in parts if len(parts) > 1 else ():
            for inner in split_blocks(part):
                # A table beside another one never continues the table above it.
                yield inner._replace(blank_rows=max(inner.blank_rows, _FAR))
        if len(parts) == 1:
            yield block._replace(columns=_filled_columns(block.rows))


def sheet_lines(blocks: Sequence[TableBlock], title: str, merged: Merged) -> Iterator[str]:
    """Yield the lines of the tables in a sheet; see `table_lines`."""
    at, follows_table = 0, False
    while at < len(blocks):
        block, begin = blocks[at], at
        at += 1
        if follows_table:
            yield ""
        follows_table = not _is_single(block)
        if not follows_table:
            title = next(filter(None, block.rows[0].cells))
            yield title
            continue
        captions, header, head = _read_head(block, merged)
        number_columns = _number_columns(block, block.head)
        while at < len(blocks) and not _begins_table(blocks[at], block, header, number_columns):
            at += 1
        rest = (_row_cells(row, block.columns) for row in block.rows[_HEAD:])
        continuing = (row for other in blocks[begin + 1:at] for row in _continuing_rows(other, block, header))
        yield from captions
        lines = table_lines(header, chain(head, rest, continuing), next(reversed(captions), title))
        yield next(lines, "; ".join(filter(None, header)))  # a header without rows below it is text
        yield from lines


def _continuing_rows(block: TableBlock, above: TableBlock, header: Sequence[str]) -> Iterator[TableRow]:
    """Yield the rows of a block that continues the table above it, without a header that it repeats."""
    titles, rows = _split_titles(block)
    for row in titles:
        yield TableLine(next(filter(None, row.cells)))
    for row in chain(rows, block.rows[_HEAD:]):
        cells = _row_cells(row, above.columns)
        if not _is_repeated(cells, header):
            yield cells


def _begins_table(block: TableBlock, above: TableBlock, header: Sequence[str], number_columns: set[int]) -> bool:
    """Return True if a block is a table of its own, and False if it continues the table above it."""
    if _is_single(block):  # a single text is the title of the next table, or a heading among the rows
        return block.blank_rows >= _FAR or not header
    _, rows = _split_titles(block)
    if not set(block.columns) <= set(above.columns):
        return True
    if _is_repeated(_row_cells(rows[0], above.columns), header) or len(rows) == 1 or not has_header(
            [row.cells for row in rows]):
        return False
    # The first row may be a header. It is one if values are below it, or if it has texts in columns of values.
    has_texts_for_values = any(cell for at, cell in enumerate(rows[0].cells) if at in number_columns)
    return bool(_number_columns(block, rows)) or has_texts_for_values or block.blank_rows >= _FAR


def _number_columns(block: TableBlock, rows: Sequence[SheetRow]) -> set[int]:
    """Return the columns of a block in which numbers or dates stand below a text in the first of some rows."""
    return {at for at in block.columns if names_values([row.cells[at] if at < len(row.cells) else "" for row in rows])}


def _row_cells(row: SheetRow, columns: Sequence[int]) -> list[str]:
    """Return a row's cells in the columns of a table."""
    return [row.cells[at] for at in takewhile(lambda at: at < len(row.cells), columns)]


def _is_repeated(cells: Sequence[str], header: Sequence[str]) -> bool:
    """Return True if a row repeats a header; cells that either of them lacks count as empty."""
    return any(cells) and all(left == right for left, right in zip_longest(cells, header, fillvalue=""))


def _is_single(block: TableBlock) -> bool:
    """Return True if a block is one row with one text, which may be in several places of a merged cell."""
    return len(block.rows) == 1 and len(set(block.rows[0].cells) - {""}) == 1


def _split_titles(block: TableBlock) -> tuple[Sequence[SheetRow], Sequence[SheetRow]]:
    """Split the head of a block into titles (rows of one text above the first wider row) and the rest."""
    first_wide = next((at for at, row in enumerate(block.head) if len(set(row.cells) - {""}) > 1), 0)
    return block.head[:first_wide], block.head[first_wide:]


def _read_head(block: TableBlock, merged: Merged) -> GridTable:
    texts = [_row_cells(row, block.columns) for row in block.head]
    # In a grid of one column, each row would be a single cell that spans all columns, and so a line between rows.
    if max(map(len, texts)) <= 1:
        return ([], texts[0], [*texts[1:]]) if has_header(texts) else ([], [], [*texts])
    captions, header, rows = read_grid(_head_grid(block, merged))
    filled = {at for row in rows if not isinstance(row, TableLine) for at, cell in enumerate(row) if cell}
    if not rows or any(name and at in filled for at, name in enumerate(header)):
        return captions, header, rows
    # No named column has any text below its name, so these names are a row.
    return captions, [], [header, *rows]


def _head_grid(block: TableBlock, merged: Merged) -> list[GridRow]:
    """Return the head of a block as a grid, in which titles and merged cells span several places."""
    titles, rows = _split_titles(block)
    merged_cells: dict[int, GridCell] = {}

    def cell(row: SheetRow, at: int) -> GridCell:
        text = row.cells[at] if at < len(row.cells) else ""
        number = merged.get((row.number, at))
        return GridCell(text) if number is None else merged_cells.setdefault(number, GridCell(text))

    grid: list[GridRow] = [[cell(row, at) for at in block.columns] for row in rows]
    if not merged and len(grid) > 2:  # noqa: PLR2004 - two rows may be the header
        grid[0] = _spread_titles(*grid[:3])
    return [*([GridCell(next(filter(None, row.cells)))] * len(block.columns) for row in titles), *grid]


def _spread_titles(above: GridRow, below: GridRow, row: GridRow) -> GridRow:
    """Return the first row of a grid; if the second also is a header, names above several names span their columns."""
    spanned = [at for at, cell in enumerate(above) if at and not cell.text and below[at].text]
    if not spanned or any(is_value(cell.text) for cell in below) or not all(is_value(row[at].text) for at in spanned):
        return above
    top: list[GridCell] = []
    for cell in above:
        top.append(cell if cell.text else top[-1] if top else below[0])
    return top


def _side_by_side(rows: Sequence[SheetRow]) -> list[list[SheetRow]]:
    """Split rows at blank columns into tables that stand beside each other; a single part if they are one table."""
    columns, starts = _filled_columns(rows), list[int]()
    for before, start in pairwise(columns):
        if start == before + 1:
            continue
        left, right = [row.cells[:start] for row in rows], [row.cells[start:] for row in rows]
        left_rows, right_rows = ([at for at, cells in enumerate(part) if any(cells)] for part in (left, right))
        has_same_names = not set(filter(None, left[left_rows[0]])).isdisjoint(right[right_rows[0]])
        # Blank columns may also divide one table, whose parts have the same rows and other names.
        if _is_whole(left) and _is_whole(right) and (left_rows != right_rows or has_same_names):
            starts.append(start)
    edges = [0, *starts, 1 + max(columns, default=0)]
    # Blank cells on the left keep each cell in its column.
    return [[SheetRow(row.number, [*[""] * start, *row.cells[start:end]]) for row in rows]
            for start, end in pairwise(edges)]


def _is_whole(part: Sequence[Sequence[str]]) -> bool:
    """Return True if a part of a sheet is a complete table."""
    filled = [at for at, cells in enumerate(part) if any(cells)]
    columns = {at for cells in part for at, cell in enumerate(cells) if cell}
    first_column = min(columns, default=0)
    has_adjacent_rows = len(filled) > 1 and filled[-1] - filled[0] == len(filled) - 1
    return len(columns) > 1 and has_adjacent_rows and all(part[at][first_column] for at in filled)


def _filled_columns(rows: Sequence[SheetRow]) -> list[int]:
    return sorted({at for row in rows for at, cell in enumerate(row.cells) if cell})
