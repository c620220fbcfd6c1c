"""Store extractions by chunk in the ledger, with what was admitted, repaired or rejected.

Mentions, facts and values are the source of everything derived. A quote is stored as its span in the chunk's text.

An extraction is stored with the fingerprint of the reasoner that made it. A model's fingerprint also identifies its
instructions for extraction: it is "llm:NAME" without instructions, and "llm-DIGEST:NAME" with some.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import Table

from ...schemas.delta import ElementKind
from ...schemas.documents import Chunk
from ...schemas.extraction import BoundedExtraction, Extraction
from ..store_errors import readable
from .database import Database, now
from .notes import GraphState, ledger_state
from .tables import ATTRIBUTE_VALUES, EXTRACTIONS, FACTS, MENTIONS, REJECTIONS, REPAIRS, among

_PAGE = 10_000  # rows of a table that are read at once
Rows = Sequence[tuple[Any, ...]]
_ADMITTED = (MENTIONS, FACTS, ATTRIBUTE_VALUES)
RULES = "rules"
IMPORTED = "recorded"  # the fingerprint of imported triples


class AdmittedRows(NamedTuple):
    """Rows of the tables of mentions, facts and attribute values, sorted by chunk and then by order in the chunk."""

    mentions: Iterable[Any]
    facts: Iterable[Any]
    values: Iterable[Any]


def chunk_rows(database: Database, table: Table, chunk_ids: Sequence[str]) -> dict[str, list[tuple[Any, ...]]]:
    """Return a table's rows of some chunks by the chunk's id; the rows of each chunk are sorted."""
    rows = database.rows(f"SELECT * FROM {table.name} WHERE {among('chunk')}", among=chunk_ids)  # noqa: S608
    return _by_chunk(map(tuple, rows))


def replace_rows(database: Database, table: Table, chunk_ids: Sequence[str], rows: Rows) -> None:
    """Replace a table's rows of some chunks; what is equal is not written again. Call this in a transaction."""
    before, after = chunk_rows(database, table, chunk_ids), _by_chunk(rows)
    changed = [chunk for chunk in chunk_ids if before.get(chunk) != after.get(chunk)]
    if changed:
        database.execute(f"DELETE FROM {table.name} WHERE {among('chunk')}", among=changed)  # noqa: S608
        database.insert(table, chain.from_iterable(after.get(chunk, ()) for chunk in changed))


def _by_chunk(rows: Iterable[tuple[Any, ...]]) -> dict[str, list[tuple[Any, ...]]]:
    """Return rows, which begin with the id of a chunk, by this id and sorted."""
    return {chunk: [*of_chunk] for chunk, of_chunk in groupby(sorted(rows), key=itemgetter(0))}


