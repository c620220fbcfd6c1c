"""Store what is derived, judged or decided of entities: aliases, models' verdicts, people's edits, communities."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence

from pydantic import Field, TypeAdapter

from ...runtime.audit import attributed
from ...schemas.documents import Frozen
from ...schemas.edits import Edit, EditDecision
from ...schemas.naming import content_id
from ...schemas.resolution import AliasRow, EntityDecision, NameLink, Pair, PairVerdict, pair_of
from ...schemas.retrieval import CommunitySummary
from ..store_errors import readable
from .database import Database, now
from .notes import ledger_state, note_state
from .tables import COMMUNITIES, EDITS, ENTITY_ALIASES, ENTITY_DECISIONS, ENTITY_VERDICTS, SUMMARIES, among

RULES = 5  # increase this when the rules find other aliases for the same facts, so ledgers are resolved again
_BY = " by "  # in a state, before the fingerprint of the model
_EDIT: TypeAdapter[Edit] = TypeAdapter(Edit)
_COMMUNITIES = "SELECT c.*, s.name, s.summary FROM communities c LEFT JOIN summaries s USING (id)"


class AliasTable:
    """Aliases, which are derived and can be rebuilt, and decisions and verdicts, which cannot."""

    def __init__(self, database: Database) -> None:
        self._db = database

    @property
    def active(self) -> bool:
        """True if entities are resolved; otherwise only people's decisions apply."""
        return self._db.notes("settings").get("resolve") != "off"

    def set_active(self, *, active: bool) -> None:
        """Store whether entities are resolved."""
        if active != self.active:
            self._db.note("settings", resolve="on" if active else "off")

    def aliases(self) -> dict[str, AliasRow]:
        """Return the aliases by entity id."""
        return {row.id: AliasRow(
            id=row.id, canonical=row.canonical, type=row.type, partner=row.partner, rule=row.rule, score=row.score,
            evidence=tuple(NameLink(chunk=c, start=s, end=e) for c, s, e in json.loads(row.evidence)))
            for row in self._db.rows("SELECT * FROM entity_aliases ORDER BY id")}

    def has_aliases(self, entity: str) -> bool:
        """Return True if others are merged into an entity."""
        return bool(self._db.count("SELECT count(*) FROM entity_aliases WHERE canonical = :entity", entity=entity))

    def replace(self, aliases: Mapping[str, AliasRow], state: str) -> None:
        """Replace the aliases if they differ, and note the state of the ledger that they belong to (see `state`)."""
        with self._db.transaction():
            if self.aliases() != aliases:
                self._db.execute("DELETE FROM entity_aliases")
                self._db.insert(ENTITY_ALIASES, [(r.id, r.canonical, r.type, r.partner, r.rule, r.score,
                                                  json.dumps([[e.chunk, e.start, e.end] for e in r.evidence]))
                                                 for r in aliases.values()])
            note_state(self._db, resolved=state)

    def resolved_state(self) -> str | None:
        """Return the state of the ledger that the aliases belong to, or None before the first resolution."""
        return ledger_state(self._db).resolved

    def resolved_by(self) -> str:
        """Return the fingerprint of the model that decided doubtful pairs in the last resolution, or ""."""
        return (self.resolved_state() or "").partition(_BY)[2]

    def state(self, position: int, reasoner: str) -> str:
        """Return a text that identifies everything on which the aliases depend; `reasoner` is a model's fingerprint."""
        last_decision = self._db.count("SELECT max(seq) FROM entity_decisions")
        verdicts = self._db.count("SELECT count(*) FROM entity_verdicts")
        schema = self._db.count("SELECT max(version) FROM schema_versions")
        active = "on" if self.active else "off"
        return f"rules-{RULES} {position} {schema} {last_decision} {verdicts} {active}{_BY}{reasoner}"

    def verdicts(self) -> dict[Pair, PairVerdict]:
        """Return models' verdicts on whether two entities are the same, by pair."""
        return {(row.first, row.second): PairVerdict(same=bool(row.same), confidence=row.confidence)
                for row in self._db.rows("SELECT * FROM entity_verdicts ORDER BY first, second")}

    def verdict_statements(self) -> dict[Pair, tuple[str, ...]]:
        """Return for each pair with a verdict the ids of the entities and statements that the prompt may have shown."""
        return {(row.first, row.second): tuple(json.loads(row.statements))
                for row in self._db.rows("SELECT * FROM entity_verdicts ORDER BY first, second")}

    def judge(self, verdicts: Iterable[tuple[Pair, PairVerdict, Collection[str]]], reasoner: str) -> None:
        """Store a model's verdicts on pairs, each with the ids of what the prompt may have shown."""
        self._db.insert(ENTITY_VERDICTS, [
            (*pair, int(verdict.same), verdict.confidence, reasoner, json.dumps(sorted(shown)))
            for pair, verdict, shown in verdicts], replace=True)

    def drop_verdicts(self, pairs: Iterable[Pair]) -> None:
        """Remove the verdicts on some pairs."""
        self._db.execute_many("DELETE FROM entity_verdicts WHERE first = :first AND second = :second",
                              [{"first": first, "second": second} for first, second in pairs])

    def decisions(self) -> list[EntityDecision]:
        """Return people's decisions in the order they were made."""
        return [EntityDecision(**row._asdict()) for row in self._db.rows(
            "SELECT verdict, first, second, who, why, decided_at FROM entity_decisions ORDER BY seq")]

    def decide(self, decision: EntityDecision) -> None:
        """Record a person's decision, unless it equals the last one: a run that was killed records it again."""
        row = (decision.verdict, *pair_of(decision.first, decision.second), attributed(decision.who), decision.why)
        last = self._db.rows("SELECT verdict, first, second, who, why FROM entity_decisions ORDER BY seq DESC LIMIT 1")
        if last and tuple(last[0]) == row:
            return
        number = 1 + self._db.count("SELECT max(seq) FROM entity_decisions")
        self._db.insert(ENTITY_DECISIONS, [(number, *row, now())])


class EditTable:
    """Edits in the order they were made; those in force determine the graph."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def all(self) -> list[EditDecision]:
        """Return every edit in order, including undone ones."""
        edits = []
        for row in self._db.rows("SELECT * FROM edits ORDER BY number"):  # its columns are the fields of EditDecision
            with readable(f"edit {row.number}"):
                edits.append(EditDecision(**{**row._asdict(), "edit": _EDIT.validate_json(row.edit)}))
        return edits

    def in_force(self) -> list[Edit]:
        """Return the edits that were not undone, in order."""
        return [decision.edit for decision in self.all() if not decision.undone_at]

    def record(self, edit: Edit, who: str, why: str) -> int:
        """Record an edit and return its number; a resumed run that repeats the last edit in force gets its number."""
        row = (_EDIT.dump_json(edit).decode(), attributed(who), why)
        with self._db.transaction():
            number = self._db.count("SELECT max(number) FROM edits")
            last = self._db.rows("SELECT edit, who, why FROM edits WHERE undone_at = '' AND number = :number",
                                 number=number)
            if not last or tuple(last[0]) != row:
                number += 1
                self._db.insert(EDITS, [(number, *row, now(), "", "")])
            return number

    def undo(self, number: int, who: str) -> None:
        """Undo an edit, unless it is undone already."""
        self._db.execute("UPDATE edits SET undone_by = :who, undone_at = :now "
                         "WHERE number = :number AND undone_at = ''", who=attributed(who), now=now(), number=number)


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
                for row in self._db.rows(f"{_COMMUNITIES} WHERE {condition} ORDER BY {order}", **values)]

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
