"""The tables of all documents as logical tables: tables with the same header are one, each row with its document.

Tables and columns get names in SQL, made of what documents call them.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePath
from typing import NamedTuple

import duckdb

from ...ingest.reference_lists import TITLE as REFERENCES
from ...schemas.documents import SourceTable
from ...schemas.naming import normalise

DOCUMENT, SECTION = "document", "section"
"""The columns that a logical table has beside its own: the document of each row, and its table's title there."""
OWN_FIELDS = (DOCUMENT, "title", "source")
"""The columns that the table of documents has beside their fields."""
HIDDEN = ("_document", "_start", "_end")
"""The columns behind those of a table, which say where its rows stand; no other name begins like these."""
_WORD_OR_NUMBER = re.compile(r"[^\W\d_]+|\d+")
_Header = tuple[tuple[str, int], ...]
"""The folded name of each column, sorted, with its number among those of the same name."""
_LONGEST_NAME = 60
_BETWEEN_WORDS = re.compile(r"[\W_]+")
_CASE_CHANGE = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PLURAL = re.compile(r"(?<=.)(?:ies|s)$")
_FURTHER_WORDS = frozenset({
    "alter", "between", "current_catalog", "current_date", "current_time", "current_timestamp", "current_user", "drop",
    "force", "grant", "if", "insert", "install", "localtime", "localtimestamp", "map", "revoke", "rollback", "rowid",
    "session_user", "user", "values"})
"""Words that only sqlglot reads as its own, and what DuckDB has without brackets."""


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


def snake_case(title: str) -> str:
    """Return a title as a name in snake case, with letters of any script; "" if it has neither letter nor digit."""
    words = _CASE_CHANGE.sub("_", unicodedata.normalize("NFKC", title)).lower()
    return _BETWEEN_WORDS.sub("_", words)[:_LONGEST_NAME].strip("_")


class NameSpace:
    """The names of the tables of a file, or of the columns of a table, each given once."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._taken = set(reserved)

    def take(self, title: str, otherwise: str) -> str:
        """Return a free name for a title, or for `otherwise` if the title has no letters and digits."""
        wanted = snake_case(title) or otherwise
        if wanted[:1].isdigit():  # a name needs no quotation marks in a statement
            wanted = f"_{wanted}"
        elif wanted in _FURTHER_WORDS or wanted in _reserved_words():
            wanted = f"{wanted}_"
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted.rstrip('_')}_{number}"
        self._taken.add(name)
        return name


@cache
def _reserved_words() -> frozenset[str]:
    with duckdb.connect(config={"threads": 1, "async_threads": 0}) as connection:
        words = connection.execute("SELECT keyword_name FROM duckdb_keywords() "
                                   "WHERE keyword_category IN ('reserved', 'type_function')").fetchall()
    return frozenset(word for (word,) in words)


def make_logical_tables(tables: Iterable[tuple[str, SourceTable]], names: NameSpace) -> list[LogicalTable]:
    """Return the logical tables of documents' tables, which come in the order of ids and texts, sorted by name."""
    groups: dict[_Header, list[_Part]] = {}
    tables_of = Counter[str]()
    for document, table in tables:
        if table.columns and table.rows:
            parts = groups.setdefault(tuple(sorted(_header_keys(table.columns))), [])
            tables_of[document] += not any(part.document == document for part in parts[-1:])
            parts.append(_Part(document, table))
    return sorted((_join_parts(parts, names, tables_of) for parts in groups.values()), key=lambda table: table.name)


def _header_keys(columns: Iterable[str]) -> list[tuple[str, int]]:
    """Return the folded name of each column with its number among those of the same name."""
    seen = Counter[str]()
    keys = []
    for name in map(normalise, columns):
        seen[name] += 1
        keys.append((name, seen[name]))
    return keys


def _join_parts(parts: Sequence[_Part], names: NameSpace, tables_of: Mapping[str, int]) -> LogicalTable:
    """Return the logical table of some tables with the same header; its columns are in the order of the first one."""
    title = _choose_title(parts, tables_of)
    table = LogicalTable(names.take(title, "records"), title)
    columns = NameSpace([DOCUMENT])
    titles = parts[0].table.columns
    for number, (column, cells) in enumerate(zip(titles, zip(*_align_rows(parts), strict=True), strict=True), 1):
        table.columns.append(SourceColumn(columns.take(column, f"column_{number}"), column, list(cells)))
    if len({part.table.title for part in parts}) > 1:
        sections = [part.table.title for part in parts for _ in part.table.rows]
        table.columns.append(SourceColumn(columns.take(SECTION, SECTION), SECTION, sections))
    table.places = [Place(part.document, *span) for part in parts for span in part.table.spans]
    return table


def _align_rows(parts: Sequence[_Part]) -> Iterable[Sequence[str]]:
    """Yield the rows of tables with the same header, with their cells in the order of the first one's columns."""
    order = _header_keys(parts[0].table.columns)
    for part in parts:
        own = _header_keys(part.table.columns)
        if own == order:
            yield from part.table.rows
        else:
            places = [own.index(key) for key in order]
            yield from ([row[place] for place in places] for row in part.table.rows)


def _choose_title(parts: Sequence[_Part], tables_of: Mapping[str, int]) -> str:
    """Return what a logical table is called: by its file, or if it is of several files by the title they share."""
    titles = {part.table.title for part in parts}
    documents = {part.document for part in parts}
    shared = titles.pop() if len(titles) == 1 else ""
    if len(documents) == 1 and shared != REFERENCES:
        (document,) = documents
        return f"{_file_stem(document)} {shared}".strip() if tables_of[document] > 1 else _file_stem(document)
    # Else by the words that the names of the files share, or the folder that they share, or the first file's name.
    words = [_WORD_OR_NUMBER.findall(snake_case(_file_stem(document))) for document in sorted(documents)]
    shared_words = [word for word in words[0] if all(word in of_one for of_one in words)]
    folders = {PurePath(document).parent.name for document in documents}
    shared_folder = folders.pop() if len(folders) == 1 else ""
    return shared or " ".join(shared_words) or shared_folder or _file_stem(min(documents))


def join_fields(documents: Sequence[Mapping[str, str]]) -> list[SourceColumn]:
    """Return the fields of documents as columns; "author" in some and "authors" in others are one field.

    They are two fields if a document has both. The more frequent form is the title.
    """
    counts = Counter(name for fields in documents for name in fields)
    forms = defaultdict[str, list[str]](list)
    for name in sorted(counts, key=lambda name: (-counts[name], name)):
        forms[_PLURAL.sub(lambda end: "y" if end[0] == "ies" else "", name.casefold())].append(name)
    joined = list[list[str]]()
    for names in forms.values():
        is_one = len(names) == 1 or sum(counts[name] for name in names) == sum(
            not fields.keys().isdisjoint(names) for fields in documents)
        joined += [names] if is_one else [[name] for name in names]
    columns = NameSpace(OWN_FIELDS)
    return [SourceColumn(columns.take(names[0], "field"), names[0],
                         ["".join(fields.get(name, "") for name in names) for fields in documents])
            for names in sorted(joined)]


def _file_stem(document: str) -> str:
    return PurePath(document).stem
