"""The ledger's schema versions: which schema is in force, who decided it, and what was declined."""

import json
from collections.abc import Sequence
from functools import lru_cache

from ...schemas.delta import Decided, ElementKind
from ...schemas.documents import Frozen
from ...schemas.graph_schema import GraphSchema
from ..store_errors import StoreError, readable
from .database import Database, now
from .tables import DECLINED, SCHEMA_VERSIONS

_LINK = "link"
"""The kind under which `declined` has the fields that are no references; its other kinds are of schema elements."""


class SchemaVersion(Frozen):
    """One version of the schema and the decisions that made it."""

    version: int
    graph_schema: GraphSchema
    decisions: tuple[Decided, ...]
    who: str
    decided_at: str


class SchemaHistory:
    """The versions of the schema. Every decision adds a version; the last one is in force.

    A version also has its base: the schema without the elements that Banyan added by itself, which are decided again
    from the base each time.
    """

    def __init__(self, database: Database) -> None:
        self._db = database

    def append(self, schema: GraphSchema, decisions: Sequence[Decided], who: str,
               base: GraphSchema | None = None) -> int:
        """Put a schema in force as a new version, decided by "seed", "auto", or a person; return its number, from 1.

        `base` is the schema without automatic growth; None: `schema` itself.
        """
        with self._db.transaction():
            version = self.version() + 1
            self._db.insert(SCHEMA_VERSIONS, [(
                version, schema.model_dump_json(), (base or schema).model_dump_json(),
                _dump(decisions), who, now())])
        return version

    def set_declined(self, kind: ElementKind, label: str, who: str | None) -> None:
        """Store that a person declined a label, so that it is not proposed again; with None for `who`, take it back."""
        if who is None:
            self._db.execute("DELETE FROM declined WHERE kind = :kind AND name = :name", kind=kind, name=label)
        else:
            self._db.replace(DECLINED, [(kind, label, who, "", now())])

    def declined_labels(self) -> frozenset[tuple[ElementKind, str]]:
        """Return the declined labels, which must not be proposed again, each with its kind."""
        return frozenset((row[0], row[1]) for row in self._db.rows(
            "SELECT kind, name FROM declined WHERE kind <> :link", link=_LINK))

    def unlinked(self) -> frozenset[str]:
        """Return the fields whose values stay values, because a person decided so (see `graph.key_links`)."""
        return frozenset(str(row[0]) for row in self._db.rows("SELECT name FROM declined WHERE kind = :link",
                                                              link=_LINK))

    def set_unlinked(self, field: str, who: str | None) -> None:
        """Store who decided that a field does not refer to other entities; with None for `who`, take it back."""
        with self._db.transaction():
            self._db.execute("DELETE FROM declined WHERE kind = :link AND name = :field", link=_LINK, field=field)
            if who is not None:
                self._db.insert(DECLINED, [(_LINK, field, who, "", now())])

    def version(self) -> int:
        """Return the number of the version in force; 0 before the first."""
        return self._db.count("SELECT max(version) FROM schema_versions")

    def current(self) -> GraphSchema:
        """Return the schema in force."""
        return self.get(self.version())

    def first(self) -> GraphSchema:
        """Return the schema of the first version, the seed."""
        return self.get(1)

    def base(self, version: int | None = None) -> GraphSchema:
        """Return the base of a version, by default of the one in force: the seed with what persons decided.

        The rules read with it, so that what they extract does not depend on the documents that came before.
        """
        return self._read("base", version or self.version())

    def get(self, version: int) -> GraphSchema:
        """Return the schema of a version, or raise StoreError if there is none."""
        return self._read("schema", version)

    def _read(self, column: str, version: int) -> GraphSchema:
        """Return the schema in a column, "schema" or "base", of a version."""
        text = self._db.scalar(f"SELECT {column} FROM schema_versions WHERE version = :version",  # noqa: S608
                               version=version)
        if text is None and self.version() == 0:
            raise StoreError("the knowledge base has no schema yet; build it first")
        if text is None:
            raise StoreError(f"there is no version {version} of the schema; there are 1 to {self.version()}")
        with readable(f"version {version} of the schema"):
            return _parse(str(text))

    def rewrite(self, versions: Sequence[tuple[SchemaVersion, GraphSchema]]) -> None:
        """Replace schema, decisions and base of some versions, given as pairs; numbers, persons and dates stay."""
        rows = [{"version": version.version, "schema": version.graph_schema.model_dump_json(),
                 "base": base.model_dump_json(), "decisions": _dump(version.decisions)} for version, base in versions]
        self._db.execute_many("UPDATE schema_versions SET schema = :schema, base = :base, decisions = :decisions "
                              "WHERE version = :version", rows)

    def versions(self) -> list[SchemaVersion]:
        """Return all versions, oldest first."""
        return [
            SchemaVersion(version=row.version, graph_schema=GraphSchema.model_validate_json(row.schema),
                          decisions=tuple(Decided(**d) for d in json.loads(row.decisions)),
                          who=row.who, decided_at=row.decided_at)
            for row in self._db.rows("SELECT * FROM schema_versions ORDER BY version")
        ]


def _dump(decisions: Sequence[Decided]) -> str:
    return json.dumps([one.model_dump(mode="json") for one in decisions], ensure_ascii=False)


@lru_cache(maxsize=8)
def _parse(text: str) -> GraphSchema:
    """Return a schema from its JSON; cached, because it is read for the extraction of each chunk."""
    return GraphSchema.model_validate_json(text)
