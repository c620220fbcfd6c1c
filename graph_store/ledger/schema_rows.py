"""Store the versions of the schema, and every label of extractions that it does not admit."""

import json
from collections.abc import Collection, Mapping, Sequence, Set
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from ...schemas.delta import Decided, ElementKind, Example
from ...schemas.documents import Chunk, Frozen
from ...schemas.extraction import Ask, BoundedExtraction
from ...schemas.graph_schema import MAX_ELEMENT_NAME, GraphSchema
from ...schemas.naming import is_readable_label
from ..store_errors import StoreError, readable
from .database import Database, now
from .extractions import Rows, replace_rows
from .tables import DECLINED, SCHEMA_REQUESTS, SCHEMA_VERSIONS, among

_VERDICTS = "label_verdicts"
Label = tuple[ElementKind, str]  # a label with its kind


class SchemaVersion(Frozen):
    """One version of the schema and the decisions that made it."""

    version: int
    graph_schema: GraphSchema
    decisions: tuple[Decided, ...]
    who: str
    decided_at: str


class SchemaHistory:
    """The versions of the schema; the last one is in force.

    A version also has its base: the schema without the elements that grew, which are decided again from it each time.
    """

    def __init__(self, database: Database) -> None:
        self._db = database

    def append(self, schema: GraphSchema, decisions: Sequence[Decided], who: str,
               base: GraphSchema | None = None) -> int:
        """Put a schema in force as a new version, decided by "seed", "auto", or a person; return its number, from 1."""
        with self._db.transaction():
            version = self.version() + 1
            self._db.insert(SCHEMA_VERSIONS, [(version, schema.model_dump_json(), (base or schema).model_dump_json(),
                                               _dump_decisions(decisions), who, now())])
        return version

    def set_declined(self, kind: ElementKind, label: str, who: str | None) -> None:
        """Store that a person declined a label, so that it is not proposed again; with None for `who`, take it back."""
        if who is None:
            self._db.execute("DELETE FROM declined WHERE kind = :kind AND name = :name", kind=kind, name=label)
        else:
            self._db.insert(DECLINED, [(kind, label, who, "", now())], replace=True)

    def declined_labels(self) -> frozenset[tuple[ElementKind, str]]:
        """Return the declined labels, which must not be proposed again, each with its kind."""
        return frozenset((row[0], row[1]) for row in self._db.rows("SELECT kind, name FROM declined"))

    def version(self) -> int:
        """Return the number of the version in force; 0 before the first."""
        return self._db.count("SELECT max(version) FROM schema_versions")

    def current(self) -> GraphSchema:
        """Return the schema in force."""
        return self.get(self.version())

    def base(self, version: int | None = None) -> GraphSchema:
        """Return the base of a version, by default of the one in force; extraction by rules uses the base alone."""
        return self.get(version or self.version(), "base")

    def get(self, version: int, column: Literal["schema", "base"] = "schema") -> GraphSchema:
        """Return the schema of a version, of which 1 is the seed, or its base; StoreError if there is none."""
        for text in self._db.texts(f"SELECT {column} FROM schema_versions WHERE version = :version", version=version):  # noqa: S608
            with readable(f"version {version} of the schema"):
                return _parse_schema(text)
        if not self.version():
            raise StoreError("the knowledge base has no schema yet, because its first build has not ended: run the "
                             "same `banyan build` again, which says why if it stops")
        raise StoreError(f"there is no version {version} of the schema; there are 1 to {self.version()}")

    def rewrite(self, versions: Sequence[tuple[SchemaVersion, GraphSchema]]) -> None:
        """Replace schema, decisions and base of some versions, each given with its base; the rest of a row stays."""
        self._db.execute_many(
            "UPDATE schema_versions SET schema = :schema, base = :base, decisions = :decisions "
            "WHERE version = :version",
            [{"version": version.version, "schema": version.graph_schema.model_dump_json(),
              "base": base.model_dump_json(), "decisions": _dump_decisions(version.decisions)}
             for version, base in versions])

    def versions(self) -> list[SchemaVersion]:
        """Return all versions, oldest first."""
        return [SchemaVersion(version=row.version, graph_schema=GraphSchema.model_validate_json(row.schema),
                              decisions=tuple(Decided(**decided) for decided in json.loads(row.decisions)),
                              who=row.who, decided_at=row.decided_at)
                for row in self._db.rows("SELECT * FROM schema_versions ORDER BY version")]


def _dump_decisions(decisions: Sequence[Decided]) -> str:
    return json.dumps([one.model_dump(mode="json") for one in decisions], ensure_ascii=False)


_parse_schema = lru_cache(maxsize=8)(GraphSchema.model_validate_json)
"""Returns a schema from its JSON; cached, because it is read for the extraction of each chunk."""


class AskCount(NamedTuple):
    """How often one document asks for one label between the same types."""

    kind: ElementKind
    label: str
    subject_type: str
    object_type: str
    document: str
    occurrences: int
    confidence: float  # summed over the occurrences
    rows: int = 0  # the number of distinct table rows among the occurrences
    said: str = ""  # the label in the document, if `label` is another one with the same meaning
    backward: bool = False  # true if the label in the document states the relation from tail to head


