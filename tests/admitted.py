"""What is admitted of chunks: read from the ledger's rows, and as a graph."""

from collections.abc import Iterable
from typing import Any

from banyan.graph_store.graph.knowledge_graph import KnowledgeGraph
from banyan.graph_store.ledger.extractions import AdmittedRows, Extractions, rows_of
from banyan.schemas.documents import Chunk, Span
from banyan.schemas.extraction import AttributeFact, BoundedExtraction, EntityMention, RelationFact


def admitted(table: Extractions, chunk: Chunk) -> BoundedExtraction:
    """What is admitted of a chunk, with the quotes that its text has at the spans."""
    mentions, facts, values = table.rows([chunk.id])
    return BoundedExtraction(mentions=tuple(EntityMention(**_fields(row, chunk)) for row in mentions),
                             facts=tuple(RelationFact(**_fields(row, chunk)) for row in facts),
                             attributes=tuple(AttributeFact(**_fields(row, chunk)) for row in values))


def _fields(row: Any, chunk: Chunk) -> dict[str, Any]:
    span = Span(start=row.start, end=row.end, quote=chunk.text[row.start:row.end])
    return {name: value for name, value in row._asdict().items()
            if name not in {"chunk", "ordinal", "start", "end"}} | {"span": span}


def graph_of(parts: Iterable[tuple[str, BoundedExtraction]]) -> KnowledgeGraph:
    tables = zip(*(rows_of(*part) for part in parts), strict=True)
    rows = [[row for own in table for row in own] for table in tables] or [[], [], []]
    return KnowledgeGraph.of_rows(AdmittedRows(*rows))
