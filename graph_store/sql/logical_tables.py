"""The tables of all documents as logical tables: tables with the same header are one, each row with its document."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import NamedTuple

from ...schemas.documents import SourceTable
from ...schemas.naming import normalise
from .sql_names import NameSpace, snake_case

DOCUMENT, SECTION = "document", "section"
"""The columns that a logical table has beside its own: the document of each row, and its table's title there."""
HIDDEN = ("_document", "_start", "_end")
"""The columns behind those of a table, which say where its rows stand; no other name begins like these."""
_WORD_OR_NUMBER = re.compile(r"[^\W\d_]+|\d+")
_Header = tuple[tuple[str, int], ...]
"""The folded name of each column, sorted, with its number among those of the same name."""


class Place(NamedTuple):
    """Where a row stands: start and end in a document's text; both 0 for the document as a whole."""

    document: str
    start: int
    end: int


class SourceColumn(NamedTuple):
    """A column of a logical table: its name in SQL, its title, and its cells as written."""

    name: str
    title: str
    cells: list[str]


@dataclass
class LogicalTable:
    """A table over one document or several, with its rows in the order of documents and of their texts."""

    name: str
    title: str
    columns: list[SourceColumn] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)


class _Part(NamedTuple):
    document: str
    table: SourceTable


def logical_tables(tables: Iterable[tuple[str, SourceTable]], names: NameSpace) -> list[LogicalTable]:
    """Return the logical tables of the tables of documents, sorted by name.

    Args:
        tables: the tables, each with its document's id, in the order of the ids and of the texts.
        names: gives the tables their names in SQL.
    """
    groups: dict[_Header, list[_Part]] = {}
    tables_of = Counter[str]()
    for document, table in tables:
        if table.columns and table.rows:
            parts = groups.setdefault(_header(table.columns), [])
            tables_of[document] += not any(part.document == document for part in parts[-1:])
            parts.append(_Part(document, table))
    return sorted((_join(parts, names, tables_of) for parts in groups.values()), key=lambda table: table.name)


def _header(columns: Sequence[str]) -> _Header:
    return tuple(sorted(_keys(columns)))


def _keys(columns: Iterable[str]) -> list[tuple[str, int]]:
    """Return the folded name of each column with its number among those of the same name."""
    seen = Counter[str]()
    keys = []
    for name in map(normalise, columns):
        seen[name] += 1
        keys.append((name, seen[name]))
    return keys


def _join(parts: Sequence[_Part], names: NameSpace, tables_of: Mapping[str, int]) -> LogicalTable:
    """Return the logical table of some tables with the same header; its columns are in the order of the first one."""
    title = _title(parts, tables_of)
    table = LogicalTable(names.take(title, "records"), title)
    columns = NameSpace([DOCUMENT])
    titles = parts[0].table.columns
    for number, (column, cells) in enumerate(zip(titles, zip(*_aligned_rows(parts), strict=True), strict=True), 1):
        table.columns.append(SourceColumn(columns.take(column, f"column_{number}"), column, list(cells)))
    if len({part.table.title for part in parts}) > 1:
        sections = [part.table.title for part in parts for _ in part.table.rows]
        table.columns.append(SourceColumn(columns.take(SECTION, SECTION), SECTION, sections))
    table.places = [Place(part.document, *span) for part in parts for span in part.table.spans]
    return table


def _aligned_rows(parts: Sequence[_Part]) -> Iterable[Sequence[str]]:
    """Yield the rows of tables with the same header, with their cells in the order of the first one's columns."""
    order = _keys(parts[0].table.columns)
    for part in parts:
        own = _keys(part.table.columns)
        if own == order:
            yield from part.table.rows
        else:
            places = [own.index(key) for key in order]
            yield from ([row[place] for place in places] for row in part.table.rows)


def _title(parts: Sequence[_Part], tables_of: Mapping[str, int]) -> str:
    """Return what a logical table is called: by its file, or if it is of several files by the title they share."""
    titles = {part.table.title for part in parts}
    documents = {part.document for part in parts}
    shared = titles.pop() if len(titles) == 1 else ""
    if len(documents) == 1:
        (document,) = documents
        return f"{_stem(document)} {shared}".strip() if tables_of[document] > 1 else _stem(document)
    return shared or _shared_name(sorted(documents))


def _shared_name(documents: Sequence[str]) -> str:
    """Return the words that the names of files share, or the folder that they share, or else the first file's name."""
    words = [_WORD_OR_NUMBER.findall(snake_case(_stem(document))) for document in documents]
    shared = [word for word in words[0] if all(word in of_one for of_one in words)]
    folders = {PurePath(document).parent.name for document in documents}
    return " ".join(shared) or (folders.pop() if len(folders) == 1 else "") or _stem(documents[0])


def _stem(document: str) -> str:
    return PurePath(document).stem
