"""Group entities that are the same thing, by the ties between pairs.

The strongest ties come first, and two groups join only if every member of one is compatible with every
member of the other: if A resembles B and B resembles C, A and C need not be the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ...schemas.resolution import AliasRow, EntityDecision, NameLink, Pair, Rule, pair_of
from .surroundings import Surroundings

_ASSERTED: frozenset[Rule] = frozenset({"manual", "verdict", "stated", "key"})
"""Rules whose ties a person, a model or the text confirmed, independently of the names."""


class Tie(NamedTuple):
    """The rule that ties two entities, and its score.

    `loose`: one of the names may refer to several other entities.
    """

    rule: Rule
    score: float
    loose: bool = False
    evidence: tuple[NameLink, ...] = ()


class Groups:
    """The groups that result from ties and decisions."""

    def __init__(self, around: Surroundings, ties: Mapping[Pair, Tie], decisions: Sequence[EntityDecision],
                 least: float) -> None:
        """Join entities into groups by ties with at least some score, and by people's decisions.

        Of several decisions on a pair the last one applies.
        """
        self._around = around
        self._ties = dict(ties)
        self._group: dict[str, list[str]] = {}
        self._joined: list[tuple[Pair, Tie]] = []
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
        here, there = self._members(pair[0]), self._members(pair[1])
        if here is there:
            self._joined.append((pair, self._ties[pair]))
            return
        if any(pair_of(first, second) in self._split for first in here for second in there):
            return
        if self._ties[pair].rule != "manual" and not self._agree(here, there):
            return
        joined = sorted([*here, *there])
        for entity in joined:
            self._group[entity] = joined
        self._joined.append((pair, self._ties[pair]))

    def _agree(self, here: Sequence[str], there: Sequence[str]) -> bool:
        return all(self._is_confirmed_by_group(first, second, here) or self._is_confirmed_by_group(second, first, there)
                   for first in here for second in there)

    def _is_confirmed_by_group(self, entity: str, other: str, own: Sequence[str]) -> bool:
        """Return True if an entity is compatible with another, or one tied to it by a confirmed tie is."""
        return any(self._compatible(stand_in, other) for stand_in in own
                   if stand_in == entity
                   or ((tie := self._ties.get(pair_of(stand_in, entity))) and tie.rule in _ASSERTED))

    def _compatible(self, first: str, second: str) -> bool:
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
        """Return the aliases of all groups, by entity id."""
        ties: dict[str, list[tuple[Pair, Tie]]] = {}
        for pair, tie in self._joined:
            ties.setdefault(self._members(pair[0])[0], []).append((pair, tie))
        return {row.id: row for members in self._several() for row in self._rows(members, ties[members[0]])}

    def _several(self) -> Iterator[list[str]]:
        for entity in sorted(self._group):
            members = self._group[entity]
            if members[0] == entity:
                yield members

    def _rows(self, members: Sequence[str], joined: Sequence[tuple[Pair, Tie]]) -> Iterator[AliasRow]:
        canonical = min(members, key=self._rank)
        keyed = self._around.keyed_documents
        kind = self._around.type(max(members, key=lambda entity: (
            entity in keyed, self._around.depth(entity), bool(self._around.documents_with_facts(entity)),
            entity == canonical, entity)))
        reached = {canonical}
        ties = sorted(joined, key=lambda item: (-item[1].score, item[0]))
        while len(reached) < len(members):
            # The strongest tie between a member reached so far and another one.
            pair, tie = next((pair, tie) for pair, tie in ties if (pair[0] in reached) != (pair[1] in reached))
            alias, partner = (pair[1], pair[0]) if pair[0] in reached else pair
            reached.add(alias)
            evidence = tie.evidence or (self._around.mention(alias), self._around.mention(partner))
            yield AliasRow(id=alias, canonical=canonical, type=kind, partner=partner, rule=tie.rule, score=tie.score,
                           evidence=evidence)

    def _rank(self, entity: str) -> tuple[bool, int, int, str, str]:
        """Rank members as canonical: a document that others call by its key, then what most chunks mention."""
        name = self._around.names[entity]
        return (entity not in self._around.keyed_documents, -len(self._around.support(entity)), len(name), name,
                entity)
