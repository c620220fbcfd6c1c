"""Tables among the rows of a sheet or CSV file: where each begins, its titles, its header and its rows.

A sheet may hold several tables, below and beside each other. A blank row alone does not end a table, because people
also put blank rows between groups of its rows.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice, pairwise, takewhile, zip_longest
from typing import NamedTuple

from .grids import GridCell, GridRow, GridTable, read_grid
from .table_lines import TableLine, has_header, is_value, table_lines

_HEAD = 50
"""The rows of a block that decide on its titles and its header; the rest is streamed."""
_FAR = 2
"""So many blank rows separate two tables of texts; those with numbers or dates differ by them."""
_MOSTLY = 0.8

Merged = Mapping[tuple[int, int], int]
"""The number of the merged cell that covers a place, given as row and column."""


class SheetRow(NamedTuple):
    """A row with its number in the sheet; a merged cell's text is in each of its places."""

    number: int
    cells: Sequence[str]


class TableBlock(NamedTuple):
    """Rows without a blank one between them, in some columns of a sheet."""

    head: list[SheetRow]
    rest: Iterator[SheetRow]
    columns: Sequence[int]
    blank_rows: int
    """The blank rows above it."""


def stream_blocks(rows: Iterable[Sequence[str]]) -> Iterator[TableBlock]:
    """Yield the blocks of rows in order; each one must be consumed before the next."""
    blank_rows = 0
    numbered = (SheetRow(number, cells) for number, cells in enumerate(rows))
    for has_text, group in groupby(numbered, lambda row: any(row.cells)):
        if not has_text:
            blank_rows = sum(1 for _ in group)
            continue
        following = iter(group)
        head = list(islice(following, _HEAD))
        yield TableBlock(head, following, range(max(len(row.cells) for row in head)), blank_rows)
        blank_rows = 0


def split_blocks(rows: Sequence[SheetRow]) -> Iterator[TableBlock]:
    """Yield the blocks of a sheet: from top to bottom, and those beside each other from left to right."""
    blank_rows = 0
    for has_text, group in groupby(rows, lambda row: any(row.cells)):
        part = list(group)
        parts = _side_by_side(part) if has_text else []
        if len(parts) == 1:
            yield TableBlock(part[:_HEAD], iter(part[_HEAD:]), _fill_names(part), blank_rows)
        for beside in parts if len(parts) > 1 else ():
            yield from (block._replace(blank_rows=max(block.blank_rows, _FAR)) for block in split_blocks(beside))
        blank_rows = 0 if has_text else len(part)


def sheet_lines(blocks: Iterator[TableBlock], title: str, merged: Merged) -> Iterator[str]:
    """Yield the lines of the tables in a sheet; see `table_lines`.

    Args:
        blocks: the sheet's blocks.
        title: the subject of a table without its own title.
        merged: the places that merged cells cover.
    """
    block, is_first = next(blocks, None), True
    while block is not None:
        if not is_first:
            yield ""
        is_first = False
        if _is_single(block):
            title = next(filter(None, block.head[0].cells))
            yield title
            block, is_first = next(blocks, None), True
        else:
            block = yield from _table(block, blocks, title, merged)


def _table(block: TableBlock, blocks: Iterator[TableBlock], title: str, merged: Merged,
           ) -> Generator[str, None, TableBlock | None]:
    """Yield the lines of the table that a block begins; return the block that begins the next one."""
    captions, header, head = _read_head(block, merged)
    yield from captions
    following: list[TableBlock] = []
    numeric = _numeric(block, block.head)

    def rows() -> Iterator[Sequence[str] | TableLine]:
        yield from head
        yield from (_cells(row, block.columns) for row in block.rest)
        for other in blocks:
            if _begins_table(other, block, header, numeric):
                following.append(other)
                return
            yield from _further_rows(other, block, header)

    lines = table_lines(header, rows(), next(reversed(captions), title))
    yield next(lines, "; ".join(filter(None, header)))  # names without rows below them are text
    yield from lines
    return following[0] if following else next(blocks, None)


def _further_rows(other: TableBlock, block: TableBlock, header: Sequence[str]) -> Iterator[Sequence[str] | TableLine]:
    """Yield the rows of a block that continues a table, without its repeated header."""
    titles, rows = _split_titles(other)
    yield from (TableLine(next(filter(None, row.cells))) for row in titles)
    yield from (cells for row in chain(rows, other.rest)
                if not _is_repeated(cells := _cells(row, block.columns), header))


def _begins_table(block: TableBlock, above: TableBlock, header: Sequence[str], numeric: frozenset[int]) -> bool:
    """Return True if a block is a table of its own, rather than more rows of the one above it."""
    _, rows = _split_titles(block)
    if _is_single(block):
        return block.blank_rows >= _FAR or not header
    if not {at for row in rows for at, cell in enumerate(row.cells) if cell} <= set(above.columns):
        return True
    first = _cells(rows[0], above.columns)
    if _is_repeated(first, header) or len(rows) == 1 or not has_header([row.cells for row in rows]):
        return False
    # A header is known by the values below it, or by texts where the table above has values.
    return bool(_numeric(block, rows)) or any(rows[0].cells[at:at + 1] not in ([], [""]) for at in numeric) or (
        block.blank_rows >= _FAR)


def _numeric(block: TableBlock, rows: Sequence[SheetRow]) -> frozenset[int]:
    """Return the columns of numbers or dates below a first row with another text."""
    return frozenset(at for at in block.columns if _is_named(at, rows))


