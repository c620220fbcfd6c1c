"""Write tables of records, of documents and of the graph to DuckDB, and describe them in a catalogue.

Behind its own columns, a table has the document of each row and the start and end of its words there (`HIDDEN`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import duckdb
import numpy as np
import orjson

from ...schemas.documents import Chunk, SourceTable
from ...schemas.records import TableInfo
from ..graph.knowledge_graph import KnowledgeGraph
from .graph_tables import GRAPH_TABLES, write_graph
from .logical_tables import DOCUMENT, HIDDEN, LogicalTable, NameSpace, Place, SourceColumn, make_logical_tables
from .typed_columns import SqlColumn, create_table, make_text_column, make_typed_columns
from .value_words import write_value_words

MAIN, DOCUMENTS = "kb", "documents"
"""The name by which a connection has the database of the tables, and the name of the table of documents."""
_CATALOGUE = "_catalogue"

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
    infos = [_write_records(connection, table) for table in make_logical_tables(source.tables, names)]
    infos.append(_write_documents(connection, source.documents))
    infos += write_graph(connection, source.graph, source.chunks, names)
    write_value_words(connection, infos, source.chunks)
    listed = orjson.dumps([info.model_dump() for info in infos]).decode()
    connection.execute(f"CREATE TABLE main.{_CATALOGUE} AS SELECT ? AS infos", [listed])


def read_catalogue(connection: duckdb.DuckDBPyConnection) -> tuple[TableInfo, ...]:
    """Return the catalogue of the tables that a connection has as `MAIN`."""
    row = connection.execute(f"SELECT infos FROM {MAIN}.main.{_CATALOGUE}").fetchone()  # noqa: S608
    return tuple(map(TableInfo.model_validate, orjson.loads(row[0]))) if row else ()


def _write_records(connection: duckdb.DuckDBPyConnection, table: LogicalTable) -> TableInfo:
    names = NameSpace([DOCUMENT, *(column.name for column in table.columns)])
    columns = list(make_typed_columns(table.columns, names))
    columns.append(make_text_column(DOCUMENT, DOCUMENT, [place.document for place in table.places]))
    _write_table(connection, table.name, columns, table.places)
    return TableInfo(name=table.name, title=table.title, kind="records", rows=len(table.places),
                     documents=len({place.document for place in table.places}),
                     columns=tuple(column.info for column in columns))


def _write_documents(connection: duckdb.DuckDBPyConnection, documents: Documents) -> TableInfo:
    """Write the table of all documents with the fields of their metadata."""
    own = (DOCUMENT, "title", "source")
    names = NameSpace(own)
    columns = [make_text_column(name, name, [str(document[place]) for document in documents])
               for place, name in enumerate(own)]
    fields = [SourceColumn(names.take(field, "field"), field, [metadata.get(field, "") for *_, metadata in documents])
              for field in sorted({field for *_, metadata in documents for field in metadata})]
    columns += make_typed_columns(fields, names)
    _write_table(connection, DOCUMENTS, columns, [Place(document, 0, 0) for document, *_ in documents])
    return TableInfo(name=DOCUMENTS, title=DOCUMENTS, kind="documents", rows=len(documents), documents=len(documents),
                     columns=tuple(column.info for column in columns))


def _write_table(connection: duckdb.DuckDBPyConnection, name: str, columns: Sequence[SqlColumn],
                 places: Sequence[Place]) -> None:
    stored = {column.info.name: (column.sql_type, column.values) for column in columns}
    documents, starts, ends = HIDDEN
    stored |= {documents: ("VARCHAR", np.array([place.document for place in places], object)),
               starts: ("INTEGER", np.array([place.start for place in places], np.int32)),
               ends: ("INTEGER", np.array([place.end for place in places], np.int32))}
    create_table(connection, f'main."{name}"', stored)
