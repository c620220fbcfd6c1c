"""The ledger's schema requests: labels that the schema does not know, occurrence by occurrence."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ...schemas.delta import ElementKind, Example
from ...schemas.documents import Chunk
from ...schemas.extraction import Ask, BoundedExtraction
from ...schemas.graph_schema import MAX_ELEMENT_NAME
from ...schemas.naming import is_readable_label
from .database import Database
from .tables import SCHEMA_REQUESTS, among

_SAME = "same_labels"


class AskCount(NamedTuple):
    """The asks of one document for one label between the same types."""

    kind: ElementKind
    label: str
    subject_type: str
    object_type: str
    document: str
    occurrences: int
    confidence: float
    """Summed over the occurrences."""
    rows: int = 0
    """Table rows among them, each once."""
    said: str = ""
    """The label that was asked for, where `label` is another one that means the same."""
    backward: bool = False
    """What was asked for says it from tail to head."""


class SameAs(NamedTuple):
    """What a label means: another label, or with "" only itself; `backward`: from tail to head."""

    label: str
    backward: bool = False


class Asks:
    """Asks by chunk, as bounded by the base schema: the one without its automatic growth.

    So what automatic growth is decided on does not depend on what it accepted before.
    """

    def __init__(self, database: Database) -> None:
        self._db = database

    def replace(self, extractions: Sequence[tuple[Chunk, BoundedExtraction]]) -> None:
        """Replace some chunks' asks."""
        with self._db.transaction():
            self._db.execute_many("DELETE FROM schema_requests WHERE chunk = :chunk",
                                  [{"chunk": chunk.id} for chunk, _ in extractions])
            self._db.insert(SCHEMA_REQUESTS, [row for chunk, bounded in extractions for ask in bounded.asks
                                              if (row := ask_row(chunk.document_id, chunk.id, ask))])

    def counts(self) -> list[AskCount]:
        """All asks, those of a document for a label between the same types as one."""
        return [AskCount(*row) for row in self._db.rows(
            "SELECT kind, label, subject_type, object_type, document, count(*), sum(confidence), "
            "count(DISTINCT CASE WHEN declared = 1 THEN item END) FROM schema_requests "
            "GROUP BY kind, label, subject_type, object_type, document ORDER BY 1, 2, 3, 4, 5")]

    def same(self) -> dict[tuple[ElementKind, str], SameAs]:
        """Return the labels that were compared, by kind, and what each means."""
        stored = json.loads(self._db.get_meta(_SAME) or "[]")
        return {(kind, label): SameAs(name, bool(backward)) for kind, label, name, backward in stored}

    def keep_same(self, same: Mapping[tuple[ElementKind, str], SameAs]) -> None:
        """Keep what some labels mean, so that they are not compared again."""
        known = self.same() | dict(same)
        self._db.set_meta(_SAME, json.dumps([(*key, *known[key]) for key in sorted(known)], ensure_ascii=False))

    def labels(self) -> list[tuple[ElementKind, str]]:
        """What is asked for: kind and label, each once."""
        return [(row[0], row[1]) for row in self._db.rows(
            "SELECT DISTINCT kind, label FROM schema_requests ORDER BY kind, label")]

    def examples(self, kind: ElementKind, labels: Collection[str], most: int) -> list[Example]:
        """Occurrences of some labels with their words, of as many documents as there are."""
        rows = self._db.rows(
            'WITH chosen AS (SELECT a.document, a.item, c.start + a.start AS start, c.start + a."end" AS "end", '  # noqa: S608
            "row_number() OVER (PARTITION BY a.document ORDER BY c.ordinal, a.start, a.item) AS turn "
            "FROM schema_requests a JOIN chunks c ON c.id = a.chunk "
            f"WHERE a.kind = :kind AND {among('a.label')} ORDER BY turn, a.document LIMIT :most) "
            'SELECT chosen.document, item, substr(text, start + 1, "end" - start) AS words '
            "FROM chosen JOIN documents ON id = chosen.document ORDER BY turn, chosen.document",
            kind=kind, among=json.dumps(sorted(labels)), most=most)
        return [Example(document=row.document, item=row.item, words=row.words) for row in rows]


def ask_row(document_id: str, chunk_id: str, ask: Ask) -> tuple[object, ...]:
    """An ask as a row of the table; empty if its label cannot name anything."""
    if not (is_readable_label(ask.label) or (ask.declared and _is_column(ask.label))):
        return ()
    return (chunk_id, document_id, ask.kind, ask.label, ask.subject_type, ask.object_type, ask.text,
            ask.context.start, ask.context.end, ask.confidence, int(ask.declared))


def _is_column(header: str) -> bool:
    """Return True if a column can be called so; its author declared it, so that "2024" is a name, too."""
    return len(header) <= MAX_ELEMENT_NAME and header.isprintable() and any(map(str.isalnum, header))
