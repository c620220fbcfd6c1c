"""Tables for SQL of documents that are given with their tables, in memory."""

from collections.abc import Sequence
from pathlib import Path

from banyan.graph_store.graph.knowledge_graph import KnowledgeGraph
from banyan.graph_store.ledger.database import Database
from banyan.graph_store.ledger.document_rows import Documents
from banyan.graph_store.ledger.extractions import AdmittedRows
from banyan.graph_store.sql.engine import SqlEngine
from banyan.graph_store.sql.table_file import TableSource, open_tables
from banyan.schemas.documents import Document, SourceTable


def document_of(key: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "",
                **metadata: str) -> Document:
    return document_of_tables(key, [(title, columns, rows)], **metadata)


def document_of_tables(key: str, tables: Sequence[tuple[str, Sequence[str], Sequence[Sequence[str]]]],
                       **metadata: str) -> Document:
    text, found = "", []
    for title, columns, rows in tables:
        spans = []
        for row in rows:
            line = " | ".join(row)
            spans.append((len(text), len(text) + len(line)))
            text += line + "\n"
        found.append(SourceTable(title=title, columns=tuple(columns), rows=tuple(map(tuple, rows)), spans=tuple(spans)))
    return Document(id=key, title=key, text=text, source=key, metadata=metadata, tables=tuple(found))


def engine_of(*documents: Document) -> SqlEngine:
    stored = Documents(Database(Path(":memory:")))
    for document in documents:
        stored.put(document, [])
    ordered = sorted(documents, key=lambda document: document.id)
    source = TableSource([(document.id, document.title, document.source, document.metadata) for document in ordered],
                         [(document.id, table) for document in ordered for table in document.tables],
                         KnowledgeGraph.of_rows(AdmittedRows([], [], [])), [])
    return SqlEngine(open_tables({"": (None, lambda: source)}), stored)
