"""What tables are called and which values they hold, for questions in words: an index from words to values."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import duckdb

from ...schemas.documents import Chunk
from ...schemas.records import TableInfo

_VALUES, _TITLES, _LEGENDS = "main._value_words", "main._table_titles", "legends"
_WORDS = (r"[\p{Latin}\p{Cyrillic}\p{Greek}\p{Arabic}\p{Devanagari}\p{N}]+|[\p{Han}\p{Hiragana}\p{Katakana}]+|\p{L}+")
_SPLIT = f"unnest(regexp_extract_all(strip_accents(lower(if(legend = '', value, legend))), '{_WORDS}'))"
_LEGEND = re.compile(r"(?<![^\s(,;:])([^\s=,;:|()]{1,20}) = ([^\W\d_][\w -]{2,40}?)(?=[,;.|)\n]|$)", re.MULTILINE)
"""An explanation of a value beside a table: "A = theoretical departments"."""
_SHORT = "length(value) <= 100"  # longer cells are prose, which no question names
_MOST_VALUES = 5000  # how many values are read for one question; words of more values say little of any
_NEARLY_ALL = 0.9
_SELF = re.compile(r"\b[Tt]his ([A-Z]{2,6})\b(?![-/])")
"""How a document calls itself if its kind has an abbreviation: "this RFC"."""
_OFTEN_SELF = 0.2  # the least share of documents that say so: not each of a kind mentions what it is
_FEW_DOCUMENTS = 3  # tables of more documents are not called by the titles of these


class FoundValue(NamedTuple):
    """A value of a column, as it is stored, and the words by which it was found if a legend explains it so."""

    table: str
    column: str
    value: str
    legend: str = ""


def write_value_words(connection: duckdb.DuckDBPyConnection, tables: Sequence[TableInfo],
                      chunks: Sequence[Chunk]) -> None:
    """Write the words of all short values of texts and lists, of legends in chunks, and what tables are called."""
    has_records = any(table.kind == "records" for table in tables)
    legends = [(chunk.document_id, *pair) for chunk in (chunks if has_records else ())
               for pair in _LEGEND.findall(chunk.text)]
    connection.execute(f"CREATE TEMP TABLE {_LEGENDS} (document VARCHAR, value VARCHAR, legend VARCHAR)")
    if legends:
        connection.executemany(f"INSERT INTO {_LEGENDS} VALUES (?, ?, ?)", sorted(set(legends)))  # noqa: S608
    _write_words(connection, _VALUES, ("source", "field", "value", "legend"),
                 _select_values(tables, has_legends=bool(legends)), f"{_SPLIT} AS word, * FROM found")
    _write_words(connection, _TITLES, ("source", "title"), _select_titles(tables, chunks), "* FROM found")
    connection.execute(f"DROP TABLE {_LEGENDS}")


def _write_words(connection: duckdb.DuckDBPyConnection, name: str, columns: Sequence[str], selects: Iterable[str],
                 stored: str) -> None:
    """Write what is `stored` of what some SELECTs find, sorted and without repeats; all names are of `NameSpace`."""
    # Insert all into one table first: to read the pattern of words takes longer than to search some cells.
    connection.execute(f"CREATE TEMP TABLE found ({', '.join(f'{column} VARCHAR' for column in columns)})")
    for select in selects:
        connection.execute(f"INSERT INTO found {select}")
    connection.execute(f"CREATE TABLE {name} AS SELECT DISTINCT {stored} ORDER BY ALL")
    connection.execute("DROP TABLE found")


def _select_values(tables: Sequence[TableInfo], *, has_legends: bool) -> Iterator[str]:
    """Yield SELECTs of the columns' values, and of the legends of those."""
    for table in tables:
        hidden = {"records": {"document"}, "documents": set[str]()}.get(table.kind)  # None: it has no records
        columns = [column for column in table.columns if hidden is not None and column.name not in hidden]
        for name in (column.name for column in columns if column.kind == "list"):
            values = f'SELECT DISTINCT unnest("{name}") AS value FROM main."{table.name}"'  # noqa: S608
            yield f"SELECT '{table.name}', '{name}', value, '' FROM ({values}) WHERE {_SHORT}"  # noqa: S608
        if texts := [column.name for column in columns if column.kind == "text"]:
            # All in one statement: one for each of a thousand columns takes longer than reading them. Of these alone: a
            # column of numbers may be called "value", too.
            read = ", ".join(f'"{name}"' for name in dict.fromkeys(("document", *texts)))
            on = ", ".join(f'"{name}"' for name in texts)
            cells = f'(UNPIVOT (SELECT {read} FROM main."{table.name}") ON {on} INTO NAME field VALUE value)'  # noqa: S608
            yield f"SELECT DISTINCT '{table.name}', field, value, '' FROM {cells} WHERE {_SHORT}"  # noqa: S608
            if has_legends and table.kind == "records":
                yield (f"SELECT DISTINCT '{table.name}', field, value, legend FROM {cells} "  # noqa: S608
                       f"JOIN {_LEGENDS} USING (document, value)")


