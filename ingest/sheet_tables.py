"""Find the tables among the rows of a sheet or CSV file: where each begins, its titles, its header and its rows.

A sheet may hold several tables, below and beside each other. It is first split into blocks: rows without a blank row
between them. A block may be a table, or continue the one above, because people also put blank rows between groups of a
table's rows.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, pairwise, takewhile, zip_longest
from typing import NamedTuple

from .grids import GridCell, GridRow, GridTable, read_grid
from .source_tables import TableLine, TableRow
from .table_lines import has_header, is_value, names_values, table_lines

_HEAD = 50  # the rows of a block that decide on its titles and its header
_FAR = 2
"""The number of blank rows that separate two tables of texts; tables with numbers or dates are told apart by these."""

Merged = Mapping[tuple[int, int], int]  # the number of the merged cell that covers a place, given as row and column


class SheetRow(NamedTuple):
    """A row with its number in the sheet; a merged cell's text is in each of its places."""

    number: int
    cells: Sequence[str]


class TableBlock(NamedTuple):
    """Rows without a blank one between them, in some columns of a sheet."""

    rows: Sequence[SheetRow]
    columns: Sequence[int]  # the columns that have any text in it
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
            yield TableBlock(block_rows, range(max(len(row.cells) for row in block_rows[:_HEAD])), blank_rows)
        blank_rows = 0 if has_text else len(block_rows)


def split_blocks(rows: Iterable[SheetRow]) -> Iterator[TableBlock]:
    """Yield the blocks of a sheet from top to bottom, and those beside each other from left to right."""
    for block in read_blocks(rows):
        parts = _side_by_side(block.rows)
        if len(parts) == 1:
            yield block._replace(columns=_filled_columns(block.rows))
        for part in parts if len(parts) > 1 else ():  # a part never continues the table above it
            yield from (inner._replace(blank_rows=max(inner.blank_rows, _FAR)) for inner in split_blocks(part))


def sheet_lines(blocks: Sequence[TableBlock], title: str, merged: Merged) -> Iterator[str]:
    """Yield the lines of the tables in a sheet; see `table_lines`.

    `title` is the subject of tables without a title of their own; a row of one text alone is the title of the next.
    """
    at, follows_table = 0, False
    while at < len(blocks):
        block, begin = blocks[at], at
        if follows_table:
            yield ""
        at += 1
        follows_table = not _is_single(block)
        if not follows_table:
            title = next(filter(None, block.rows[0].cells))
            yield title
            continue
        captions, header, head = _read_head(block, merged)
        numeric = _numeric_columns(block, block.head)
        while at < len(blocks) and not _begins_table(blocks[at], block, header, numeric):
            at += 1
        rest = (_row_cells(row, block.columns) for row in block.rows[_HEAD:])
        further = list[TableRow]()
        for other in blocks[begin + 1:at]:  # which continue the table, perhaps with a repeated header
            titles, rows = _split_titles(other)
            further += (TableLine(next(filter(None, row.cells))) for row in titles)
            further += (cells for row in chain(rows, other.rows[_HEAD:])
                        if not _is_repeated(cells := _row_cells(row, block.columns), header))
        yield from captions
        lines = table_lines(header, chain(head, rest, further), next(reversed(captions), title))
        yield next(lines, "; ".join(filter(None, header)))  # a header without rows below it is text
        yield from lines


def _begins_table(block: TableBlock, above: TableBlock, header: Sequence[str], numeric: set[int]) -> bool:
    """Return True if a block is a table of its own, and False if it continues the table above it."""
    _, rows = _split_titles(block)
    if _is_single(block):  # a single text is the title of the next table, or a heading among the rows
        return block.blank_rows >= _FAR or not header
    if not {at for row in rows for at, cell in enumerate(row.cells) if cell} <= set(above.columns):
        return True
    first = _row_cells(rows[0], above.columns)
    if _is_repeated(first, header) or len(rows) == 1 or not has_header([row.cells for row in rows]):
        return False
    # The first row may be a header. It is one if values are below it, or if it has texts in columns of values.
    has_texts_for_values = any(cell for at, cell in enumerate(rows[0].cells) if at in numeric)
    return bool(_numeric_columns(block, rows)) or has_texts_for_values or block.blank_rows >= _FAR


