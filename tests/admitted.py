"""What is admitted of chunks: read from the ledger's rows, made up, and as a graph."""

from collections.abc import Iterable, Sequence
from typing import Any

from banyan.graph_store.graph.knowledge_graph import KnowledgeGraph
from banyan.graph_store.ledger.extractions import AdmittedRows, Extractions, rows_by_table
from banyan.graph_store.ledger.tables import ATTRIBUTE_VALUES, FACTS, MENTIONS
from banyan.schemas.documents import Chunk, Span
from banyan.schemas.extraction import AttributeFact, BoundedExtraction, EntityMention, RelationFact

_SPAN = Span(start=0, end=1, quote="x")


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


def facts(*triples: tuple[str, str, str], names: Sequence[str] = (), kind: str = "Thing") -> BoundedExtraction:
    """What a chunk states: these triples, and mentions of their ends and of `names`, all of one type."""
    every = dict.fromkeys([*names, *(end for head, _, tail in triples for end in (head, tail))])
    return BoundedExtraction(
        mentions=tuple(EntityMention(name=name, type=kind, span=_SPAN) for name in every),
        facts=tuple(RelationFact(head=head, head_type=kind, relation=relation, tail=tail, tail_type=kind, span=_SPAN)
                    for head, relation, tail in triples))


def graph_of(parts: Iterable[tuple[str, BoundedExtraction]]) -> KnowledgeGraph:
    by_chunk = [rows_by_table(Chunk.model_construct(id=chunk, document_id=""), bounded) for chunk, bounded in parts]
    rows = ([row for tables in by_chunk for row in tables[table]] for table in (MENTIONS, FACTS, ATTRIBUTE_VALUES))
    return KnowledgeGraph.of_rows(AdmittedRows(*rows))