def _select_titles(tables: Sequence[TableInfo], chunks: Iterable[Chunk]) -> Iterator[str]:
    """Yield SELECTs of what tables are called, and what documents call themselves."""
    called = defaultdict[str, set[str]](set)
    for chunk in chunks:
        for name in _SELF.findall(chunk.text):
            called[name].add(chunk.document_id)
    for table in tables:
        if table.kind == "records" and table.documents <= _FEW_DOCUMENTS:
            documents = f'FROM main.documents WHERE document IN (SELECT document FROM main."{table.name}")'  # noqa: S608
            stem = r"regexp_extract(document, '([^/\\]+?)(\.\w+)?$', 1)"
            yield f"SELECT '{table.name}', {stem} {documents}"
            yield f"SELECT '{table.name}', title {documents} AND title <> ''"
        elif table.kind == "documents" and table.rows > 1:
            # The word with which nearly all documents' names begin, and what many call themselves.
            stem = r"regexp_replace(document, '[.]\w+$', '')"
            word = f"regexp_extract({stem}, '([A-Za-z]{{2,}})[^/]*$', 1)"
            yield (f"SELECT '{table.name}', word FROM (SELECT {word} AS word FROM main.documents) AS words "  # noqa: S608
                   f"WHERE word <> '' GROUP BY word HAVING count(*) >= {_NEARLY_ALL * table.rows}")
            yield from (f"SELECT '{table.name}', '{name}'" for name, found in called.items()
                        if len(found) >= _OFTEN_SELF * table.rows)
            # The folder that nearly all are in.
            folder = r"regexp_extract(source, '([^/\\]+)[/\\][^/\\]+$', 1)"
            yield (f"SELECT '{table.name}', name FROM (SELECT {folder} AS name FROM main.documents) AS names "  # noqa: S608
                   f"WHERE length(name) > 2 GROUP BY name HAVING count(*) >= {_NEARLY_ALL * table.rows}")
            # "layout: book" in all of them: a value that tells none from another says what they are.
            yield from (f"SELECT '{table.name}', '{column.frequent[0][0]}'" for column in table.columns
                        if column.kind == "text" and column.frequent and column.frequent[0][0].isalpha()
                        and column.frequent[0][1] >= _NEARLY_ALL * table.rows)


def find_values(connection: duckdb.DuckDBPyConnection, database: str, words: Collection[str]) -> list[FoundValue]:
    """Return the values in a database that have one of some words, which are in lower case and without accents."""
    if not words:
        return []
    marks = ", ".join("?" * len(words))  # with a list of constants DuckDB reads only the parts that have these words
    rows = connection.execute(
        f"SELECT DISTINCT source, field, value, legend FROM {database}.{_VALUES} WHERE word IN ({marks}) "  # noqa: S608
        f"ORDER BY ALL LIMIT {_MOST_VALUES}", sorted(words)).fetchall()
    return [FoundValue(*row) for row in rows]


def read_titles(connection: duckdb.DuckDBPyConnection, database: str) -> Mapping[str, tuple[str, ...]]:
    """Return what tables are called: those of few documents by these, that of all documents by their common names."""
    rows = connection.execute(f"SELECT source, list(title ORDER BY title) FROM {database}.{_TITLES} GROUP BY ALL "  # noqa: S608
                              "ORDER BY ALL").fetchall()
    return {table: tuple(titles) for table, titles in rows}