def _numeric_columns(block: TableBlock, rows: Sequence[SheetRow]) -> set[int]:
    """Return the columns of a block in which numbers or dates stand below a text in the first of some rows."""
    return {at for at in block.columns
            if names_values([row.cells[at] if at < len(row.cells) else "" for row in rows])}


def _row_cells(row: SheetRow, columns: Sequence[int]) -> list[str]:
    """Return a row's cells in the columns of a table, and any cells with text beyond the last column."""
    cells = [row.cells[at] for at in takewhile(lambda at: at < len(row.cells), columns)]
    beyond = row.cells[columns[-1] + 1:]
    return [*cells, *beyond] if any(beyond) else cells


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


# --- headers


def _read_head(block: TableBlock, merged: Merged) -> GridTable:
    texts = [_row_cells(row, block.columns) for row in block.head]
    # In a grid of one column, each row would be a single cell that spans all columns, and so a line between rows.
    if max(map(len, texts)) <= 1:
        return GridTable([], texts[0], [*texts[1:]]) if has_header(texts) else GridTable([], [], [*texts])
    captions, header, rows = read_grid(_head_grid(block, merged))
    filled = {at for row in rows if not isinstance(row, TableLine) for at, cell in enumerate(row) if cell}
    is_header = not rows or any(name and at in filled for at, name in enumerate(header))
    if is_header:
        return GridTable(captions, header, rows)
    # No named column has any text below its name, so these names are a row.
    return GridTable(captions, [], [header, *rows])


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
        grid[:2] = _spread_titles(grid)
    extra = [[GridCell(text) for text in row.cells[block.columns[-1] + 1:]] for row in rows]
    grid = [[*row, *more] for row, more in zip(grid, extra, strict=True)]
    width = max(map(len, grid))
    return [*([GridCell(next(filter(None, row.cells)))] * width for row in titles), *grid]


def _spread_titles(grid: Sequence[GridRow]) -> list[GridRow]:
    """Return the first two rows of a grid; if both are a header, a name above several names spans their columns."""
    above, below, *rows = grid
    names_below_blanks = [at for at, cell in enumerate(above) if not cell.text and below[at].text]
    names_after_first = [at for at in names_below_blanks if at > 0]
    texts = [[cell.text for cell in row] for row in (below, *rows)]
    is_header = (bool(names_after_first) and len(names_below_blanks) < len(above) - 1 and has_header(texts)
                 and not any(is_value(cell.text) for cell in below if cell.text)
                 and all(is_value(rows[0][at].text) for at in names_after_first))
    if not is_header:
        return [above, below]
    top: list[GridCell] = []
    for at, cell in enumerate(above):
        if cell.text:
            top.append(cell)
        else:
            top.append(top[-1] if top else below[at])
    return [top, below]


# --- tables beside each other


def _side_by_side(rows: Sequence[SheetRow]) -> list[list[SheetRow]]:
    """Split rows at blank columns into tables that stand beside each other; a single part if they are one table."""
    columns, starts = _filled_columns(rows), list[int]()
    for before, start in pairwise(columns):
        left, right = [row.cells[:start] for row in rows], [row.cells[start:] for row in rows]
        if start == before + 1 or not _is_whole(left) or not _is_whole(right):
            continue
        left_rows, right_rows = ([at for at, cells in enumerate(part) if any(cells)] for part in (left, right))
        has_same_names = not set(filter(None, left[left_rows[0]])).isdisjoint(right[right_rows[0]])
        if left_rows != right_rows or has_same_names:
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
