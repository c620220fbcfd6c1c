"""Write tables of records, of documents and of the graph to DuckDB with a catalogue of them; open and check the file.

Behind its own columns, a table has the document of each row and the start and end of its words there (`HIDDEN`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import duckdb
import numpy as np
import orjson

from ...schemas.documents import Chunk, SourceTable
from ...schemas.records import TableInfo, TableKind
from ..graph.knowledge_graph import KnowledgeGraph
from .graph_tables import GRAPH_TABLES, write_graph
from .logical_tables import (
    DOCUMENT,
    HIDDEN,
    OWN_FIELDS,
    NameSpace,
    Place,
    SqlColumn,
    create_table,
    join_fields,
    literal,
    make_logical_tables,
    make_text_column,
    make_typed_columns,
)
from .value_words import write_value_words

MAIN, DOCUMENTS = "kb", "documents"
"""The name by which a connection has the database of the tables, and the name of the table of documents."""
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

Documents: TypeAlias = Sequence[tuple[str, str, str, Mapping[str, str]]]
"""The id, title, source and metadata of each document, by id."""


class TableSource(NamedTuple):
    """What the tables are made from, all from the same state of the knowledge base."""

    documents: Documents
    tables: Iterable[tuple[str, SourceTable]]
    """The tables of all documents, each with its document's id, in the order of the ids and of the texts."""
    graph: KnowledgeGraph
    chunks: Sequence[Chunk]


def write_tables(connection: duckdb.DuckDBPyConnection, source: TableSource) -> None:
    """Write all tables and the catalogue to the empty database that a connection uses."""
    names = NameSpace([DOCUMENTS, *GRAPH_TABLES])
    infos = []
    for table in make_logical_tables(source.tables, names):
        own_names = NameSpace([DOCUMENT, *(column.name for column in table.columns)])
        columns = list(make_typed_columns(table.columns, own_names))
        columns.append(make_text_column(DOCUMENT, DOCUMENT, [place.document for place in table.places]))
        infos.append(_write_table(connection, table.name, table.title, "records", columns, table.places))
    # The table of all documents, with the fields of their metadata.
    columns = [make_text_column(name, name, [str(document[place]) for document in source.documents])
               for place, name in enumerate(OWN_FIELDS)]
    fields = join_fields([metadata for *_, metadata in source.documents])
    columns += make_typed_columns(fields, NameSpace([*OWN_FIELDS, *(field.name for field in fields)]))
    places = [Place(document, 0, 0) for document, *_ in source.documents]
    infos.append(_write_table(connection, DOCUMENTS, DOCUMENTS, "documents", columns, places))
    infos += write_graph(connection, source.graph, source.chunks, names)
    write_value_words(connection, infos, source.chunks)
    listed = orjson.dumps([info.model_dump() for info in infos]).decode()
    connection.execute(f"CREATE TABLE main.{_CATALOGUE} AS SELECT ? AS infos", [listed])


def database_of(base: str) -> str:
    """Return the name by which a connection to the tables of several knowledge bases has those of one; "": of one."""
    return f"{MAIN}.{base}" if base else MAIN


def base_of(database: str) -> str:
    """Return the knowledge base whose tables a database has; the inverse of `database_of`."""
    return database.removeprefix(MAIN).removeprefix(".")


def read_catalogue(connection: duckdb.DuckDBPyConnection, base: str = "") -> tuple[TableInfo, ...]:
    """Return the catalogue of the tables that a connection has as `MAIN`, or of one of several knowledge bases."""
    row = connection.execute(f'SELECT infos FROM "{database_of(base)}".main.{_CATALOGUE}').fetchone()  # noqa: S608
    return tuple(map(TableInfo.model_validate, orjson.loads(row[0]))) if row else ()


def _write_table(connection: duckdb.DuckDBPyConnection, name: str, title: str, kind: TableKind,
                 columns: Sequence[SqlColumn], places: Sequence[Place]) -> TableInfo:
    stored = {column.info.name: (column.sql_type, column.values) for column in columns}
    documents, starts, ends = HIDDEN
    stored |= {documents: ("VARCHAR", np.array([place.document for place in places], object)),
               starts: ("INTEGER", np.array([place.start for place in places], np.int32)),
               ends: ("INTEGER", np.array([place.end for place in places], np.int32))}
    create_table(connection, f'main."{name}"', stored)
    return TableInfo(name=name, title=title, kind=kind, rows=len(places),
                     documents=len({place.document for place in places}),
                     columns=tuple(column.info for column in columns))


