"""DuckDB databases of tables: written to a file, opened so that they can only be read, and checked."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import duckdb

from .table_file import MAIN, TableSource, read_catalogue, write_tables

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


class TablesDamagedError(ValueError):
    """The file is damaged; it can be made again from the ledger."""


def write_file(path: Path, source: TableSource) -> None:
    """Write the tables to a new file.

    Raises:
        OSError: the disk is full or not writable.
    """
    try:
        with _attach(str(path)) as (connection, _):
            write_tables(connection, source)
    except duckdb.IOException as error:
        raise OSError(f"the tables cannot be written: {error}") from error


def check_file(path: Path) -> None:
    """Read all of a file of tables; raise TablesDamagedError if that fails."""
    try:
        with _connect(str(path), "(READ_ONLY)") as connection:
            read_catalogue(connection)
            _checksum_tables(connection, MAIN)
    except duckdb.Error as error:
        raise TablesDamagedError(f"{path} is damaged: {str(error).splitlines()[0]}") from error


def differs(path: Path, source: TableSource) -> bool:
    """Return True if a file's tables differ from those that the ledger's state gives."""
    with _connect(str(path), "(READ_ONLY)") as stored, _attach(":memory:") as (expected, database):
        write_tables(expected, source)
        return _checksum_tables(stored, MAIN) != _checksum_tables(expected, database)


def _checksum_tables(connection: duckdb.DuckDBPyConnection, database: str) -> dict[str, Any]:
    """Return for each table the number of its rows and a sum of their hashes."""
    names = connection.execute("SELECT table_name FROM duckdb_tables() WHERE database_name = ?", [database]).fetchall()
    return {name: connection.execute(
        f'SELECT count(*), bit_xor(hash(t, rowid)) FROM {database}.main."{name}" t').fetchall()  # noqa: S608
        for (name,) in names}


def _connect(path: str, how: str = "") -> duckdb.DuckDBPyConnection:
    """Return a connection that has a database as `MAIN`."""
    connection = _start_instance()
    try:
        connection.execute(f"ATTACH {_quoted(path)} AS {MAIN} {how}; USE {MAIN}")
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
def _attach(path: str) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
    """Attach a new database within the block: a connection that uses it, and its name there."""
    name = f"{MAIN}_{next(_numbers)}"
    with _writing_instance().cursor() as connection:
        connection.execute(f"ATTACH {_quoted(path)} AS {name}; USE {name}")
        try:
            yield connection, name
        finally:
            connection.execute(f"USE memory; DETACH {name}")


def _quoted(path: str) -> str:
    return "'{}'".format(path.replace("'", "''"))


def open_file(path: Path) -> duckdb.DuckDBPyConnection:
    """Return a connection that can only read the tables of a file; raise TablesDamagedError if it is damaged."""
    connection: duckdb.DuckDBPyConnection | None = None
    try:
        connection = _connect(str(path), "(READ_ONLY)")
        read_catalogue(connection)
        connection.execute(_LIMITS)
    except duckdb.Error as error:
        if connection is not None:
            connection.close()
        raise TablesDamagedError(f"{path} is damaged: {str(error).splitlines()[0]}") from error
    return connection


def make_in_memory(source: TableSource) -> duckdb.DuckDBPyConnection:
    """Return a connection that can only read tables that are made in memory."""
    connection = _connect(":memory:")
    write_tables(connection, source)
    connection.execute(_LIMITS)
    return connection
