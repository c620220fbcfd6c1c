"""Write tables of records, of documents and of the graph to DuckDB with a catalogue of them; open and check the file.

Behind its own columns, a table has the document of each row and the start and end of its words there (`HIDDEN`).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import duckdb
import orjson

from ...schemas.documents import Chunk, SourceTable
from ...schemas.naming import label_key
from ...schemas.records import TableInfo
from ...text.quantities import is_unit
from ..graph.knowledge_graph import KnowledgeGraph
from . import logical_tables
from .graph_tables import GRAPH_TABLES, write_graph
from .logical_tables import DOCUMENT, MAIN, OWN_FIELDS, NameSpace, Place, make_text_column, write_table

DOCUMENTS = "documents"  # the name of the table of documents
_CATALOGUE = "_catalogue"
MEMORY_MB = 400  # of a query; `_LIMITS` are its other limits
_LIMITS = Path(__file__).with_name("limits.sql").read_text("utf-8")
VALUES, TITLES = "main._value_words", "main._table_titles"
_WORDS = (r"[\p{Latin}\p{Cyrillic}\p{Greek}\p{Arabic}\p{Devanagari}\p{N}]+|[\p{Han}\p{Hiragana}\p{Katakana}]+|\p{L}+")
_SPLIT = f"unnest(regexp_extract_all(strip_accents(lower(value)), '{_WORDS}')) AS word"
_SHORT = "length(value) <= 100"  # longer cells are prose, which no question names
_NEARLY_ALL = 0.9  # the share of documents from which what they have in common is what all are called
_SELF = re.compile(r"\b[Tt]his ([A-Z]{2,6})\b(?![-/])")  # how a document calls itself: "this RFC"
_OFTEN_SELF = 0.2  # the least share of documents that say so: not each of a kind mentions what it is
_FEW_DOCUMENTS = 3  # tables of more documents are not called by the titles of these


class TableSource(NamedTuple):
    """What the tables are made from, all from the same state of the knowledge base."""

    documents: Sequence[tuple[str, str, str, Mapping[str, str]]]  # each one's id, title, source and metadata, by id
    tables: Iterable[tuple[str, SourceTable]]  # each with its document's id, in the order of the ids and of the texts
    graph: KnowledgeGraph
    chunks: Sequence[Chunk]


class FoundValue(NamedTuple):
    """A value of a column, as it is stored."""

    table: str
    column: str
    value: str


def write_tables(connection: duckdb.DuckDBPyConnection, source: TableSource) -> None:
    """Write all tables and the catalogue to the empty database that a connection uses."""
    names = NameSpace([DOCUMENTS, *GRAPH_TABLES])
    infos = []
    for table in logical_tables.make_logical_tables(source.tables, names):
        own_names = NameSpace([DOCUMENT, *(column.name for column in table.columns)])
        columns = list(logical_tables.make_typed_columns(table.columns, own_names))
        columns.append(make_text_column(DOCUMENT, [place.document for place in table.places]))
        infos.append(write_table(connection, table.name, table.title, "records", columns, table.places))
    # The table of all documents, with the fields of their metadata.
    columns = [make_text_column(name, [str(document[place]) for document in source.documents])
               for place, name in enumerate(OWN_FIELDS)]
    fields = logical_tables.join_fields([metadata for *_, metadata in source.documents])
    columns += logical_tables.make_typed_columns(fields, NameSpace([*OWN_FIELDS, *(field.name for field in fields)]))
    places = [Place(document, 0, 0) for document, *_ in source.documents]
    infos.append(write_table(connection, DOCUMENTS, DOCUMENTS, "documents", columns, places))
    infos += write_graph(connection, source.graph, source.chunks, names)
    # For questions in words: the words of all short values of texts and lists, and what tables are called.
    _write_words(connection, VALUES, ("source", "field", "value"), _select_values(infos), f"{_SPLIT}, *")
    _write_words(connection, TITLES, ("source", "title"), _select_titles(infos, source.chunks), "*")
    listed = orjson.dumps([info.model_dump() for info in infos]).decode()
    connection.execute(f"CREATE TABLE main.{_CATALOGUE} AS SELECT ? AS infos", [listed])


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


def database_of(base: str) -> str:
    """Return the name by which a connection has a knowledge base's tables; `base` is "" if it has only one's."""
    return f"{MAIN}.{base}" if base else MAIN


def base_of(database: str) -> str:
    """Return the knowledge base whose tables a database has; the inverse of `database_of`."""
    return database.removeprefix(MAIN).removeprefix(".")


def read_catalogue(connection: duckdb.DuckDBPyConnection, base: str = "") -> tuple[TableInfo, ...]:
    """Return the catalogue of a connection's tables; those of one of several knowledge bases are called BASE.TABLE."""
    ((listed,),) = connection.execute(f'FROM "{database_of(base)}".main.{_CATALOGUE}').fetchall()
    infos = map(TableInfo.model_validate, orjson.loads(listed))
    return tuple(info.model_copy(update={"name": f"{base}.{info.name}"}) if base else info for info in infos)