class TablesDamagedError(ValueError):
    """The file is damaged; it can be made again from the ledger."""


def write_file(path: Path, source: TableSource) -> None:
    """Write the tables to a new file.

    Raises:
        OSError: the disk is full or not writable.
    """
    try:
        with _attach_new(str(path)) as (connection, _):
            write_tables(connection, source)
    except duckdb.IOException as error:
        raise OSError(f"the tables cannot be written: {error}") from error
    except RuntimeError as error:  # what DuckDB makes of Ctrl-C, which it takes from Python while a statement runs
        if str(error) != "Query interrupted":
            raise
        raise KeyboardInterrupt from error


def check_file(path: Path) -> None:
    """Read all of a file of tables; raise TablesDamagedError if that fails."""
    try:
        with _connect_to_file(str(path), "(READ_ONLY)") as connection:
            read_catalogue(connection)
            _checksum_tables(connection, MAIN)
    except duckdb.Error as error:
        raise TablesDamagedError(f"{path} is damaged: {str(error).splitlines()[0]}") from error


def differs(path: Path, source: TableSource) -> bool:
    """Return True if a file's tables differ from those that the ledger's state gives."""
    with _connect_to_file(str(path), "(READ_ONLY)") as stored, _attach_new(":memory:") as (expected, database):
        write_tables(expected, source)
        return _checksum_tables(stored, MAIN) != _checksum_tables(expected, database)


def _checksum_tables(connection: duckdb.DuckDBPyConnection, database: str) -> dict[str, Any]:
    """Return for each table the number of its rows and a sum of their hashes."""
    names = connection.execute("SELECT table_name FROM duckdb_tables() WHERE database_name = ?", [database]).fetchall()
    return {name: connection.execute(
        f'SELECT count(*), bit_xor(hash(t, rowid)) FROM {database}.main."{name}" t').fetchall()  # noqa: S608
        for (name,) in names}


def _connect_to_file(path: str, how: str = "") -> duckdb.DuckDBPyConnection:
    """Return a connection that has a database as `MAIN`."""
    connection = _start_instance()
    try:
        connection.execute(f"ATTACH {literal(path)} AS {MAIN} {how}; USE {MAIN}")
    except BaseException:
        connection.close()
        raise
    return connection


def _start_instance() -> duckdb.DuckDBPyConnection:
    # No threads of DuckDB's own: a process that forks could not end in its child with them.
    return duckdb.connect(":memory:", config={"threads": 1, "async_threads": 0})


_writing_instance = cache(_start_instance)
"""The instance of DuckDB by which this process writes: to make one takes as long as to write a small graph."""
_numbers = count()


@contextmanager
def _attach_new(path: str) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
    """Attach a new database within the block: a connection that uses it, and its name there."""
    name = f"{MAIN}_{next(_numbers)}"
    with _writing_instance().cursor() as connection:
        connection.execute(f"ATTACH {literal(path)} AS {name}; USE {name}")
        try:
            yield connection, name
        finally:
            connection.execute(f"USE memory; DETACH {name}")


def open_file(path: Path) -> duckdb.DuckDBPyConnection:
    """Return a connection that can only read the tables of a file; raise TablesDamagedError if it is damaged."""
    connection: duckdb.DuckDBPyConnection | None = None
    try:
        connection = _connect_to_file(str(path), "(READ_ONLY)")
        read_catalogue(connection)
        connection.execute(_LIMITS)
    except duckdb.Error as error:
        if connection is not None:
            connection.close()
        raise TablesDamagedError(f"{path} is damaged: {str(error).splitlines()[0]}") from error
    return connection


def open_together(bases: Mapping[str, tuple[Path | None, Callable[[], TableSource]]]) -> duckdb.DuckDBPyConnection:
    """Return a connection that can only read the tables of several knowledge bases, from files or made in memory."""
    connection = _start_instance()
    try:
        for base, (path, source) in bases.items():
            database = f'"{database_of(base)}"'
            how = "(READ_ONLY)" if path else ""
            connection.execute(f"ATTACH {literal(str(path or ':memory:'))} AS {database} {how}")
            if path is None:
                connection.execute(f"USE {database}")
                write_tables(connection, source())
        connection.execute(_LIMITS)
    except BaseException:
        connection.close()
        raise
    return connection


def make_in_memory(source: TableSource) -> duckdb.DuckDBPyConnection:
    """Return a connection that can only read tables that are made in memory."""
    connection = _connect_to_file(":memory:")
    write_tables(connection, source)
    connection.execute(_LIMITS)
    return connection
