"""The ledger's communities: the default tree and further views, and summaries by content."""

import json
from collections.abc import Iterable, Sequence

from pydantic import Field

from ...schemas.documents import Frozen
from ...schemas.retrieval import CommunitySummary
from .database import Database, Record
from .tables import COMMUNITIES, SUMMARIES

_SELECT = "SELECT c.*, s.name, s.summary FROM communities c LEFT JOIN summaries s USING (id)"
DEFAULT_VIEW = ""
"""The view that retrieval searches; others are named by their specification."""


class Community(Frozen):
    """A community: member entities' ids (sorted), the ids of its keywords (best first), its texts.

    Its id is made of what it is described from, so that it keeps its description when others join it of which the
    description says nothing.
    """

    id: str
    members: tuple[str, ...]
    keywords: tuple[str, ...]
    level: int = Field(default=0, description="0: the finest; communities of communities are above")
    parent: str = Field(default="", description="the community of the next level that it lies in, if there is one")
    cohesion: float = Field(default=0.0, description="mean phi of its members (eq. 5), 0 to 1 + lambda")
    label: str = Field(default="", description="what a view calls it, as an attribute's value")
    name: str = ""
    summary: str = ""

    def text(self) -> str:
        """Its name and summary in one."""
        return f"{self.name}. {self.summary}"


class Outline(Frozen):
    """A community with how many members it has instead of who they are."""

    id: str
    keywords: tuple[str, ...]
    size: int
    level: int
    parent: str
    cohesion: float
    name: str
    summary: str


class CommunityTable:
    """Communities by view. Names and summaries are kept by id, which is made from their content.

    A community that goes and comes back, or is part of several views, is described once.
    """

    def __init__(self, database: Database) -> None:
        self._db = database

    def all(self, view: str = DEFAULT_VIEW, *, level: int | None = 0) -> list[Community]:
        """The communities of a view, by id."""
        return [_community(row) for row in self._db.rows(
            f"{_SELECT} WHERE view = :view AND coalesce(CAST(:level AS INTEGER), level) = level ORDER BY level, id",
            view=view, level=level)]

    def get(self, community: str) -> Community | None:
        """A community of the default view, of any level, by its id."""
        rows = self._db.rows(f"{_SELECT} WHERE view = :view AND id = :id", view=DEFAULT_VIEW, id=community)
        return _community(rows[0]) if rows else None

    def levels(self) -> int:
        """How many levels the default view has."""
        return self._db.count("SELECT max(level) + 1 FROM communities WHERE view = :view", view=DEFAULT_VIEW)

    def outlines(self, level: int, parent: str = "", *, limit: int, offset: int = 0) -> tuple[list[Outline], int]:
        """Some communities of a level of the default view, or within another one, largest first.

        Args:
            level: the level; with a parent it does not count.
            parent: the id of the one that they lie in; empty: any.
            limit: how many at most.
            offset: how many of the largest are left out.

        Returns:
            Them, and how many there are in all.
        """
        where, value = ("parent = :value", parent) if parent else ("level = :value", level)
        rows = self._db.rows(
            f"SELECT c.id, keywords, json_array_length(members) AS size, level, parent, cohesion, label, name, summary "  # noqa: S608
            f"FROM communities c LEFT JOIN summaries s USING (id) WHERE view = :view AND {where} "
            "ORDER BY size DESC, c.id LIMIT :most OFFSET :before",
            view=DEFAULT_VIEW, value=value, most=limit, before=offset)
        outlines = [Outline(id=row.id, keywords=tuple(json.loads(row.keywords)), size=row.size, level=row.level,
                            parent=row.parent, cohesion=row.cohesion, name=row.name or row.label,
                            summary=row.summary or "") for row in rows]
        return outlines, self._db.count(f"SELECT count(*) FROM communities WHERE view = :view AND {where}",  # noqa: S608
                                        view=DEFAULT_VIEW, value=value)

    def count(self, view: str = DEFAULT_VIEW) -> int:
        """How many communities the finest level of a view has."""
        return self._db.count("SELECT count(*) FROM communities WHERE view = :view AND level = 0", view=view)

    def views(self) -> list[str]:
        """The further views that were built, by name."""
        return [str(row[0]) for row in self._db.rows(
            "SELECT DISTINCT view FROM communities WHERE view <> :default ORDER BY view", default=DEFAULT_VIEW)]

    def replace(self, communities: Sequence[Community], view: str = DEFAULT_VIEW) -> None:
        """Make these the communities of a view, of all levels; those that stay as they are are not written again."""
        with self._db.transaction():
            known = {tuple(row) for row in self._db.rows("SELECT * FROM communities WHERE view = :view", view=view)}
            current = {_row(community, view) for community in communities}
            self._db.execute_many("DELETE FROM communities WHERE view = :view AND id = :id",
                                  [{"view": view, "id": row[1]} for row in sorted(known - current)])
            self._db.insert(COMMUNITIES, sorted(current - known))

    def forget_views(self) -> None:
        """Drop all further views: they describe a graph that is no more."""
        self._db.execute("DELETE FROM communities WHERE view <> :default", default=DEFAULT_VIEW)

    def undescribed(self) -> list[Community]:
        """The communities of the default view, of all levels, that have no summary yet."""
        return [_community(row) for row in self._db.rows(
            f"{_SELECT} WHERE view = :view AND s.id IS NULL ORDER BY level, c.id", view=DEFAULT_VIEW)]

    def searchable(self) -> list[Community]:
        """The communities that retrieval searches: the finest of the default view, as far as they are described."""
        return [_community(row) for row in self._db.rows(
            f"{_SELECT} WHERE view = :view AND level = 0 AND s.id IS NOT NULL ORDER BY c.id", view=DEFAULT_VIEW)]

    def describe(self, summaries: Iterable[tuple[str, CommunitySummary]]) -> None:
        """Keep names and summaries, by the ids of the communities."""
        # All or none: which communities share a call depends on which wait, and half of them would be paid again.
        with self._db.transaction():
            self._db.replace(SUMMARIES, [(community, text.name, text.summary) for community, text in summaries])


def _community(row: Record) -> Community:
    return Community(id=row.id, members=tuple(json.loads(row.members)), keywords=tuple(json.loads(row.keywords)),
                     level=row.level, parent=row.parent, cohesion=row.cohesion, label=row.label,
                     name=row.name or row.label, summary=row.summary or "")


def _row(community: Community, view: str) -> tuple[object, ...]:
    """Return a community as a row of the table."""
    c = community
    return (view, c.id, c.level, c.parent, c.cohesion, c.label, json.dumps(c.keywords), json.dumps(c.members))