class TablesDamagedError(ValueError):
    """The file is damaged; it can be made again from the ledger."""


# The file of a base's tables, None if there is none, and what makes them.
TableFile: TypeAlias = tuple[Path | None, Callable[[], TableSource]]


def write_file(path: Path, source: TableSource) -> None:
    """Write the tables to a new file; raise OSError if the disk is full or not writable."""
    try:
        with _attach(_start_instance(), path) as connection:
            write_tables(connection, source)
    except duckdb.IOException as error:
        raise OSError(f"the tables cannot be written: {error}") from error
    except RuntimeError as error:  # what DuckDB makes of Ctrl-C, which it takes from Python while a statement runs
        if str(error) != "Query interrupted":
            raise
        raise KeyboardInterrupt from error


def check_file(path: Path) -> None:
    """Read all of a file of tables; raise TablesDamagedError if that fails."""
    with _naming_damage(path), _attach(_start_instance(), path, "(READ_ONLY)") as connection:
        read_catalogue(connection)
        _checksum_tables(connection)


def differs(path: Path, source: TableSource) -> bool:
    """Return True if a file's tables differ from those that the ledger's state gives."""
    with _attach(_start_instance(), path, "(READ_ONLY)") as stored, _attach(_start_instance()) as expected:
        write_tables(expected, source)
        return _checksum_tables(stored) != _checksum_tables(expected)


def _checksum_tables(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """Return for each table the number of its rows and a sum of their hashes."""
    names = connection.execute("SELECT table_name FROM duckdb_tables() WHERE database_name = ?", [MAIN]).fetchall()
    return {name: connection.execute(
        f'SELECT count(*), bit_xor(hash(t, rowid)) FROM {MAIN}.main."{name}" t').fetchall()  # noqa: S608
        for (name,) in names}


@contextmanager
def _naming_damage(path: Path) -> Iterator[None]:
    """Make errors within the block TablesDamagedError."""
    try:
        yield
    except duckdb.Error as error:
        raise TablesDamagedError(f"{path} is damaged: {str(error).splitlines()[0]}") from error


def _start_instance() -> duckdb.DuckDBPyConnection:
    """Return a connection to a new DuckDB in memory; without threads, which keep the child of a fork from ending."""
    return duckdb.connect(":memory:", config={"threads": 1, "async_threads": 0})


def _attach(connection: duckdb.DuckDBPyConnection, path: Path | str = ":memory:", options: str = "",
            database: str = MAIN) -> duckdb.DuckDBPyConnection:
    """Let a connection use a file, with options of ATTACH, as the database of a name; return the connection."""
    return connection.execute(f'ATTACH {logical_tables.literal(str(path))} AS "{database}" {options}; USE "{database}"')


def open_tables(bases: Mapping[str, TableFile]) -> duckdb.DuckDBPyConnection:
    """Return a connection that can only read the tables of knowledge bases, from files or made in memory.

    One base alone is called "". Raises TablesDamagedError if a file is damaged.
    """
    connection = _start_instance()
    try:
        for base, (path, source) in bases.items():
            database = database_of(base)
            if path is None:
                write_tables(_attach(connection, database=database), source())
                continue
            with _naming_damage(path):  # reading the catalogue shows damage; parsing it may take a second
                _attach(connection, path, "(READ_ONLY)", database).execute(
                    f'FROM "{database}".main.{_CATALOGUE}').fetchall()
        connection.execute(f"SET memory_limit = '{MEMORY_MB}MB'; {_LIMITS}")
    except BaseException:
        connection.close()
        raise
    return connection
