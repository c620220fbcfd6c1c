"""What tables are called and which values they hold, for questions in words: an index from words to values."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import duckdb

from ...schemas.documents import Chunk
from ...schemas.naming import label_key
from ...schemas.records import TableInfo
from ...text.quantities import is_unit
from .logical_tables import MAIN

_VALUES, _TITLES = "main._value_words", "main._table_titles"
_WORDS = (r"[\p{Latin}\p{Cyrillic}\p{Greek}\p{Arabic}\p{Devanagari}\p{N}]+|[\p{Han}\p{Hiragana}\p{Katakana}]+|\p{L}+")
_SPLIT = f"unnest(regexp_extract_all(strip_accents(lower(value)), '{_WORDS}')) AS word"
_SHORT = "length(value) <= 100"  # longer cells are prose, which no question names
_MOST_VALUES = 5000  # how many values are read for one question; words of more values say little of any
_NEARLY_ALL = 0.9  # the share of documents from which what they have in common is what all are called
_SELF = re.compile(r"\b[Tt]his ([A-Z]{2,6})\b(?![-/])")  # how a document calls itself: "this RFC"
_OFTEN_SELF = 0.2  # the least share of documents that say so: not each of a kind mentions what it is
_FEW_DOCUMENTS = 3  # tables of more documents are not called by the titles of these


class FoundValue(NamedTuple):
    """A value of a column, as it is stored."""

    table: str
    column: str
    value: str


def write_value_words(connection: duckdb.DuckDBPyConnection, tables: Sequence[TableInfo],
                      chunks: Iterable[Chunk]) -> None:
    """Write the words of all short values of texts and lists, and what tables are called."""
    _write_words(connection, _VALUES, ("source", "field", "value"), _select_values(tables), f"{_SPLIT}, *")
    _write_words(connection, _TITLES, ("source", "title"), _select_titles(tables, chunks), "*")


def _write_words(connection: duckdb.DuckDBPyConnection, name: str, columns: Sequence[str], selects: Iterable[str],
                 stored: str) -> None:
    """Write a table of the rows that some SELECTs find: the expressions `stored` of them, sorted and without repeats.

    `columns` are the names of the columns that each SELECT finds; all names are made by `NameSpace`.
    """
    # Insert all into one table first: to read the pattern of words takes longer than to search some cells.
    connection.execute(f"CREATE TEMP TABLE found ({', '.join(f'{column} VARCHAR' for column in columns)})")
    for select in selects:
        connection.execute(f"INSERT INTO found {select}")
    connection.execute(f"CREATE TABLE {name} AS SELECT DISTINCT {stored} FROM found ORDER BY ALL")  # noqa: S608
    connection.execute("DROP TABLE found")


def _select_values(tables: Sequence[TableInfo]) -> Iterator[str]:
    """Yield SELECTs of the values of columns of texts and lists."""
    for table in tables:
        if table.kind not in {"records", "documents"}:
            continue
        # The document of a record is no value of it.
        columns = [column for column in table.columns if column.name != "document" or table.kind == "documents"]
        for name in (column.name for column in columns if column.kind == "list"):
            values = f'SELECT DISTINCT unnest("{name}") AS value FROM main."{table.name}"'  # noqa: S608
            yield f"SELECT '{table.name}', '{name}', value FROM ({values}) WHERE {_SHORT}"  # noqa: S608
        if texts := ", ".join(f'"{column.name}"' for column in columns if column.kind == "text"):
            # All in one statement: one for each of a thousand columns takes longer than reading them. Of these alone: a
            # column of numbers may be called "value", too.
            cells = f'(UNPIVOT (SELECT {texts} FROM main."{table.name}") ON {texts} INTO NAME field VALUE value)'  # noqa: S608
            yield f"SELECT DISTINCT '{table.name}', field, value FROM {cells} WHERE {_SHORT}"  # noqa: S608


def _select_titles(tables: Sequence[TableInfo], chunks: Iterable[Chunk]) -> Iterator[str]:
    """Yield SELECTs of what tables are called: by the titles of few documents, or what all documents are called."""
    calls = {(name, chunk.document_id) for chunk in chunks for name in _SELF.findall(chunk.text)}
    for table in tables:
        if table.kind == "records" and table.documents <= _FEW_DOCUMENTS:
            documents = f'FROM main.documents WHERE document IN (SELECT document FROM main."{table.name}")'  # noqa: S608
            stem = r"regexp_extract(document, '([^/\\]+?)(\.\w+)?$', 1)"
            yield f"SELECT '{table.name}', {stem} {documents}"
            yield f"SELECT '{table.name}', title {documents} AND title <> ''"
        elif table.kind == "documents" and table.rows > 1:
            # The word with which nearly all documents' names begin, and the folder that nearly all are in.
            stem = r"regexp_replace(document, '[.]\w+$', '')"
            word = f"regexp_extract({stem}, '([A-Za-z]{{2,}})[^/]*$', 1)"
            folder = r"regexp_extract(source, '([^/\\]+)[/\\][^/\\]+$', 1)"
            for name, least in ((word, 1), (folder, 3)):  # a folder of one or two letters, such as "en", tells nothing
                yield (f"SELECT '{table.name}', name FROM (SELECT {name} AS name FROM main.documents) AS names "  # noqa: S608
                       f"WHERE length(name) >= {least} GROUP BY name HAVING count(*) >= {_NEARLY_ALL * table.rows}")
            for name, count in Counter(name for name, _ in calls).items():
                if count >= _OFTEN_SELF * table.rows:
                    yield f"SELECT '{table.name}', '{name}'"
            # "layout: book" in all of them: a value that tells none from another says what they are.
            for column in [column for column in table.columns if column.kind == "text"]:
                for value, count in column.frequent[:1]:  # the most frequent one, if any
                    is_of_label = label_key(value) in label_key(column.title)  # "subject" of "subjects name"
                    if value.isalpha() and count >= _NEARLY_ALL * table.rows and not (is_of_label or is_unit(value)):
                        yield f"SELECT '{table.name}', '{value}'"


def find_values(connection: duckdb.DuckDBPyConnection, words: Collection[str]) -> list[FoundValue]:
    """Return the values that have one of some words, which are in lower case and without accents."""
    if not words:
        return []
    marks = ", ".join("?" * len(words))  # with a list of constants DuckDB reads only the parts that have these words
    rows = connection.execute(
        f"SELECT DISTINCT source, field, value FROM {MAIN}.{_VALUES} WHERE word IN ({marks}) "  # noqa: S608
        f"ORDER BY ALL LIMIT {_MOST_VALUES}", sorted(words)).fetchall()
    return [FoundValue(*row) for row in rows]


def read_titles(connection: duckdb.DuckDBPyConnection) -> Mapping[str, tuple[str, ...]]:
    """Return what tables are called: those of few documents by these, that of all documents by their common names."""
    rows = connection.execute(f"SELECT source, list(title ORDER BY title) FROM {MAIN}.{_TITLES} GROUP BY ALL "  # noqa: S608
                              "ORDER BY ALL").fetchall()
    return {table: tuple(titles) for table, titles in rows}