def _is_named(at: int, rows: Sequence[SheetRow]) -> bool:
    name, *below = [row.cells[at] if at < len(row.cells) else "" for row in rows]
    values = list(map(is_value, filter(None, below)))
    return bool(name and values) and not is_value(name) and sum(values) >= _MOSTLY * len(values)


def _cells(row: SheetRow, columns: Sequence[int]) -> list[str]:
    """Return a row's cells in the columns of a table, as far as it has them, and what follows the last one."""
    cells = [row.cells[at] for at in takewhile(lambda at: at < len(row.cells), columns)]
    beyond = row.cells[columns[-1] + 1:]
    return [*cells, *beyond] if any(beyond) else cells


def _is_repeated(cells: Sequence[str], header: Sequence[str]) -> bool:
    """Return True if a row repeats a header, which may have more columns."""
    return any(cells) and all(left == right for left, right in zip_longest(cells, header, fillvalue=""))


def _is_single(block: TableBlock) -> bool:
    return len(block.head) == 1 and len(set(block.head[0].cells) - {""}) == 1


def _split_titles(block: TableBlock) -> tuple[list[SheetRow], list[SheetRow]]:
    """Return the rows of a single text above wider ones, and the other rows of a block's head."""
    wide = next((at for at, row in enumerate(block.head) if len(set(row.cells) - {""}) > 1), 0)
    return block.head[:wide], block.head[wide:]


# --- headers


def _read_head(block: TableBlock, merged: Merged) -> GridTable:
    texts = [_cells(row, block.columns) for row in block.head]
    if max(map(len, texts)) > 1:
        captions, header, rows = read_grid(_grid(block, merged))
        below = {at for row in rows if not isinstance(row, TableLine) for at, cell in enumerate(row) if cell}
        is_used = not rows or any(name and at in below for at, name in enumerate(header))
        return GridTable(captions, header, rows) if is_used else GridTable(captions, [], [header, *rows])
    return GridTable([], texts[0], [*texts[1:]]) if has_header(texts) else GridTable([], [], [*texts])


def _grid(block: TableBlock, merged: Merged) -> list[GridRow]:
    """Return the head of a block as a grid, in which a title spans all columns, and a name those that it covers."""
    titles, rows = _split_titles(block)
    shared: dict[int, GridCell] = {}

    def cell(row: SheetRow, at: int) -> GridCell:
        text = row.cells[at] if at < len(row.cells) else ""
        number = merged.get((row.number, at))
        return GridCell(text) if number is None else shared.setdefault(number, GridCell(text))

    grid: list[GridRow] = [[cell(row, at) for at in block.columns] for row in rows]
    if not merged and len(grid) > _FAR:
        grid[:2] = _spread(grid)
    extra = [[GridCell(text) for text in row.cells[block.columns[-1] + 1:]] for row in rows]
    grid = [[*row, *more] for row, more in zip(grid, extra, strict=True)]
    width = max(map(len, grid))
    return [*([GridCell(next(filter(None, row.cells)))] * width for row in titles), *grid]


def _spread(grid: Sequence[GridRow]) -> list[GridRow]:
    """Return the first two rows, and let each name above blanks cover the names below them ("2023" over two columns).

    They are changed only if both are rows of names, and values are below them.
    """
    above, below, *rows = grid
    blanks = [at for at, cell in enumerate(above) if not cell.text]
    names = [at for at in blanks if below[at].text]
    texts = [[cell.text for cell in row] for row in (below, *rows)]
    is_header = (len(names) < len(above) - 1 and names[-1:] > [0] and has_header(texts)
                 and not any(is_value(cell.text) for cell in below if cell.text)
                 and all(is_value(rows[0][at].text) for at in names if at))
    if not is_header:
        return [above, below]
    top: list[GridCell] = []
    for at, cell in enumerate(above):
        top.append(cell if cell.text else below[at] if at == 0 else top[-1])
    return [top, below]


# --- tables beside each other


def _side_by_side(rows: Sequence[SheetRow]) -> list[list[SheetRow]]:
    """Split rows at blank columns into tables that stand beside each other."""
    columns = _fill_names(rows)
    starts = [right for left, right in pairwise(columns) if right > left + 1
              and _stand_apart([row.cells[:right] for row in rows], [row.cells[right:] for row in rows])]
    edges = [0, *starts, 1 + max(columns, default=0)]
    return [[SheetRow(row.number, [*[""] * start, *row.cells[start:end]]) for row in rows]
            for start, end in pairwise(edges)]


def _stand_apart(left: Sequence[Sequence[str]], right: Sequence[Sequence[str]]) -> bool:
    """Return True if two parts of some rows are whole tables that fill other rows or repeat names of columns."""
    filled = [[at for at, cells in enumerate(part) if any(cells)] for part in (left, right)]
    names = [set(filter(None, part[rows[0]])) for part, rows in zip((left, right), filled, strict=True)]
    return (_is_whole(left, filled[0]) and _is_whole(right, filled[1])
            and (filled[0] != filled[1] or bool(names[0] & names[1])))


def _is_whole(part: Sequence[Sequence[str]], filled: Sequence[int]) -> bool:
    """Return True if a part has at least two columns and rows, and a text in the first column of each row."""
    first = min((at for cells in part for at, cell in enumerate(cells) if cell), default=0)
    wide = {at for cells in part for at, cell in enumerate(cells) if cell}
    return (len(wide) > 1 and len(filled) > 1 and filled[-1] - filled[0] == len(filled) - 1
            and all(part[at][first] for at in filled))


def _fill_names(rows: Sequence[SheetRow]) -> list[int]:
    return sorted({at for row in rows for at, cell in enumerate(row.cells) if cell})
