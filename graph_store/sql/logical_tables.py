"""The tables of all documents as tables of SQL: their names, their rows, and their columns with types.

Tables with the same header, whatever documents they are in, are one logical table; each row has its document. Tables
and columns get names in SQL, made of what documents call them.
"""

import datetime
import math
import re
import tomllib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from decimal import Decimal
from heapq import nsmallest
from itertools import chain
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import duckdb
import numpy as np
from numpy.typing import NDArray

from ...ingest.reference_lists import TITLE as REFERENCES
from ...schemas.documents import SourceTable
from ...schemas.naming import normalise
from ...schemas.records import ColumnInfo, ColumnKind, TableInfo, TableKind
from .column_values import type_columns

MAIN = "kb"  # the name by which a connection has the database of the tables
DOCUMENT, SECTION = "document", "section"
"""The columns that a logical table has beside its own: the document of each row, and its table's title there."""
OWN_FIELDS = (DOCUMENT, "title", "source")  # the columns that the table of documents has beside their fields
HIDDEN = ("_document", "_start", "_end")
"""The columns behind those of a table, which say where its rows stand; no other name begins like these."""
_WORD_OR_NUMBER = re.compile(r"[^\W\d_]+|\d+")
_Header = tuple[tuple[str, int], ...]
"""The folded name of each column, sorted, with its number among those of the same name."""
_LONGEST_NAME = 60  # characters of a name in SQL: longer titles are sentences
_BETWEEN_WORDS = re.compile(r"[\W_]+")
_CASE_CHANGE = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PLURAL = re.compile(r"(?<=.)(?:ies|s)$")
ALLOWED = tomllib.loads(Path(__file__).with_name("allowed.toml").read_text("utf-8"))
_RESERVED_WORDS = frozenset(ALLOWED["reserved"].split())


class Place(NamedTuple):
    """The place of a row: start and end in a document's text; both 0 for the document as a whole."""

    document: str
    start: int
    end: int


class SourceColumn(NamedTuple):
    """A column of a logical table: its name in SQL, its title, and its cells as written."""

    name: str
    title: str
    cells: list[str]


class LogicalTable(NamedTuple):
    """A table over one document or several, with its rows in the order of documents and of their texts."""

    name: str
    title: str
    columns: list[SourceColumn]
    places: list[Place]


class _Part(NamedTuple):
    """A table of one document, which becomes a logical table alone or with others."""

    document: str
    table: SourceTable


def snake_case(title: str) -> str:
    """Return a title as a name in snake case, with letters of any script; "" if it has neither letter nor digit."""
    words = _CASE_CHANGE.sub("_", unicodedata.normalize("NFKC", title)).lower()
    return _BETWEEN_WORDS.sub("_", words)[:_LONGEST_NAME].strip("_")


def quoted(name: str) -> str:
    """Return a name as SQL quotes it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as SQL quotes it."""
    return "'" + text.replace("'", "''") + "'"


