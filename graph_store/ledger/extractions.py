"""Store extractions by chunk in the ledger, with what was admitted, repaired or rejected."""

import json
from collections.abc import Iterable, Sequence
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from ...schemas.delta import LabelKind
from ...schemas.documents import Chunk
from ...schemas.extraction import BoundedExtraction, Extraction, Rejection
from ..errors import LedgerDamagedError
from .database import Database, now
from .facts import FactTable, contribution_of, position
from .tables import REJECTIONS, REPAIRS, among

_Model = TypeVar("_Model", bound=BaseModel)

# The labels in an extraction, as <list>.<field>.
_FIELDS: dict[LabelKind, tuple[str, ...]] = {
    "entity_type": ("entities.type",), "relation": ("triples.relation",), "attribute": ("attributes.attribute",),
    "name": ("entities.name", "triples.head", "triples.tail", "attributes.entity")}


class Extractions:
    """Extractions by chunk, and the facts admitted from them."""

    def __init__(self, database: Database) -> None:
        """Read and write the extractions of a ledger."""
        self._db = database
        self.admitted = FactTable(database)

    def save(self, chunk_id: str, reasoner: str, extraction: Extraction) -> None:
        """Store a model's extraction of a chunk, so it is paid only once."""
        with self._db.transaction():
            self._db.execute("INSERT INTO extractions (chunk, reasoner, extraction) VALUES (:chunk, :reasoner, "
                             ":extraction) ON CONFLICT (chunk) DO UPDATE SET reasoner = excluded.reasoner, "
                             "extraction = excluded.extraction",
                             chunk=chunk_id, reasoner=reasoner, extraction=extraction.model_dump_json())
            self._db.execute("UPDATE chunks SET status = 'extracted' WHERE id = :chunk", chunk=chunk_id)
            self._db.execute("DELETE FROM failures WHERE chunk = :chunk", chunk=chunk_id)

    def fail(self, chunk_id: str, reason: str) -> None:
        """Record that a chunk's extraction failed finally, and why."""
        with self._db.transaction():
            self._db.execute("INSERT INTO failures (chunk, reason, failed_at) VALUES (:chunk, :reason, :now) "
                             "ON CONFLICT (chunk) DO UPDATE SET reason = excluded.reason, "
                             "attempts = failures.attempts + 1, failed_at = excluded.failed_at",
                             chunk=chunk_id, reason=reason, now=now())
            self._db.execute("UPDATE chunks SET status = 'failed' WHERE id = :chunk", chunk=chunk_id)

    def get(self, chunk_id: str) -> Extraction | None:
        """Return a chunk's extraction, or None if it was not extracted."""
        text = self._db.scalar("SELECT extraction FROM extractions WHERE chunk = :chunk", chunk=chunk_id)
        return None if text is None else _read(Extraction, str(text), chunk_id)

    def get_many(self, chunk_ids: Sequence[str]) -> dict[str, Extraction]:
        """Return the extractions of chunks by id, leaving out chunks that were not extracted."""
        return {row.chunk: _read(Extraction, row.extraction, row.chunk) for row in self._db.rows(
            f"SELECT chunk, extraction FROM extractions WHERE {among('chunk')}", among=json.dumps(chunk_ids))}  # noqa: S608

    def _note(self, extractions: Sequence[tuple[Chunk, BoundedExtraction]]) -> None:
        """Replace the rejections and repairs of chunks."""
        chunks = [{"chunk": chunk.id} for chunk, _ in extractions]
        self._db.execute_many("DELETE FROM repairs WHERE chunk = :chunk", chunks)
        self._db.insert(REPAIRS, [
            (chunk.id, repair, times)
            for chunk, bounded in extractions for repair, times in sorted(bounded.repairs.items())])
        self._db.execute_many("DELETE FROM rejections WHERE chunk = :chunk", chunks)
        self._db.insert(REJECTIONS, [
            rejection_row(chunk.document_id, chunk.id, rejection)
            for chunk, bounded in extractions for rejection in bounded.rejections])

    def write(self, extractions: Sequence[tuple[Chunk, BoundedExtraction]]) -> None:
        """Replace the facts, rejections and repairs of chunks, and mark the chunks as done."""
        with self._db.transaction():
            self._note(extractions)
            self.admitted.replace({chunk.id: contribution_of(bounded) for chunk, bounded in extractions})
            self._db.execute_many("UPDATE chunks SET status = 'done' WHERE id = :chunk",
                                  [{"chunk": chunk.id} for chunk, _ in extractions])

    def position(self) -> int:
        """Return the number of the last change of rows, which derived files are compared with."""
        return position(self._db)

    def rejected(self) -> dict[str, int]:
        """Return how many extracted items were rejected, by reason."""
        return {str(row[0]): int(row[1]) for row in self._db.rows(
            "SELECT reason, count(*) FROM rejections GROUP BY reason ORDER BY reason")}

    def rejected_facts(self) -> dict[str, int]:
        """Return how many facts and values were rejected, by reason."""
        return {str(row[0]): int(row[1]) for row in self._db.rows(
            "SELECT reason, count(*) FROM rejections WHERE text LIKE '(%' GROUP BY reason ORDER BY reason")}

    def repaired(self) -> dict[str, int]:
        """Return how many extracted items were repaired and admitted, by kind of repair."""
        return {str(row[0]): int(row[1]) for row in self._db.rows(
            "SELECT repair, sum(times) FROM repairs GROUP BY repair ORDER BY repair")}

    def labels(self, kind: LabelKind) -> list[str]:
        """Return the labels of a kind in all extractions, sorted, as they were extracted."""
        return sorted({str(row[0]) for field in _FIELDS[kind] for row in self._db.rows(
            f"SELECT DISTINCT {_value(field)} FROM {_from(field)}")})  # noqa: S608

    def with_labels(self, kind: LabelKind, labels: Iterable[str]) -> set[str]:
        """Return the ids of written chunks whose extraction has one of the labels."""
        return {str(row[0]) for field in _FIELDS[kind] for row in self._db.rows(
            f"SELECT DISTINCT chunk FROM {_from(field)} JOIN chunks ON chunks.id = chunk "  # noqa: S608
            f"WHERE status = 'done' AND {among(_value(field))}", among=json.dumps(sorted(labels)))}


def _read(model: type[_Model], text: str, chunk_id: str) -> _Model:
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        raise LedgerDamagedError(f"what the ledger has of chunk {chunk_id} is damaged "
                                 f"({error.errors()[0]['msg']})") from error


def rejection_row(document_id: str, chunk_id: str, rejection: Rejection) -> tuple[object, ...]:
    """Return a rejection as a row of the table."""
    return (chunk_id, document_id, rejection.reason, rejection.label, rejection.text, rejection.subject_type,
            rejection.object_type, rejection.confidence)


def _from(field: str) -> str:
    return f"extractions CROSS JOIN json_each(extraction, '$.{field.partition('.')[0]}') item"


def _value(field: str) -> str:
    return f"json_extract(item.value, '$.{field.partition('.')[2]}')"