class Extractions:
    """Extractions by chunk, and the facts admitted from them."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def save(self, chunk_id: str, reasoner: str, extraction: Extraction) -> None:
        """Store the extraction of a chunk by a reader with a fingerprint."""
        with self._db.transaction():
            self._db.insert(EXTRACTIONS, [(chunk_id, reasoner, extraction.model_dump_json(), "")], replace=True)
            self._db.execute("UPDATE chunks SET status = 'extracted' WHERE id = :chunk", chunk=chunk_id)
            self._db.execute("DELETE FROM failures WHERE chunk = :chunk", chunk=chunk_id)

    def fail(self, chunk_id: str, reason: str) -> None:
        """Record that a chunk's extraction failed finally, and why; a chunk in the graph stays there."""
        with self._db.transaction():
            self._db.execute("INSERT INTO failures (chunk, reason, failed_at) VALUES (:chunk, :reason, :now) "
                             "ON CONFLICT (chunk) DO UPDATE SET reason = excluded.reason, "
                             "attempts = failures.attempts + 1, failed_at = excluded.failed_at",
                             chunk=chunk_id, reason=reason, now=now())
            self._db.execute("UPDATE chunks SET status = 'failed' WHERE id = :chunk AND status <> 'done'",
                             chunk=chunk_id)

    def get(self, chunk_id: str) -> Extraction | None:
        """Return a chunk's extraction, or None if it was not extracted."""
        return self.get_many([chunk_id]).get(chunk_id)

    def fingerprint(self, chunk_id: str) -> str | None:
        """Return the fingerprint of what extracted a chunk (see `reader_of`), or None if it was not extracted."""
        return next(iter(self._db.texts("SELECT reasoner FROM extractions WHERE chunk = :chunk", chunk=chunk_id)), None)

    def count_fingerprints(self) -> dict[str, int]:
        """Return the number of chunks in service by the fingerprint of what extracted them."""
        return self._db.counts("SELECT e.reasoner, count(*) FROM extractions e JOIN chunks c ON c.id = e.chunk "
                               "WHERE c.revision = 0 GROUP BY e.reasoner ORDER BY e.reasoner")

    def get_many(self, chunk_ids: Sequence[str]) -> dict[str, Extraction]:
        """Return the extractions of those of some chunks that were extracted."""
        found = {}
        for row in self._db.rows(f"SELECT chunk, extraction FROM extractions WHERE {among('chunk')}",  # noqa: S608
                                 among=chunk_ids):
            with readable(f"the extraction of chunk {row.chunk}"):
                found[row.chunk] = Extraction.model_validate_json(row.extraction)
        return found

    def write(self, extractions: Sequence[tuple[Chunk, BoundedExtraction]]) -> None:
        """Replace the admitted, rejected and repaired items of chunks, and mark the chunks as done."""
        chunk_ids = [chunk.id for chunk, _ in extractions]
        rows = [rows_by_table(chunk, bounded) for chunk, bounded in extractions]
        with self._db.transaction():
            for table in (*_ADMITTED, REJECTIONS, REPAIRS):
                replace_rows(self._db, table, chunk_ids, [*chain.from_iterable(of_chunk[table] for of_chunk in rows)])
            self._db.execute(f"UPDATE chunks SET status = 'done' WHERE status <> 'done' AND {among('id')}",  # noqa: S608
                             among=chunk_ids)

    def rows(self, chunk_ids: Sequence[str] | None = None) -> AdmittedRows:
        """Return the rows of the admitted items of some chunks, or of all with None; each can be iterated once."""
        return AdmittedRows(*(self._read_in_pages(table, chunk_ids) for table in _ADMITTED))

    def _read_in_pages(self, table: Table, chunk_ids: Sequence[str] | None) -> Iterator[Any]:
        """Yield a table's rows, sorted; they are read in pages, so that nothing is locked between two of these."""
        of_chunks, values = ("", {}) if chunk_ids is None else (f"{among('chunk')} AND", {"among": chunk_ids})
        sql = (f"SELECT * FROM {table.name} WHERE {of_chunks} (chunk, ordinal) > (:chunk, :ordinal) "  # noqa: S608
               "ORDER BY chunk, ordinal LIMIT :most")
        last: tuple[str, int] = ("", -1)  # before every row
        while page := self._db.rows(sql, chunk=last[0], ordinal=last[1], most=_PAGE, **values):
            yield from page
            last = page[-1].chunk, page[-1].ordinal

    def elements(self) -> set[tuple[ElementKind, str]]:
        """Return the types, relations and attributes that admitted items use, each as its kind and name."""
        return set(map(tuple, self._db.rows(
            "SELECT 'entity_type', type FROM mentions UNION SELECT 'relation', relation FROM facts "
            "UNION SELECT 'attribute', attribute FROM attribute_values")))

    def types_of(self, names: Sequence[str]) -> dict[str, str]:
        """Return for each of some names the type that most mentions of it have; names without mentions are left out."""
        rows = self._db.rows("SELECT name, type FROM mentions WHERE "  # noqa: S608
                             f"{among('name')} GROUP BY name, type ORDER BY count(*), type", among=names)
        return {row.name: row.type for row in rows}  # the most frequent one is last, and replaces the others

    def state(self) -> GraphState:
        """Return the last change of rows from which anything is derived, and of aliases or edits."""
        state = ledger_state(self._db)
        return GraphState(state.position, state.resolution)

    def count_rejections(self, *, of_facts: bool = False) -> dict[str, int]:
        """Return how many extracted items, or only facts and values, were rejected, by reason."""
        like = "(%" if of_facts else "%"  # the texts of facts and values begin with a parenthesis
        return self._db.counts("SELECT reason, count(*) FROM rejections WHERE text LIKE :like "
                               "GROUP BY reason ORDER BY reason", like=like)

    def count_repairs(self) -> dict[str, int]:
        """Return how many extracted items were repaired before they were admitted, by kind of repair."""
        return self._db.counts("SELECT repair, sum(times) FROM repairs GROUP BY repair ORDER BY repair")


