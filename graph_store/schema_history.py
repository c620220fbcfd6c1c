"""The ledger's schema versions: which schema is in force, who decided it, and what was declined."""

import json
from collections.abc import Sequence

from ..schemas.delta import Decision
from ..schemas.documents import Frozen
from ..schemas.graph_schema import GraphSchema
from .database import Database
from .errors import StoreError


class SchemaVersion(Frozen):
    """One version of the schema and the decisions that made it."""

    version: int
    graph_schema: GraphSchema
    decisions: tuple[Decision, ...]
    who: str
    decided_at: str


class SchemaHistory:
    """Every decision is a new version; the last one is in force."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def append(self, schema: GraphSchema, decisions: Sequence[Decision], who: str) -> int:
        """Put a schema in force and remember what was declined.

        Args:
            schema: the new schema.
            decisions: what led to it, declined candidates included.
            who: "seed", "auto", or a person.

        Returns:
            The new version's number, from 1.
        """
        with self._db.transaction():
            version = self.version() + 1
            self._db.execute("INSERT INTO schema_versions (version, schema, decisions, who) VALUES (?, ?, ?, ?)",
                             version, schema.model_dump_json(),
                             json.dumps([d.model_dump() for d in decisions], ensure_ascii=False), who)
            self._db.execute_many(
                "INSERT OR REPLACE INTO declined (kind, name, who, why) VALUES (?, ?, ?, ?)",
                [(d.kind, d.name, who, d.why) for d in decisions if d.verdict == "reject"])
        return version

    def version(self) -> int:
        """The number of the version in force; 0 before the first."""
        return self._db.count("SELECT max(version) FROM schema_versions")

    def current(self) -> GraphSchema:
        """The schema in force.

        Raises:
            StoreError: none was set yet.
        """
        return self._numbered(self.version())

    def seed(self) -> GraphSchema:
        """The schema of the first version.

        Reasoners are shown this one, so that what they extract from a chunk does not depend on the
        documents that came before it.

        Raises:
            StoreError: none was set yet.
        """
        return self._numbered(1)

    def _numbered(self, version: int) -> GraphSchema:
        text = self._db.scalar("SELECT schema FROM schema_versions WHERE version = ?", version)
        if text is None:
            raise StoreError("the knowledge base has no schema yet; build it first")
        return GraphSchema.model_validate_json(str(text))

    def versions(self) -> list[SchemaVersion]:
        """All versions, oldest first."""
        return [
            SchemaVersion(version=row["version"], graph_schema=GraphSchema.model_validate_json(row["schema"]),
                          decisions=tuple(Decision(**d) for d in json.loads(row["decisions"])),
                          who=row["who"], decided_at=row["decided_at"])
            for row in self._db.rows("SELECT * FROM schema_versions ORDER BY version")
        ]
