"""The ledger's extractions by chunk: as they were extracted, and what of them was admitted, repaired or rejected."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeVar

from pydantic import BaseModel, ValidationError

from ...schemas.delta import LabelKind
from ...schemas.documents import Chunk, Frozen
from ...schemas.extraction import AttributeFact, BoundedExtraction, EntityMention, Extraction, Fact, Rejection
from ..errors import LedgerDamagedError
from .database import Database, Record, now
from .tables import CHANGES, REJECTIONS, REPAIRS, among

_Model = TypeVar("_Model", bound=BaseModel)
_READ_AT_ONCE = 256
"""Contributions read with one statement, and held in memory."""

# The labels in an extraction, as <list>.<field>.
_FIELDS: dict[LabelKind, tuple[str, ...]] = {
    "entity_type": ("entities.type",), "relation": ("triples.relation",), "attribute": ("attributes.attribute",),
    "name": ("entities.name", "triples.head", "triples.tail", "attributes.entity")}


class Contribution(Frozen):
    """What one chunk adds to the graph."""

    mentions: tuple[EntityMention, ...] = ()
    facts: tuple[Fact, ...] = ()
    attributes: tuple[AttributeFact, ...] = ()


class Extractions:
    """Extractions by chunk. Every change of a contribution is also a row of `changes`."""

    def __init__(self, database: Database) -> None:
        self._db = database
        # Contributions that the graph has not followed yet, with their texts: what was just written is not parsed.
        self._written: dict[str, tuple[str, Contribution]] = {}

    def save(self, chunk_id: str, reasoner: str, extraction: Extraction) -> None:
        """Keep a reasoner's extraction of a chunk: paid for once, never asked again."""
        with self._db.transaction():
            self._db.execute("INSERT INTO extractions (chunk, reasoner, extraction) VALUES (:chunk, :reasoner, "
                             ":extraction) ON CONFLICT (chunk) DO UPDATE SET reasoner = excluded.reasoner, "
                             "extraction = excluded.extraction",
                             chunk=chunk_id, reasoner=reasoner, extraction=extraction.model_dump_json())
            self._db.execute("UPDATE chunks SET status = 'extracted' WHERE id = :chunk", chunk=chunk_id)
            self._db.execute("DELETE FROM failures WHERE chunk = :chunk", chunk=chunk_id)

    def fail(self, chunk_id: str, reason: str) -> None:
        """Record that a chunk's extraction failed for good, and why."""
        with self._db.transaction():
            self._db.execute("INSERT INTO failures (chunk, reason, failed_at) VALUES (:chunk, :reason, :now) "
                             "ON CONFLICT (chunk) DO UPDATE SET reason = excluded.reason, "
                             "attempts = failures.attempts + 1, failed_at = excluded.failed_at",
                             chunk=chunk_id, reason=reason, now=now())
            self._db.execute("UPDATE chunks SET status = 'failed' WHERE id = :chunk", chunk=chunk_id)

    def get(self, chunk_id: str) -> Extraction | None:
        """A chunk's extraction, or None if it was not extracted."""
        text = self._db.scalar("SELECT extraction FROM extractions WHERE chunk = :chunk", chunk=chunk_id)
        return None if text is None else _read(Extraction, str(text), chunk_id)

    def get_many(self, chunk_ids: Sequence[str]) -> dict[str, Extraction]:
        """The extractions of some chunks, by id; those that were not extracted are left out."""
        return {chunk: _read(Extraction, text, chunk) for chunk, text in self._of("extraction", chunk_ids)}

    def _note(self, extractions: Sequence[tuple[Chunk, BoundedExtraction]]) -> None:
        """Replace what is known of what some chunks' bounding rejected and repaired."""
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
        """Make some chunks' admitted facts their contributions to the graph."""
        contributions = {chunk.id: Contribution(mentions=bounded.mentions, facts=bounded.facts,
                                                attributes=bounded.attributes) for chunk, bounded in extractions}
        texts = {chunk: contribution.model_dump_json() for chunk, contribution in contributions.items()}
        with self._db.transaction():
            self._note(extractions)
            before = dict(map(tuple, self._of("bounded", list(contributions))))
            changed = {chunk: text for chunk, text in texts.items() if text != before.get(chunk)}
            self._db.execute_many("UPDATE extractions SET bounded = :text WHERE chunk = :chunk",
                                  [{"chunk": chunk, "text": text} for chunk, text in changed.items()])
            self._db.insert(CHANGES, [(chunk,) for chunk in changed], "chunk")
            self._db.execute_many("UPDATE chunks SET status = 'done' WHERE id = :chunk",
                                  [{"chunk": chunk} for chunk in contributions])
        self._written.update((chunk, (text, contributions[chunk])) for chunk, text in changed.items())

    def _of(self, column: Literal["extraction", "bounded"], chunk_ids: Sequence[str]) -> Sequence[Record]:
        """Some chunks' ids with one column."""
        return self._db.rows(f"SELECT chunk, {column} FROM extractions WHERE {among('chunk')}",  # noqa: S608
                             among=json.dumps(chunk_ids))

    def contribution(self, chunk_id: str) -> Contribution | None:
        """What a chunk adds to the graph; None if it is gone or not written."""
        text = self._db.scalar("SELECT bounded FROM extractions WHERE chunk = :chunk", chunk=chunk_id)
        return None if text is None else _read(Contribution, str(text), chunk_id)

    def contributions(self) -> Iterator[tuple[str, Contribution]]:
        """Every chunk's contribution, by chunk id."""
        ids = [str(row[0]) for row in self._db.rows(
            "SELECT chunk FROM extractions WHERE bounded IS NOT NULL ORDER BY chunk")]
        for chunk_id, contribution in self._contributions_of(ids):
            if contribution is not None:
                yield chunk_id, contribution

    def _contributions_of(self, chunk_ids: Sequence[str]) -> Iterator[tuple[str, Contribution | None]]:
        for start in range(0, len(chunk_ids), _READ_AT_ONCE):
            some = chunk_ids[start:start + _READ_AT_ONCE]
            texts = dict(map(tuple, self._of("bounded", some)))
            for chunk in some:
                text = texts.get(chunk)
                yield chunk, None if text is None else self._parsed(chunk, text)

    def _parsed(self, chunk_id: str, text: str) -> Contribution:
        written = self._written.pop(chunk_id, None)
        if written and written[0] == text:
            return written[1]
        return _read(Contribution, text, chunk_id)

    def position(self) -> int:
        """The number of the last change: what derived files are compared with."""
        return self._db.count("SELECT max(seq) FROM changes")

    def changed_since(self, position: int) -> Iterator[tuple[str, Contribution | None]]:
        """The chunks that changed after a position, by id, with what they add now; None of those that are gone."""
        return self._contributions_of([str(row[0]) for row in self._db.rows(
            "SELECT DISTINCT chunk FROM changes WHERE seq > :position ORDER BY chunk", position=position)])

    def rejected(self) -> dict[str, int]:
        """How many extracted items were not admitted, by reason."""
        return {str(row[0]): int(row[1]) for row in self._db.rows(
            "SELECT reason, count(*) FROM rejections GROUP BY reason ORDER BY reason")}

    def rejected_facts(self) -> dict[str, int]:
        """Return how many facts and values were not admitted, by reason."""
        return {str(row[0]): int(row[1]) for row in self._db.rows(
            "SELECT reason, count(*) FROM rejections WHERE text LIKE '(%' GROUP BY reason ORDER BY reason")}

    def repaired(self) -> dict[str, int]:
        """How many extracted items were repaired before they were admitted, by the kind of repair."""
        return {str(row[0]): int(row[1]) for row in self._db.rows(
            "SELECT repair, sum(times) FROM repairs GROUP BY repair ORDER BY repair")}

    def labels(self, kind: LabelKind) -> list[str]:
        """The labels of a kind in all extractions, as they were extracted."""
        return sorted({str(row[0]) for field in _FIELDS[kind] for row in self._db.rows(
            f"SELECT DISTINCT {_value(field)} FROM {_from(field)}")})  # noqa: S608

    def with_labels(self, kind: LabelKind, labels: Iterable[str]) -> set[str]:
        """The ids of the written chunks whose extraction has one of some labels."""
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
    """A rejection as a row of the table."""
    return (chunk_id, document_id, rejection.reason, rejection.label, rejection.text, rejection.subject_type,
            rejection.object_type, rejection.confidence)


def _from(field: str) -> str:
    return f"extractions CROSS JOIN json_each(extraction, '$.{field.partition('.')[0]}') item"


def _value(field: str) -> str:
    return f"json_extract(item.value, '$.{field.partition('.')[2]}')"
