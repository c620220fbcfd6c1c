"""The ledger's extractions: what was said of each chunk, what of it was admitted, what waits."""

import json
from collections.abc import Iterable, Iterator

from ..schemas.delta import Candidate, ElementKind
from ..schemas.documents import Frozen
from ..schemas.extraction import (
    WAITING,
    AttributeFact,
    BoundedExtraction,
    EntityMention,
    Extraction,
    Fact,
    Rejection,
)
from ..schemas.graph_schema import MAX_ELEMENT_NAME
from .database import Database

_KINDS: dict[str, ElementKind] = {"unknown_entity_type": "entity_type", "unknown_relation": "relation",
                                  "unknown_attribute": "attribute"}
_EXAMPLES = 3


class Contribution(Frozen):
    """What one chunk adds to the graph."""

    mentions: tuple[EntityMention, ...] = ()
    facts: tuple[Fact, ...] = ()
    attributes: tuple[AttributeFact, ...] = ()


class Extractions:
    """Extractions by chunk. Every change of a contribution is also a row of `changes`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def save(self, chunk_id: str, reasoner: str, said: Extraction) -> None:
        """Keep what a reasoner said of a chunk: paid for once, never asked again."""
        with self._db.transaction():
            self._db.execute("INSERT INTO extractions (chunk, reasoner, said) VALUES (?, ?, ?) "
                             "ON CONFLICT (chunk) DO UPDATE SET reasoner = excluded.reasoner, said = excluded.said",
                             chunk_id, reasoner, said.model_dump_json())
            self._db.execute("UPDATE chunks SET status = 'extracted' WHERE id = ?", chunk_id)
            self._db.execute("DELETE FROM failures WHERE chunk = ?", chunk_id)

    def fail(self, chunk_id: str, reason: str) -> None:
        """Record that a chunk's extraction failed for good, and why."""
        with self._db.transaction():
            self._db.execute("INSERT INTO failures (chunk, reason) VALUES (?, ?) ON CONFLICT (chunk) DO UPDATE "
                             "SET reason = excluded.reason, attempts = attempts + 1, "
                             "failed_at = strftime('%Y-%m-%dT%H:%M:%SZ', 'now')", chunk_id, reason)
            self._db.execute("UPDATE chunks SET status = 'failed' WHERE id = ?", chunk_id)

    def said(self, chunk_id: str) -> Extraction | None:
        """What was said of a chunk, or None if it was not extracted."""
        text = self._db.scalar("SELECT said FROM extractions WHERE chunk = ?", chunk_id)
        return None if text is None else Extraction.model_validate_json(str(text))

    def note_rejections(self, document_id: str, chunk_id: str, rejections: Iterable[Rejection]) -> None:
        """Replace a chunk's rejections."""
        with self._db.transaction():
            self._db.execute("DELETE FROM rejections WHERE chunk = ?", chunk_id)
            self._db.execute_many(
                "INSERT INTO rejections VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [(chunk_id, document_id, r.reason, r.label, r.text, r.subject_type, r.object_type, r.confidence)
                 for r in rejections])

    def write(self, document_id: str, chunk_id: str, bounded: BoundedExtraction) -> None:
        """Make a chunk's admitted facts its contribution to the graph."""
        contribution = Contribution(mentions=bounded.mentions, facts=bounded.facts,
                                    attributes=bounded.attributes).model_dump_json()
        with self._db.transaction():
            self.note_rejections(document_id, chunk_id, bounded.rejections)
            if contribution != self._db.scalar("SELECT bounded FROM extractions WHERE chunk = ?", chunk_id):
                self._db.execute("UPDATE extractions SET bounded = ? WHERE chunk = ?", contribution, chunk_id)
                self._db.execute("INSERT INTO changes (chunk) VALUES (?)", chunk_id)
            self._db.execute("UPDATE chunks SET status = 'done' WHERE id = ?", chunk_id)

    def contribution(self, chunk_id: str) -> Contribution | None:
        """What a chunk adds to the graph; None if it is gone or not written."""
        text = self._db.scalar("SELECT bounded FROM extractions WHERE chunk = ?", chunk_id)
        return None if text is None else Contribution.model_validate_json(str(text))

    def contributions(self) -> Iterator[tuple[str, Contribution]]:
        """Every chunk's contribution, by chunk id."""
        for row in self._db.rows("SELECT chunk FROM extractions WHERE bounded IS NOT NULL ORDER BY chunk"):
            found = self.contribution(str(row[0]))
            if found is not None:
                yield str(row[0]), found

    def position(self) -> int:
        """The number of the last change: what derived files are compared with."""
        return self._db.count("SELECT max(seq) FROM changes")

    def changed_since(self, position: int) -> list[str]:
        """The chunks that changed after a position, by id."""
        return [str(row[0]) for row in self._db.rows(
            "SELECT DISTINCT chunk FROM changes WHERE seq > ? ORDER BY chunk", position)]

    def rejected(self) -> dict[str, int]:
        """How many extracted items were not admitted, by reason."""
        return {str(row[0]): int(row[1]) for row in self._db.rows(
            "SELECT reason, count(*) FROM rejections GROUP BY reason ORDER BY reason")}

    def waiting_for(self, names: Iterable[str]) -> list[str]:
        """The written chunks with facts that wait for an element of one of these names, by id."""
        wanted = json.dumps(sorted(names))
        marks = ", ".join(f"'{reason}'" for reason in sorted(WAITING))
        return [str(row[0]) for row in self._db.rows(
            f"SELECT DISTINCT r.chunk FROM rejections r JOIN chunks c ON c.id = r.chunk "  # noqa: S608
            f"WHERE c.status = 'done' AND r.reason IN ({marks}) "
            "AND r.label IN (SELECT value FROM json_each(?)) ORDER BY r.chunk", wanted)]

    def candidates(self) -> list[Candidate]:
        """What waits for a schema element, by element and not yet declined, strongest support first.

        A label that cannot be an element's name is no candidate: its facts stay rejected.
        """
        rows = self._db.rows(
            "SELECT reason, label, count(DISTINCT document) AS documents, count(*) AS occurrences, "
            "avg(confidence) AS confidence, json_group_array(DISTINCT subject_type) AS subjects, "
            "json_group_array(DISTINCT object_type) AS objects FROM rejections "
            "WHERE reason IN (SELECT value FROM json_each(?)) GROUP BY reason, label "
            "ORDER BY documents DESC, occurrences DESC, reason, label", json.dumps(sorted(WAITING)))
        declined = {(str(row[0]), str(row[1])) for row in self._db.rows("SELECT kind, name FROM declined")}
        return [
            Candidate(kind=_KINDS[row["reason"]], name=row["label"], documents=row["documents"],
                      occurrences=row["occurrences"], confidence=round(row["confidence"], 6),
                      subject_types=_types(row["subjects"]), object_types=_types(row["objects"]),
                      examples=self._examples(row["reason"], row["label"]))
            for row in rows if _can_name(row["label"]) and (_KINDS[row["reason"]], row["label"]) not in declined
        ]

    def _examples(self, reason: str, label: str) -> tuple[str, ...]:
        return tuple(str(row[0]) for row in self._db.rows(
            "SELECT DISTINCT text FROM rejections WHERE reason = ? AND label = ? ORDER BY text LIMIT ?",
            reason, label, _EXAMPLES))


def _can_name(label: str) -> bool:
    """Whether a schema element can be called so; models also say nothing at all, or a whole sentence."""
    return len(label) <= MAX_ELEMENT_NAME and label.isprintable() and any(c.isalnum() for c in label)


def _types(array: str) -> tuple[str, ...]:
    return tuple(sorted(name for name in json.loads(array) if name))
