"""Store schema requests in the ledger: every occurrence of a label that the schema does not admit."""

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
    """The number of distinct table rows among the occurrences."""
    said: str = ""
    """The label that was asked for, if `label` is another one with the same meaning."""
    backward: bool = False
    """True if the label that was asked for states the relation from tail to head."""


class SameAs(NamedTuple):
    """A verdict that a label means the same as another, from tail to head if `backward`; "" means as no other."""

    label: str
    backward: bool = False


class Asks:
    """Asks by chunk, from bounding by the base schema, the schema without automatic growth.

    Growth is therefore decided independently of what it accepted before.
    """

    def __init__(self, database: Database) -> None:
        self._db = database

    def replace(self, extractions: Sequence[tuple[Chunk, BoundedExtraction]]) -> None:
        """Replace the asks of chunks."""
        with self._db.transaction():
            replace_rows(self._db, SCHEMA_REQUESTS, [chunk.id for chunk, _ in extractions],
                         [row for chunk, bounded in extractions for row in ask_rows(chunk, bounded)])

    def counts(self) -> list[AskCount]:
        """Return all asks, counted by document, label and types."""
        return [AskCount(*row) for row in self._db.rows(
            "SELECT kind, label, subject_type, object_type, document, count(*), sum(confidence), "
            "count(DISTINCT CASE WHEN declared = 1 THEN item END) FROM schema_requests "
            "GROUP BY kind, label, subject_type, object_type, document ORDER BY 1, 2, 3, 4, 5")]

    def same(self) -> dict[Label, SameAs]:
        """Return the verdicts on the labels that a model has compared."""
        return {(kind, label): SameAs(name, bool(backward)) for comparison in self._comparisons()
                for kind, label, name, backward in comparison["verdicts"]}

    def keep_same(self, shown: Collection[Label], same: Mapping[Label, SameAs]) -> None:
        """Store the verdicts of one comparison, so these labels are not compared again.

        Args:
            shown: every label that the prompt had from documents; the verdicts rest on all of them.
            same: the verdicts.
        """
        made: dict[str, list[Any]] = {"shown": sorted(shown), "verdicts": [(*key, *same[key]) for key in sorted(same)]}
        self._store([*self._comparisons(), made])

    def outdated(self, present: Collection[Label]) -> int:
        """Return the number of comparisons that showed a label which is not among those present."""
        return sum(not _is_present(comparison, present) for comparison in self._comparisons())

    def drop_outdated(self, present: Collection[Label]) -> None:
        """Drop the verdicts of these comparisons: a label of documents that are gone may have swayed the model."""
        comparisons = self._comparisons()
        left = [comparison for comparison in comparisons if _is_present(comparison, present)]
        if len(left) < len(comparisons):
            self._store(left)

    def _comparisons(self) -> list[dict[str, list[Any]]]:
        return list(json.loads(self._db.get_meta(_VERDICTS) or "[]"))

    def _store(self, comparisons: list[dict[str, list[Any]]]) -> None:
        self._db.set_meta(_VERDICTS, json.dumps(comparisons, ensure_ascii=False))

    def examples(self, kind: ElementKind, labels: Collection[str], most: int) -> list[Example]:
        """Return up to `most` occurrences of labels with their text, spread over documents."""
        rows = self._db.rows(
            'WITH chosen AS (SELECT a.document, a.item, c.start + a.start AS start, c.start + a."end" AS "end", '  # noqa: S608
            "row_number() OVER (PARTITION BY a.document ORDER BY c.ordinal, a.start, a.item) AS turn "
            "FROM schema_requests a JOIN chunks c ON c.id = a.chunk "
            f"WHERE a.kind = :kind AND {among('a.label')} ORDER BY turn, a.document LIMIT :most) "
            'SELECT chosen.document, item, substr(text, start + 1, "end" - start) AS words '
            "FROM chosen JOIN documents ON id = chosen.document ORDER BY turn, chosen.document",
            kind=kind, among=json.dumps(sorted(labels)), most=most)
        return [Example(document=row.document, item=row.item, words=row.words) for row in rows]


def _is_present(comparison: Mapping[str, Sequence[Any]], present: Collection[Label]) -> bool:
    return all((kind, label) in present for kind, label in comparison["shown"])


def ask_rows(chunk: Chunk, bounded: BoundedExtraction) -> Rows:
    """Return a chunk's asks as rows of the table, without those whose label cannot name an element."""
    return [(chunk.id, chunk.document_id, ask.kind, ask.label, ask.subject_type, ask.object_type, ask.text,
             ask.context.start, ask.context.end, ask.confidence, int(ask.declared)) for ask in bounded.asks
            if is_readable_label(ask.label) or (ask.declared and _is_column(ask.label))]


def _is_column(header: str) -> bool:
    """Return True if a table's header can name an element; "2024" can too, because the table's author declared it."""
    return len(header) <= MAX_ELEMENT_NAME and header.isprintable() and any(map(str.isalnum, header))