class NameSpace:
    """The names of the tables of a file, or of the columns of a table, each given once."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._taken = set(reserved)

    def take(self, title: str, otherwise: str) -> str:
        """Return a free name for a title, or for `otherwise` if the title has no letters and digits."""
        wanted = snake_case(title) or otherwise
        if wanted[:1].isdigit():  # a name needs no quotation marks in a statement
            wanted = f"_{wanted}"
        elif wanted in _RESERVED_WORDS:
            wanted = f"{wanted}_"
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted.rstrip('_')}_{number}"
        self._taken.add(name)
        return name


def make_logical_tables(tables: Iterable[tuple[str, SourceTable]], names: NameSpace) -> list[LogicalTable]:
    """Return the logical tables of documents' tables, which come in the order of ids and texts, sorted by name.

    Tables with the same header are one, and so are the records of a folder that are alone in their documents and share
    a field, such as forms with optional fields.
    """
    parts = [_Part(document, table) for document, table in tables if table.columns and table.rows]
    table_counts = Counter(part.document for part in parts)
    records_in = defaultdict[str, list[_Part]](list)  # by folder: the records that are alone in their documents
    for part in parts:
        if table_counts[part.document] == 1 and len(part.table.rows) == 1:
            records_in[str(PurePath(part.document).parent)].append(part)
    shared_field = {folder: _most_shared_key(records) for folder, records in records_in.items()}
    groups = defaultdict[str | _Header, list[_Part]](list)  # by what makes one table of them: a folder or a header
    headers_of = defaultdict[str, set[_Header]](set)
    for part in parts:
        folder, header = str(PurePath(part.document).parent), tuple(sorted(_header_keys(part.table.columns)))
        headers_of[part.document].add(header)
        is_alone = table_counts[part.document] == 1 and len(part.table.rows) == 1
        groups[folder if is_alone and shared_field[folder] in header else header].append(part)
    of_several_headers = {document for document, headers in headers_of.items() if len(headers) > 1}
    joined = [_join_parts(group, names, of_several_headers) for group in groups.values()]
    return sorted(joined, key=lambda table: table.name)


def _most_shared_key(records: Sequence[_Part]) -> tuple[str, int] | None:
    """Return the column that more than half of some records share; None if they do not become one table by it."""
    counts = Counter(key for record in records for key in _header_keys(record.table.columns))
    key, count = counts.most_common(1)[0]
    has_optional_columns = any(number < len(records) for number in counts.values())  # else their header joins them
    is_shared = count > len(records) / 2
    return key if has_optional_columns and is_shared else None


def _header_keys(columns: Iterable[str]) -> list[tuple[str, int]]:
    """Return the folded name of each column with its number among those of the same name."""
    seen = Counter[str]()
    keys = []
    for name in map(normalise, columns):
        seen[name] += 1
        keys.append((name, seen[name]))
    return keys


def _join_parts(parts: Sequence[_Part], names: NameSpace, of_several_headers: Set[str]) -> LogicalTable:
    """Return the logical table of some tables; `of_several_headers` are documents with tables of several headers."""
    title, column_names = _choose_title(parts, of_several_headers), NameSpace([DOCUMENT])
    places_of = [{key: place for place, key in enumerate(_header_keys(part.table.columns))} for part in parts]
    titles = dict[tuple[str, int], str]()  # of columns, in the order of the first table, then of those that add some
    for part, places in zip(parts, places_of, strict=True):
        for key, place in places.items():
            titles.setdefault(key, part.table.columns[place])
    columns = list[SourceColumn]()
    for number, (key, column) in enumerate(titles.items(), 1):
        cells = list[str]()
        for part, places in zip(parts, places_of, strict=True):
            cells += [row[places[key]] if key in places else "" for row in part.table.rows]
        columns.append(SourceColumn(column_names.take(column, f"column_{number}"), column, cells))
    if len({part.table.title for part in parts}) > 1:
        sections = [part.table.title for part in parts for _ in part.table.rows]
        columns.append(SourceColumn(column_names.take(SECTION, SECTION), SECTION, sections))
    rows = [Place(part.document, *span) for part in parts for span in part.table.spans]
    return LogicalTable(names.take(title, "records"), title, columns, rows)


def _choose_title(parts: Sequence[_Part], of_several_headers: Set[str]) -> str:
    """Return what a logical table is called: by its file, or if it is of several files by the title they share."""
    titles = {part.table.title for part in parts}
    documents = {part.document for part in parts}
    shared = titles.pop() if len(titles) == 1 else ""
    paths = [PurePath(document) for document in sorted(documents)]
    if len(documents) == 1 and shared != REFERENCES:  # a list of references is called so in any knowledge base
        # A file with several tables needs their titles to tell them apart.
        return f"{paths[0].stem} {shared}".strip() if documents <= of_several_headers else paths[0].stem
    # Else by the words that the names of the files share, or the folder that they share, or the first file's name.
    words = [_WORD_OR_NUMBER.findall(snake_case(path.stem)) for path in paths]
    shared_words = [word for word in words[0] if all(word in of_one for of_one in words)]
    folders = {path.parent.name for path in paths}
    shared_folder = folders.pop() if len(folders) == 1 else ""
    return shared or " ".join(shared_words) or shared_folder or paths[0].stem


def join_fields(documents: Sequence[Mapping[str, str]]) -> list[SourceColumn]:
    """Return the fields of documents as columns; "author" in some and "authors" in others are one field."""
    counts = Counter(name for fields in documents for name in fields)
    forms = defaultdict[str, list[str]](list)  # by the singular, most frequent first
    for name in sorted(counts, key=lambda name: (-counts[name], name)):
        forms[_PLURAL.sub(lambda end: "y" if end[0] == "ies" else "", name.casefold())].append(name)
    joined = list[list[str]]()  # the forms of each column
    for names in forms.values():
        are_different = any(len(fields.keys() & set(names)) > 1 for fields in documents)
        joined += [[name] for name in names] if are_different else [names]
    column_names, columns = NameSpace(OWN_FIELDS), list[SourceColumn]()
    for names in sorted(joined):
        cells = ["; ".join(fields[name] for name in names if name in fields) for fields in documents]
        columns.append(SourceColumn(column_names.take(names[0], "field"), names[0], cells))
    return columns


_MOST_FREQUENT, _LONGEST_SHOWN = 8, 60  # how many of a column's frequent values are listed, and characters of each
_SQL_TYPES = {"list": "VARCHAR[]", "boolean": "BOOLEAN"}
_DIGITS = 15  # significant digits of a number: those that a float has for certain
_LARGEST_INTEGER = 2**53  # numbers up to this are exact as floats, in which they are read


class SqlColumn(NamedTuple):
    """A column as it is stored: its values, with None where it has none, and what `banyan tables` says of it."""

    sql_type: str
    values: NDArray[Any]
    info: ColumnInfo


def make_typed_columns(columns: Sequence[SourceColumn], names: NameSpace) -> Iterator[SqlColumn]:
    """Yield the columns of a table as they are typed, and the columns beside them."""
    all_typed = type_columns([column.cells for column in columns], [column.title for column in columns])
    for (name, title, cells), typed in zip(columns, all_typed, strict=True):
        texts = [cell if cell.strip() else None for cell in cells]
        missing: dict[str, Any] = {"empty": typed.empty, "untyped": typed.untyped}
        if typed.units is not None:  # one column of numbers would add kilograms to pounds
            units = tuple(sorted({unit for unit in typed.units if unit}))
            yield make_column(name, title, "text", texts, empty=typed.empty, units=units)
            yield make_column(names.take(f"{name}_number", ""), title, "number", typed.values, integers=typed.integers,
                              unit=typed.unit, note=typed.note, **missing)
            yield make_column(names.take(f"{name}_unit", ""), title, "text", typed.units, empty=typed.empty)
            continue
        last, notes = "", [typed.note]
        if typed.lasts:  # dates, some of which are a whole month or year: the last day of each
            last = names.take(f"{name}_last", "")
            partial = sum(first != end for first, end in zip(typed.values, typed.lasts, strict=True))
            notes.append(f"{partial} say a month or a year alone, from this day to {last}")
        yield make_column(name, title, typed.kind, typed.values, integers=typed.integers, last=last,
                          unit=typed.unit if typed.kind == "number" else "", note="; ".join(filter(None, notes)),
                          **missing)
        if last:
            yield make_column(last, title, "date", typed.lasts, **missing)
        if typed.untyped or last:  # cells such as "unknown" in a column of numbers, which are empty there
            yield make_column(names.take(f"{name}_text", ""), title, "text", texts, empty=typed.empty)


def make_text_column(name: str, texts: Sequence[str | None]) -> SqlColumn:
    """Return a column of texts that are taken as they are."""
    return make_column(name, name, "text", texts, empty=sum(not text for text in texts))


def make_column(name: str, title: str, kind: ColumnKind, values: Sequence[Any], *, integers: bool = False,
                **about: Any) -> SqlColumn:
    """Return a column of values that are typed already; None is an empty cell.

    `about` are other fields of its description. Numbers are BIGINT if all are `integers` that floats have exactly.
    """
    filled = [value for value in values if value is not None]
    array: NDArray[Any]
    comparable: list[Any] = []
    if kind == "number":
        integers = integers and all(abs(value) <= _LARGEST_INTEGER for value in filled)
        sql_type, number_type = ("BIGINT", np.int64) if integers else ("DOUBLE", np.float64)
        # DuckDB takes masked numbers for NULL.
        array = np.ma.masked_array([value or 0 for value in values], [value is None for value in values], number_type)
        comparable = [int(value) if integers else float(value) for value in filled]
        shown = [f"{value:.{_DIGITS}g}" if isinstance(value, float) else str(value) for value in comparable]
    elif kind == "date":
        comparable = list(map(_to_time, filled))
        sql_type = "TIMESTAMP" if any(moment.time() != datetime.time() for moment in comparable) else "DATE"
        array = np.array([np.datetime64("NaT" if value is None else _to_time(value), "us") for value in values],
                         "datetime64[us]")
        shown = [str(moment if sql_type == "TIMESTAMP" else moment.date()) for moment in comparable]
    else:
        sql_type = _SQL_TYPES.get(kind, "VARCHAR")
        array = np.empty(len(values), object)
        for row, value in enumerate(values):  # numpy would make a table of lists of equal length
            array[row] = list(value) if kind == "list" and value is not None else value
        # A member counts once a row, however often its list has it.
        shown = list(map(str, chain.from_iterable(map(dict.fromkeys, filled)) if kind == "list" else filled))
    smallest = shown[comparable.index(min(comparable))] if comparable else ""
    largest = shown[comparable.index(max(comparable))] if comparable else ""
    return SqlColumn(sql_type, array, ColumnInfo(
        name=name, title=title, kind=kind, distinct=len(set(shown)), smallest=smallest, largest=largest,
        frequent=find_frequent(shown), **about))


def find_frequent(texts: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """Return the most frequent of some texts, shortened, each with how often it occurs; none if all differ."""
    counts = Counter(text[:_LONGEST_SHOWN] for text in texts)
    most = nsmallest(_MOST_FREQUENT, counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(most) if any(count > 1 for _, count in most) else ()


def _to_time(value: datetime.date) -> datetime.datetime:
    """Return a date as the time when the day begins, so that dates and times can be compared."""
    return value if isinstance(value, datetime.datetime) else datetime.datetime.combine(value, datetime.time())


def to_json_value(value: Any) -> Any:
    """Return a value as JSON has it; a number has the digits that floats have for certain, or is None if not finite."""
    if isinstance(value, float | Decimal):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [to_json_value(item) for item in value]
    if isinstance(value, dict):
        return {str(key): to_json_value(item) for key, item in value.items()}
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def write_table(connection: duckdb.DuckDBPyConnection, name: str, title: str, kind: TableKind,
                columns: Sequence[SqlColumn], places: Sequence[Place | None]) -> TableInfo:
    """Write a table with the places of its rows; the names are made by `NameSpace`, so they have no quotation marks."""
    hidden = [[None if place is None else place[part] for place in places] for part in range(len(HIDDEN))]
    stored = [(column.info.name, column.sql_type, column.values) for column in columns]
    for hidden_name, sql_type, values in zip(HIDDEN, ("VARCHAR", "INTEGER", "INTEGER"), hidden, strict=True):
        stored.append((hidden_name, sql_type, np.array(values, object)))
    connection.register("given", {f"c{number}": values for number, (*_, values) in enumerate(stored)})
    selected = ", ".join(f'CAST(c{number} AS {sql_type}) AS "{column}"'
                         for number, (column, sql_type, _) in enumerate(stored))
    connection.execute(f'CREATE TABLE main."{name}" AS SELECT {selected} FROM given')  # noqa: S608
    connection.unregister("given")
    documents = {place.document for place in places if place}
    return TableInfo(name=name, title=title, kind=kind, rows=len(places), documents=len(documents),
                     columns=tuple(column.info for column in columns))
