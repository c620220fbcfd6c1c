"""Check that facts quote their source, fit the schema, and are what it admits from the extractions."""

import json
from collections.abc import Iterator

from ...schemas.documents import Chunk, Span
from ...schemas.extraction import BoundedExtraction
from ...schemas.graph_schema import GraphSchema
from ..errors import LedgerDamagedError
from ..knowledge_base import KnowledgeBase
from ..ledger.extractions import rejection_row
from ..ledger.facts import Contribution, contribution_of
from ..ledger.schema_requests import ask_row
from .problems import REINDEX, RESTORE, Problem

_AT_ONCE = 256


def contributions(kb: KnowledgeBase) -> Iterator[Problem]:
    """Check that each stored fact quotes its source, connects entities of its chunk and fits the schema in force."""
    schema = kb.schemas.current() if kb.schemas.version() else None
    for chunk in kb.documents.chunks():
        where = f"document {chunk.document_id!r}, chunk {chunk.ordinal}"
        try:
            kb.extractions.get(chunk.id)
            contribution = kb.extractions.admitted.contribution(chunk)
        except LedgerDamagedError as error:
            yield Problem(what=f"{where}: {error}", fix=RESTORE)
            continue
        yield from (Problem(what=f"{where}: {line}", fix=RESTORE) for line in _find_ungrounded(contribution, chunk))
        yield from (Problem(what=f"{where}: {line} does not fit the schema", fix=REINDEX)
                    for line in _find_misfits(contribution, schema))


def _find_ungrounded(contribution: Contribution, chunk: Chunk) -> Iterator[str]:
    spans: list[Span] = [*(item.span for item in contribution.mentions), *(item.span for item in contribution.facts),
                         *(item.span for item in contribution.attributes)]
    for span in spans:
        if not 0 <= span.start < span.end <= len(chunk.text):
            yield f"a fact rests on words at {span.start}..{span.end}, which are not there"
    mentioned = {(mention.name, mention.type) for mention in contribution.mentions}
    ends = [end for fact in contribution.facts for end in ((fact.head, fact.head_type), (fact.tail, fact.tail_type))]
    for name, kind in sorted({*ends, *((a.entity, a.entity_type) for a in contribution.attributes)} - mentioned):
        yield f"a fact is about {name!r} ({kind}), which the chunk does not mention"


def _find_misfits(contribution: Contribution, schema: GraphSchema | None) -> Iterator[str]:
    for fact in contribution.facts:
        if schema is None or not schema.fits(fact.head_type, fact.relation, fact.tail_type):
            yield f"({fact.head}; {fact.relation}; {fact.tail})"
    for value in contribution.attributes:
        if schema is None or not schema.fits_attribute(value.entity_type, value.attribute):
            yield f"({value.entity}; {value.attribute})"
    for mention in contribution.mentions:
        if schema is None or not (schema.open or schema.entity_type(mention.type)):
            yield f"{mention.name!r} of the type {mention.type!r}"


def bounding(kb: KnowledgeBase) -> Iterator[Problem]:
    """Check that each chunk's facts, rejections, repairs and asks are what the schema makes of its extraction."""
    if not kb.schemas.version():
        return
    done = kb.documents.done()
    for start in range(0, len(done), _AT_ONCE):
        for chunk, current, base in kb.schema_control.bound_again(done[start:start + _AT_ONCE]):
            where = f"document {chunk.document_id!r}, chunk {chunk.ordinal}"
            for what in _differences(kb, chunk, current, base):
                yield Problem(what=f"{where}: {what} are not what the schema admits of the extraction", fix=REINDEX)


def _differences(kb: KnowledgeBase, chunk: Chunk, current: BoundedExtraction, base: BoundedExtraction) -> Iterator[str]:
    if kb.extractions.admitted.contribution(chunk) != contribution_of(current):
        yield "its facts"
    key = chunk.document_id, chunk.id
    if _rows(kb, "rejections", chunk.id) != sorted(json.dumps(rejection_row(*key, r)) for r in current.rejections):
        yield "its rejected facts"
    if _rows(kb, "repairs", chunk.id) != sorted(json.dumps((chunk.id, *r)) for r in current.repairs.items()):
        yield "its repairs"
    requests = sorted(json.dumps(row) for ask in base.asks if (row := ask_row(*key, ask)))
    if _rows(kb, "schema_requests", chunk.id) != requests:
        yield "the facts that wait for the schema"


def _rows(kb: KnowledgeBase, table: str, chunk_id: str) -> list[str]:
    rows = kb.database.rows(f"SELECT * FROM {table} WHERE chunk = :chunk", chunk=chunk_id)  # noqa: S608
    return sorted(json.dumps(tuple(row)) for row in rows)