class SameAs(NamedTuple):
    """A verdict that a label means the same as `label`, "" for none; `backward` if it states that from tail to head."""

    label: str
    backward: bool = False


class Asks:
    """The asks of chunks, and models' verdicts on which labels mean the same.

    An ask is one occurrence of a label that the base schema lacks (see `schemas.extraction.Ask`). A model's verdicts
    are stored by comparison: the labels that it was shown, and what it found of them.
    """

    def __init__(self, database: Database) -> None:
        self._db = database

    def replace(self, extractions: Sequence[tuple[Chunk, BoundedExtraction]]) -> None:
        """Replace the stored asks of chunks by those of their extractions."""
        rows = [row for chunk, bounded in extractions for row in ask_rows(chunk, bounded)]
        with self._db.transaction():
            replace_rows(self._db, SCHEMA_REQUESTS, [chunk.id for chunk, _ in extractions], rows)

    def counts(self) -> list[AskCount]:
        """Return the asks of all chunks, counted by label, types and document."""
        return [AskCount(*row) for row in self._db.rows(
            "SELECT kind, label, subject_type, object_type, document, count(*), sum(confidence), "
            "count(DISTINCT CASE WHEN declared = 1 THEN item END) FROM schema_requests "
            "GROUP BY kind, label, subject_type, object_type, document ORDER BY 1, 2, 3, 4, 5")]

    def same(self) -> dict[Label, SameAs]:
        """Return the stored verdicts by label, for all labels that a model has compared."""
        return {(kind, label): SameAs(name, bool(backward)) for comparison in self._read_comparisons()
                for kind, label, name, backward in comparison["verdicts"]}

    def keep_same(self, shown: Collection[Label], verdicts: Mapping[Label, SameAs]) -> None:
        """Store a model's verdicts after a comparison of all `shown` labels, so that it is not repeated."""
        rows = [(*label, *verdict) for label, verdict in sorted(verdicts.items())]
        self._store_comparisons([*self._read_comparisons(), {"shown": sorted(shown), "verdicts": rows}])

    def count_outdated(self, present: Set[Label]) -> int:
        """Return the number of comparisons that showed the model a label that documents no longer have."""
        return len(self._read_comparisons()) - len(self._read_comparisons(present))

    def drop_outdated(self, present: Set[Label]) -> None:
        """Drop the comparisons that `count_outdated` counts: a deleted label may have influenced their verdicts."""
        self._store_comparisons(self._read_comparisons(present))

    def _read_comparisons(self, present: Set[Label] | None = None) -> list[dict[str, list[Any]]]:
        """Return all comparisons, or those that showed the model no other labels than `present`."""
        comparisons = json.loads(self._db.get_meta(_VERDICTS) or "[]")
        return [comparison for comparison in comparisons
                if present is None or present >= set(map(tuple, comparison["shown"]))]

    def _store_comparisons(self, comparisons: list[dict[str, list[Any]]]) -> None:
        self._db.set_meta(_VERDICTS, json.dumps(comparisons, ensure_ascii=False))

    def examples(self, kind: ElementKind, labels: Collection[str], most: int) -> list[Example]:
        """Return up to `most` occurrences of labels of a kind, with their text: one of each document, then a second."""
        rows = self._db.rows(
            'WITH chosen AS (SELECT a.document, a.item, c.start + a.start AS start, c.start + a."end" AS "end", '  # noqa: S608
            "row_number() OVER (PARTITION BY a.document ORDER BY c.ordinal, a.start, a.item) AS turn "
            "FROM schema_requests a JOIN chunks c ON c.id = a.chunk "
            f"WHERE a.kind = :kind AND {among('a.label')} ORDER BY turn, a.document LIMIT :most) "
            'SELECT chosen.document, item, substr(text, start + 1, "end" - start) AS words '
            "FROM chosen JOIN documents ON id = chosen.document ORDER BY turn, chosen.document",
            kind=kind, among=sorted(labels), most=most)
        return [Example(document=row.document, item=row.item, words=row.words) for row in rows]


def ask_rows(chunk: Chunk, bounded: BoundedExtraction) -> Rows:
    """Return a chunk's asks as rows of the table; those whose label cannot name an element of a schema are left out."""
    def can_name_element(ask: Ask) -> bool:
        # The header of a table's column may be longer than other labels, and have any signs.
        is_header = ask.declared and len(ask.label) <= MAX_ELEMENT_NAME and ask.label.isprintable()
        return is_readable_label(ask.label) or (is_header and any(map(str.isalnum, ask.label)))

    return [(chunk.id, chunk.document_id, ask.kind, ask.label, ask.subject_type, ask.object_type, ask.text,
             ask.context.start, ask.context.end, ask.confidence, int(ask.declared))
            for ask in filter(can_name_element, bounded.asks)]
