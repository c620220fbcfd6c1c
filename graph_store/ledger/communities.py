"""Store the tree of communities in the ledger, and summaries by content."""

import json
from collections.abc import Iterable, Sequence

from pydantic import Field

from ...schemas.documents import Frozen
from ...schemas.naming import content_id
from ...schemas.retrieval import CommunitySummary
from .database import Database
from .tables import COMMUNITIES, SUMMARIES, among

_SELECT = "SELECT c.*, s.name, s.summary FROM communities c LEFT JOIN summaries s USING (id)"


class TreeCommunity(Frozen):
    """A community: member entities' ids (sorted), the ids of its keywords (best first), its texts."""

    id: str  # a hash of the content that is described: one that disappears and returns is described once
    members: tuple[str, ...]
    keywords: tuple[str, ...]
    level: int = Field(default=0, description="0 is the finest; communities of communities are above")
    parent: str = Field(default="", description="the community of the next level that contains it, if there is one")
    cohesion: float = Field(default=0.0, description="mean phi of its members (eq. 5), 0 to 1 + lambda")
    name: str = ""
    summary: str = ""

    def text(self) -> str:
        """Return name and summary as one text."""
        return f"{self.name}. {self.summary}"


class CommunityTable:
    """The tree's communities, and their names and summaries."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def all(self, *, level: int | None = 0) -> list[TreeCommunity]:
        """Return the communities of a level, or with None those of all levels, sorted by level and id."""
        return self._find("CAST(:level AS INTEGER) IS NULL OR level = :level", level=level)

    def _find(self, condition: str, order: str = "level, c.id", **values: object) -> list[TreeCommunity]:
        """Return the communities that fulfil an SQL condition; `values` are those that it names `:name`."""
        return [TreeCommunity(id=row.id, members=tuple(json.loads(row.members)), level=row.level, parent=row.parent,
                              keywords=tuple(json.loads(row.keywords)), cohesion=row.cohesion, name=row.name or "",
                              summary=row.summary or "")
                for row in self._db.rows(f"{_SELECT} WHERE {condition} ORDER BY {order}", **values)]

    def get(self, community: str) -> TreeCommunity | None:
        """Return a community of any level by its id, or None."""
        return next(iter(self._find("c.id = :id", id=community)), None)

    def levels(self) -> int:
        """Return the number of levels; 0 without communities."""
        return self._db.count("SELECT max(level) + 1 FROM communities")

    def page(self, level: int, parent: str = "", *, limit: int, offset: int = 0) -> tuple[list[TreeCommunity], int]:
        """Return a page of a level's communities or of the parts of `parent`, largest first, and how many there are."""
        # The parts of a community are all on the level below it.
        where, value = ("parent = :value", parent) if parent else ("level = :value", level)
        page = self._find(where, "json_array_length(members) DESC, c.id LIMIT :most OFFSET :before",
                          value=value, most=limit, before=offset)
        return page, self._db.count(f"SELECT count(*) FROM communities WHERE {where}", value=value)  # noqa: S608

    def count(self) -> int:
        """Return the number of communities on the finest level."""
        return self._db.count("SELECT count(*) FROM communities WHERE level = 0")

    def replace(self, communities: Sequence[TreeCommunity]) -> None:
        """Replace the communities of all levels, writing only those that differ."""
        with self._db.transaction():
            stored = {tuple(row) for row in self._db.rows("SELECT * FROM communities")}
            current = {(c.id, c.level, c.parent, c.cohesion, json.dumps(c.keywords), json.dumps(c.members))
                       for c in communities}
            self._db.execute(f"DELETE FROM communities WHERE {among('id')}",  # noqa: S608
                             among=[community for community, *_ in stored - current])
            self._db.insert(COMMUNITIES, sorted(current - stored))

    def find_undescribed(self) -> list[TreeCommunity]:
        """Return the communities of all levels without a summary."""
        return self._find("s.id IS NULL")

    def searchable(self) -> list[TreeCommunity]:
        """Return the communities that retrieval searches: the finest that have a summary."""
        return self._find("level = 0 AND s.id IS NOT NULL")

    def describe(self, summaries: Iterable[tuple[str, CommunitySummary]]) -> None:
        """Store names and summaries by community id, which a call described; call this in a transaction."""
        # If only half of a batch were stored, the next run would form other batches and pay for some of it again.
        self._db.insert(SUMMARIES, [(community, text.name, text.summary, json.dumps(list(map(text_id, text.shown))))
                                    for community, text in summaries], replace=True)

    def find_shared(self) -> dict[str, list[str]]:
        """Return by community the ids (`text_id`) of all texts in its call, if that described several ones."""
        return {row.id: json.loads(row.shown) for row in self._db.rows(
            "SELECT id, shown FROM summaries WHERE shown <> '[]'")}

    def forget_summaries(self, communities: Iterable[str]) -> None:
        """Delete the names and summaries of some communities."""
        self._db.execute(f"DELETE FROM summaries WHERE {among('id')}", among=list(communities))  # noqa: S608


def text_id(text: str) -> str:
    """Return a short hash of a text that a call showed, to find out later whether documents still state it."""
    return content_id(text)[:12]
