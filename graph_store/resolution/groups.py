"""Group entities that are the same thing, by the ties between pairs of them.

The strongest ties are used first. Two groups are joined only if every member of one is compatible with every member of
the other, because A and C need not be the same if A resembles B and B resembles C.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ...schemas.resolution import AliasRow, EntityDecision, NameLink, Pair, Rule, pair_of
from .surroundings import Surroundings

_ASSERTED: frozenset[Rule] = frozenset({"manual", "verdict", "stated", "key"})
"""Rules that do not compare names: a person, a model or the text says that two entities are the same."""


class Tie(NamedTuple):
    """The rule that ties two entities, and its score.

    `loose`: one of the names may refer to several other entities.
    """

    rule: Rule
    score: float
    loose: bool = False
    evidence: tuple[NameLink, ...] = ()


class Groups:
    """The groups of entities that result from ties and people's decisions."""

    def __init__(self, around: Surroundings, ties: Mapping[Pair, Tie], decisions: Sequence[EntityDecision],
                 least: float) -> None:
        """Join entities by people's decisions, of which the last on a pair applies, and by ties of at least a score."""
        self._around = around
        self._ties = dict(ties)
        self._group: dict[str, list[str]] = {}
        """The sorted members of its group, by entity; only for groups of several entities."""
        self._joined: list[tuple[Pair, Tie]] = []
        """The ties within groups."""
        last = {pair_of(d.first, d.second): d for d in decisions
                if d.first in around.names and d.second in around.names}
        self._split = {pair for pair, decision in last.items() if decision.verdict == "split"}
        for pair, decision in last.items():
            if decision.verdict == "merge":
                self._ties[pair] = Tie("manual", 1.0)
                self._join(pair)
        for pair in sorted(self._ties, key=lambda pair: (-self._ties[pair].score, pair)):
            if self._ties[pair].score >= least and self._ties[pair].rule != "manual":
                self._join(pair)

    def _members(self, entity: str) -> list[str]:
        return self._group.get(entity, [entity])

    def _join(self, pair: Pair) -> None:
        """Join the groups of a tied pair, unless a person split members of them or the groups are incompatible."""
        members, other_members = self._members(pair[0]), self._members(pair[1])
        if members is other_members:
            self._joined.append((pair, self._ties[pair]))
            return
        if any(pair_of(first, second) in self._split for first in members for second in other_members):
            return
        if self._ties[pair].rule != "manual" and not all(
                self._is_confirmed_by_group(first, second, members)
                or self._is_confirmed_by_group(second, first, other_members)
                for first in members for second in other_members):
            return
        joined = sorted([*members, *other_members])
        for entity in joined:
            self._group[entity] = joined
        self._joined.append((pair, self._ties[pair]))

    def _is_confirmed_by_group(self, entity: str, other: str, group: Sequence[str]) -> bool:
        """Return True if `entity` is compatible with `other`, or a member that stands in for it is."""
        return any(self._is_compatible(member, other) for member in group
                   if member == entity or ((tie := self._ties.get(pair_of(member, entity))) and tie.rule in _ASSERTED))

    def _is_compatible(self, first: str, second: str) -> bool:
        """Return True if two entities are tied, or their names match and neither types nor dates contradict."""
        if pair_of(first, second) in self._ties:
            return True
        around = self._around
        if around.same_type(first, second) is False or around.contradict(first, second):
            return False
        return around.match(first, second) is not None

    def between(self, pair: Pair) -> Pair:
        """Return the canonical entities of two entities' groups."""
        return pair_of(self._canonical(pair[0]), self._canonical(pair[1]))

    def _canonical(self, entity: str) -> str:
        return min(self._group[entity], key=self._rank) if entity in self._group else entity

    def aliases(self) -> dict[str, AliasRow]:
        """Return the aliases of all groups, by entity id; a group's canonical entity has none."""
        ties_of_group: dict[str, list[tuple[Pair, Tie]]] = {}  # by the group's first member
        for pair, tie in self._joined:
            ties_of_group.setdefault(self._members(pair[0])[0], []).append((pair, tie))
        return {row.id: row for first, members in sorted(self._group.items()) if members[0] == first
                for row in self._alias_rows(members, ties_of_group[first])}

    def _alias_rows(self, members: Sequence[str], group_ties: Sequence[tuple[Pair, Tie]]) -> Iterator[AliasRow]:
        """Yield an alias for each member of a group but the canonical one."""
        canonical = min(members, key=self._rank)
        keyed = self._around.keyed_documents
        kind = self._around.type(max(members, key=lambda entity: (
            entity in keyed, self._around.depth(entity), bool(self._around.documents_with_facts(entity)),
            entity == canonical, entity)))
        reached = {canonical}
        ties = sorted(group_ties, key=lambda item: (-item[1].score, item[0]))
        while len(reached) < len(members):
            # The strongest tie between a member reached so far and one that is not.
            pair, tie = next((pair, tie) for pair, tie in ties if (pair[0] in reached) != (pair[1] in reached))
            alias, partner = (pair[1], pair[0]) if pair[0] in reached else pair
            reached.add(alias)
            evidence = tie.evidence or (self._around.mention(alias), self._around.mention(partner))
            yield AliasRow(id=alias, canonical=canonical, type=kind, partner=partner, rule=tie.rule, score=tie.score,
                           evidence=evidence)

    def _rank(self, entity: str) -> tuple[bool, int, int, str, str]:
        """Return the sort key that puts the canonical member first."""
        name = self._around.names[entity]
        return (entity not in self._around.keyed_documents, -len(self._around.support(entity)), len(name), name,
                entity)
