"""Write tables of records, of documents and of the graph to DuckDB with a catalogue of them; open and check the file.

Behind its own columns, a table has the document of each row and the start and end of its words there (`HIDDEN`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import duckdb
import orjson

from ...schemas.documents import Chunk, SourceTable
from ...schemas.records import TableInfo
from ..graph.knowledge_graph import KnowledgeGraph
from . import logical_tables
from .graph_tables import GRAPH_TABLES, write_graph
from .logical_tables import DOCUMENT, MAIN, OWN_FIELDS, NameSpace, Place, make_text_column, write_table
from .value_words import write_value_words

DOCUMENTS = "documents"  # the name of the table of documents
_CATALOGUE = "_catalogue"
MEMORY_MB, _THREADS = 400, 1
"""Limits of a query. With one thread, rows without an order come in the same order each time."""
_LIMITS = f"""
SET temp_directory = '';
SET memory_limit = '{MEMORY_MB}MB';
SET threads = {_THREADS};
SET python_enable_replacements = false;
SET autoinstall_known_extensions = false;
SET autoload_known_extensions = false;
SET enable_external_access = false;
SET lock_configuration = true;
"""


class TableSource(NamedTuple):
    """What the tables are made from, all from the same state of the knowledge base."""

    documents: Sequence[tuple[str, str, str, Mapping[str, str]]]  # each one's id, title, source and metadata, by id
    tables: Iterable[tuple[str, SourceTable]]  # each with its document's id, in the order of the ids and of the texts
    graph: KnowledgeGraph
    chunks: Sequence[Chunk]


def write_tables(connection: duckdb.DuckDBPyConnection, source: TableSource) -> None:
    """Write all tables and the catalogue to the empty database that a connection uses."""
    names = NameSpace([DOCUMENTS, *GRAPH_TABLES])
    infos = []
    for table in logical_tables.make_logical_tables(source.tables, names):
        own_names = NameSpace([DOCUMENT, *(column.name for column in table.columns)])
        columns = list(logical_tables.make_typed_columns(table.columns, own_names))
        columns.append(make_text_column(DOCUMENT, DOCUMENT, [place.document for place in table.places]))
        infos.append(write_table(connection, table.name, table.title, "records", columns, table.places))
    # The table of all documents, with the fields of their metadata.
    columns = [make_text_column(name, name, [str(document[place]) for document in source.documents])
               for place, name in enumerate(OWN_FIELDS)]
    fields = logical_tables.join_fields([metadata for *_, metadata in source.documents])
    columns += logical_tables.make_typed_columns(fields, NameSpace([*OWN_FIELDS, *(field.name for field in fields)]))
    places = [Place(document, 0, 0) for document, *_ in source.documents]
    infos.append(write_table(connection, DOCUMENTS, DOCUMENTS, "documents", columns, places))
    infos += write_graph(connection, source.graph, source.chunks, names)
    write_value_words(connection, infos, source.chunks)
    listed = orjson.dumps([info.model_dump() for info in infos]).decode()
    connection.execute(f"CREATE TABLE main.{_CATALOGUE} AS SELECT ? AS infos", [listed])


def database_of(base: str) -> str:
    """Return the name by which a connection has a knowledge base's tables; `base` is "" if it has only one's."""
    return f"{MAIN}.{base}" if base else MAIN


def base_of(database: str) -> str:
    """Return the knowledge base whose tables a database has; the inverse of `database_of`."""
    return database.removeprefix(MAIN).removeprefix(".")


def read_catalogue(connection: duckdb.DuckDBPyConnection, base: str = "") -> tuple[TableInfo, ...]:
    """Return the catalogue of the tables that a connection has as `MAIN`, or of one of several knowledge bases."""
    return tuple(map(TableInfo.model_validate, orjson.loads(_read_infos(connection, base))))


def _read_infos(connection: duckdb.DuckDBPyConnection, base: str) -> str:
    """Return the catalogue as JSON."""
    ((infos,),) = connection.execute(f'SELECT infos FROM "{database_of(base)}".main.{_CATALOGUE}').fetchall()  # noqa: S608
    return str(infos)


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
            if path is None:
                write_tables(_attach(connection, database=database_of(base)), source())
            else:
                with _naming_damage(path):  # reading the catalogue shows damage; parsing it may take a second
                    _read_infos(_attach(connection, path, "(READ_ONLY)", database_of(base)), base)
        connection.execute(_LIMITS)
    except BaseException:
        connection.close()
        raise
    return connection
