"""Store extractions by chunk in the ledger, with what was admitted, repaired or rejected."""

import json
from collections.abc import Sequence

from ...schemas.documents import Chunk
from ...schemas.extraction import BoundedExtraction, Extraction
from ..store_errors import readable
from .database import Database, now
from .facts import FactTable, Rows, position, replace_rows
from .tables import EXTRACTIONS, REJECTIONS, REPAIRS, among


class Extractions:
    """Extractions by chunk, and the facts admitted from them."""

    def __init__(self, database: Database) -> None:
        """Read and write the extractions of a ledger."""
        self._db = database
        self.admitted = FactTable(database)

    def save(self, chunk_id: str, reasoner: str, extraction: Extraction) -> None:
        """Store a model's extraction of a chunk, so it is paid only once."""
        with self._db.transaction():
            self._db.replace(EXTRACTIONS, [(chunk_id, reasoner, extraction.model_dump_json())])
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
        return self.get_many([chunk_id]).get(chunk_id)

    def get_many(self, chunk_ids: Sequence[str]) -> dict[str, Extraction]:
        """Return the extractions of chunks by id, leaving out chunks that were not extracted.

        Raises:
            LedgerDamagedError: an extraction is not of the form that was written.
        """
        found = {}
        for row in self._db.rows(f"SELECT chunk, extraction FROM extractions WHERE {among('chunk')}",  # noqa: S608
                                 among=json.dumps(chunk_ids)):
            with readable(f"the extraction of chunk {row.chunk}"):
                found[row.chunk] = Extraction.model_validate_json(row.extraction)
        return found

    def write(self, extractions: Sequence[tuple[Chunk, BoundedExtraction]]) -> None:
        """Replace the facts, rejections and repairs of chunks, and mark the chunks as done."""
        chunk_ids = [chunk.id for chunk, _ in extractions]
        with self._db.transaction():
            self.admitted.replace({chunk.id: bounded for chunk, bounded in extractions})
            for table, make_rows in ((REJECTIONS, rejection_rows), (REPAIRS, repair_rows)):
                replace_rows(self._db, table, chunk_ids, [
                    row for chunk, bounded in extractions for row in make_rows(chunk, bounded)])
            self._db.execute(f"UPDATE chunks SET status = 'done' WHERE {among('id')}", among=json.dumps(chunk_ids))  # noqa: S608

    def position(self) -> int:
        """Return the number of the last change of rows, which derived files are compared with."""
        return position(self._db)

    def count_rejections(self) -> dict[str, int]:
        """Return how many extracted items were rejected, by reason."""
        return self._count("SELECT reason, count(*) FROM rejections GROUP BY reason ORDER BY reason")

    def count_rejected_facts(self) -> dict[str, int]:
        """Return how many facts and values were rejected, by reason."""
        return self._count("SELECT reason, count(*) FROM rejections WHERE text LIKE '(%' "
                           "GROUP BY reason ORDER BY reason")

    def count_repairs(self) -> dict[str, int]:
        """Return how many extracted items were repaired and admitted, by kind of repair."""
        return self._count("SELECT repair, sum(times) FROM repairs GROUP BY repair ORDER BY repair")

    def _count(self, sql: str) -> dict[str, int]:
        return {str(name): int(number) for name, number in self._db.rows(sql)}


def rejection_rows(chunk: Chunk, bounded: BoundedExtraction) -> Rows:
    """Return a chunk's rejections as rows of the table."""
    return [(chunk.id, chunk.document_id, r.reason, r.label, r.text, r.subject_type, r.object_type, r.confidence)
            for r in bounded.rejections]


def repair_rows(chunk: Chunk, bounded: BoundedExtraction) -> Rows:
    """Return a chunk's repairs as rows of the table."""
    return [(chunk.id, repair, times) for repair, times in bounded.repairs.items()]