def rows_by_table(chunk: Chunk, bounded: BoundedExtraction) -> dict[Table, Rows]:
    """Return the admitted, rejected and repaired items of a chunk as rows, by their table."""
    key = chunk.id
    return {
        MENTIONS: [(key, number, m.name, m.type, m.span.start, m.span.end)
                   for number, m in enumerate(bounded.mentions)],
        FACTS: [(key, number, f.head, f.head_type, f.relation, f.tail, f.tail_type, f.time, f.span.start, f.span.end,
                 f.confidence) for number, f in enumerate(bounded.facts)],
        ATTRIBUTE_VALUES: [(key, number, v.entity, v.entity_type, v.attribute, v.value, v.normal, v.time, v.span.start,
                            v.span.end, v.confidence) for number, v in enumerate(bounded.attributes)],
        REJECTIONS: [(key, chunk.document_id, r.reason, r.label, r.text, r.subject_type, r.object_type, r.confidence)
                     for r in bounded.rejections],
        REPAIRS: [(key, repair, times) for repair, times in bounded.repairs.items()]}


def _parse(fingerprint: str) -> tuple[str, str, str]:
    """Return the kind of reader, the digest of its instructions, and the model; the last two "" where there is none."""
    kind, _, models = fingerprint.partition(":")
    kind, _, digest = kind.partition("-")
    # "+" separates the model that extracts from the one that resolves entities, which reads no chunk.
    return kind, digest, models.partition("+")[0]


def reader_of(fingerprint: str) -> str:
    """Return the reader of an extraction by its fingerprint: `RULES`, `IMPORTED`, or the name of a model."""
    kind, _, model = _parse(fingerprint)
    return model or kind


def add_instructions(fingerprint: str, instructions: str) -> str:
    """Return a model's fingerprint with a digest of its instructions; the rules follow none."""
    kind, colon, models = fingerprint.partition(":")
    if not colon or not instructions:
        return fingerprint
    return f"{kind}-{hashlib.sha256(instructions.encode()).hexdigest()[:12]}:{models}"


def is_same_reading(first: str, second: str) -> bool:
    """Return True if two fingerprints are of the same reader with the same instructions for extraction."""
    return _parse(first) == _parse(second)


def count_by_reader(fingerprints: Mapping[str, int]) -> dict[str, int]:
    """Sum up numbers of chunks by fingerprint to numbers by reader, sorted by the reader's name."""
    counts = Counter[str]()
    for fingerprint, number in fingerprints.items():
        counts[reader_of(fingerprint)] += number
    return dict(sorted(counts.items()))


def find_outdated(fingerprints: Mapping[str, int], current: str) -> list[str]:
    """Return the fingerprints of extractions that `build --reread` would make again with the current reader."""
    if reader_of(current) == RULES:
        return []  # a model may have made them better
    return sorted(fingerprint for fingerprint in fingerprints
                  if reader_of(fingerprint) != IMPORTED and not is_same_reading(fingerprint, current))
