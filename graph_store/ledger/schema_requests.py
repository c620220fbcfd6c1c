"""Store schema requests, or asks, in the ledger: every occurrence of a label that the schema does not admit."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from ...schemas.delta import ElementKind, Example
from ...schemas.documents import Chunk
from ...schemas.extraction import BoundedExtraction
from ...schemas.graph_schema import MAX_ELEMENT_NAME
from ...schemas.naming import is_readable_label
from .database import Database
from .extractions import Rows, replace_rows
from .tables import SCHEMA_REQUESTS, among

_VERDICTS = "label_verdicts"

Label = tuple[ElementKind, str]
"""A label with its kind."""


class AskCount(NamedTuple):
    """How often one document asks for one label between the same types."""

    kind: ElementKind
    label: str
    subject_type: str
    object_type: str
    document: str
    occurrences: int
    confidence: float
    """Summed over the occurrences."""
    rows: int = 0
    """The number of distinct table rows among the occurrences."""
    said: str = ""
    """The label in the document, if `label` is another one with the same meaning."""
    backward: bool = False
    """True if the label in the document states the relation from tail to head."""


class SameAs(NamedTuple):
    """A verdict that a label means the same as `label`, "" for none; `backward` if it states that from tail to head."""

    label: str
    backward: bool = False


class Asks:
    """The asks of chunks, found by the base schema, and models' verdicts on which labels mean the same."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def replace(self, extractions: Sequence[tuple[Chunk, BoundedExtraction]]) -> None:
        """Replace the stored asks of chunks by those of their extractions."""
        rows = [row for chunk, bounded in extractions for row in ask_rows(chunk, bounded)]
        with self._db.transaction():
            replace_rows(self._db, SCHEMA_REQUESTS, [chunk.id for chunk, _ in extractions], rows)

    def counts(self) -> list[AskCount]:
        """Return how often each document asks the schema for a label between the same types (see `AskCount`)."""
        return [AskCount(*row) for row in self._db.rows(
            "SELECT kind, label, subject_type, object_type, document, count(*), sum(confidence), "
            "count(DISTINCT CASE WHEN declared = 1 THEN item END) FROM schema_requests "
            "GROUP BY kind, label, subject_type, object_type, document ORDER BY 1, 2, 3, 4, 5")]

    def same(self) -> dict[Label, SameAs]:
        """Return the stored verdicts by label, for all labels that a model has compared."""
        return {(kind, label): SameAs(name, bool(backward)) for comparison in self._comparisons()
                for kind, label, name, backward in comparison["verdicts"]}

    def keep_same(self, shown: Collection[Label], same: Mapping[Label, SameAs]) -> None:
        """Store the verdicts of one comparison, which rest on all labels that were shown, so it is not made again."""
        comparison: dict[str, list[Any]] = {"shown": sorted(shown),
                                            "verdicts": [(*label, *same[label]) for label in sorted(same)]}
        self._store([*self._comparisons(), comparison])

    def outdated(self, present: Collection[Label]) -> int:
        """Return the number of comparisons that showed the model a label that documents no longer have."""
        return sum(not _is_present(comparison, present) for comparison in self._comparisons())

    def drop_outdated(self, present: Collection[Label]) -> None:
        """Drop the verdicts of comparisons that `outdated` counts: a deleted label may have influenced the model."""
        comparisons = self._comparisons()
        current = [comparison for comparison in comparisons if _is_present(comparison, present)]
        if len(current) < len(comparisons):
            self._store(current)

    def _comparisons(self) -> list[dict[str, list[Any]]]:
        return list(json.loads(self._db.get_meta(_VERDICTS) or "[]"))

    def _store(self, comparisons: list[dict[str, list[Any]]]) -> None:
        self._db.set_meta(_VERDICTS, json.dumps(comparisons, ensure_ascii=False))

    def examples(self, kind: ElementKind, labels: Collection[str], most: int) -> list[Example]:
        """Return up to `most` occurrences of labels of a kind, with their text, spread over documents."""
        rows = self._db.rows(
            'WITH chosen AS (SELECT a.document, a.item, c.start + a.start AS start, c.start + a."end" AS "end", '  # noqa: S608
            "row_number() OVER (PARTITION BY a.document ORDER BY c.ordinal, a.start, a.item) AS turn "
            "FROM schema_requests a JOIN chunks c ON c.id = a.chunk "
            f"WHERE a.kind = :kind AND {among('a.label')} ORDER BY turn, a.document LIMIT :most) "
            'SELECT chosen.document, item, substr(text, start + 1, "end" - start) AS words '
            "FROM chosen JOIN documents ON id = chosen.document ORDER BY turn, chosen.document",
            kind=kind, among=sorted(labels), most=most)
        return [Example(document=row.document, item=row.item, words=row.words) for row in rows]


def _is_present(comparison: Mapping[str, Sequence[Any]], present: Collection[Label]) -> bool:
    return all((kind, label) in present for kind, label in comparison["shown"])


def ask_rows(chunk: Chunk, bounded: BoundedExtraction) -> Rows:
    """Return a chunk's asks as rows of the table, without those whose label cannot name an element of a schema."""
    return [(chunk.id, chunk.document_id, ask.kind, ask.label, ask.subject_type, ask.object_type, ask.text,
             ask.context.start, ask.context.end, ask.confidence, int(ask.declared)) for ask in bounded.asks
            if is_readable_label(ask.label) or (ask.declared and _is_column(ask.label))]


def _is_column(header: str) -> bool:
    """Return True if the header of a table's column can name an element of a schema."""
    return len(header) <= MAX_ELEMENT_NAME and header.isprintable() and any(map(str.isalnum, header))
