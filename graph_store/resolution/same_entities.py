"""Entity resolution: find which entities are the same thing under several names.

A pure function of the graph of mentions, the aliases that its texts state, people's decisions and a reasoner's
verdicts. The result depends neither on the order of documents nor on batches.

A pair's score is 1 - (1 - prior) x (1 - w1) x (1 - w2) ... The prior is how often two names that differ in this way are
of one thing. Each w is the weight of a piece of evidence: how much of the remaining doubt it removes. Priors and
thresholds were chosen on `benchmarks/entity_pairs.jsonl`, by `benchmarks/entity_pairs.py`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from ...schemas.resolution import AliasRow, EntityDecision, NameLink, Pair, PairVerdict, Rule, pair_of
from .name_comparison import NameMatch, fold
from .pair_candidates import Statement
from .surroundings import Surroundings

_STANDING_IN: frozenset[Rule] = frozenset({"manual", "verdict", "stated", "key", "person"})
"""Rules by which a name stands in for another: a person, a model or the text says so, or it is a person's in short."""
MERGE_FROM = 0.9
"""Score from which two entities are merged without asking."""
ASK_FROM = 0.5
"""Score from which a reasoner is asked."""
SURE = 0.8
"""A reasoner's confidence from which its verdict counts: the mu of Youtu-GraphRAG eq. 3."""

_SUGGESTED = 0.85
"""Weight of each piece of evidence that one of two names is short for the other (see `_weigh_short_name`)."""
_FAMILY_NAME = 0.92
"""The score of the family name of one person alone."""
_STATED, _STATED_ELSEWHERE = 0.95, 0.7
"""The prior if a text says that two names are of the same thing, and if other texts have the shorter name, too."""
_STATED_TWICE = 2
"""The number of documents whose statement needs no confirmation."""
_UNCONFIRMED = ASK_FROM - 0.1
"""The score of a pair that only one document says to be the same, and that its names do not suggest. It is too low to
merge, which could attribute facts of other documents to the wrong entity. It is also too low to ask a reasoner, who
would only read that document. A second document or a person has to confirm the pair."""
_DIGITS = 3


class Tie(NamedTuple):
    """The rule that ties two entities, and its score; `loose`: one of the names may refer to several other entities."""

    rule: Rule
    score: float
    loose: bool = False
    evidence: tuple[NameLink, ...] = ()


class Groups:
    """The groups of entities that result from ties and people's decisions."""

    def __init__(self, around: Surroundings, ties: Mapping[Pair, Tie], decisions: Sequence[EntityDecision]) -> None:
        """Join entities by people's decisions, of which the last on a pair applies, and by sure ties."""
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
            if self._ties[pair].score >= MERGE_FROM and self._ties[pair].rule != "manual":
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
        around = self._around
        stand_ins = (member for member in group if member == entity or (
            (tie := self._ties.get(pair_of(member, entity))) and tie.rule in _STANDING_IN))
        # Compatible entities are tied, or their names match and neither types nor dates contradict.
        return any(pair_of(member, other) in self._ties or (
            around.same_type(member, other) is not False and not around.contradict(member, other)
            and around.match(member, other) is not None) for member in stand_ins)

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
        canonical, around = min(members, key=self._rank), self._around

        def type_support(entity: str) -> tuple[object, ...]:
            """Return how well the type of an entity is supported: by documents with facts, then by chunks."""
            agreeing = [other for other in members if around.same_type(entity, other) is not False]
            return (entity in around.keyed_documents, around.depth(entity) > 0,
                    sum(len(around.documents_with_facts(other)) for other in agreeing),
                    sum(len(around.support(other)) for other in agreeing), around.depth(entity), entity == canonical,
                    entity)

        kind = around.type(max(members, key=type_support))
        reached = {canonical}
        ties = sorted(group_ties, key=lambda item: (-item[1].score, item[0]))
        while len(reached) < len(members):
            # The strongest tie between a member reached so far and one that is not.
            pair, tie = next((pair, tie) for pair, tie in ties if (pair[0] in reached) != (pair[1] in reached))
            alias, partner = (pair[1], pair[0]) if pair[0] in reached else pair
            reached.add(alias)
            yield AliasRow(id=alias, canonical=canonical, type=kind, partner=partner, rule=tie.rule, score=tie.score,
                           evidence=tie.evidence or (around.mention(alias), around.mention(partner)))

    def _rank(self, entity: str) -> tuple[bool, int, int, str, str]:
        name = self._around.names[entity]
        return (entity not in self._around.keyed_documents, -len(self._around.support(entity)), len(name), name, entity)


@dataclass(frozen=True)
class Judgements:
    """A reasoner's verdicts by pair, and people's decisions in the order they were made."""

    verdicts: Mapping[Pair, PairVerdict] = field(default_factory=dict)
    decisions: Sequence[EntityDecision] = ()


@dataclass(frozen=True)
class Resolution:
    """The aliases by entity id, and the pairs to ask a reasoner about with their scores, highest first."""

    aliases: dict[str, AliasRow]
    doubtful: list[tuple[Pair, float]]


def resolve(around: Surroundings, said: Mapping[str, Sequence[Statement]], judgements: Judgements) -> Resolution:
    """Find which entities are the same; `said` has by chunk the statements that two names are of the same thing."""
    statements = _by_entities(around, said)
    ties = {pair: tie for pair in sorted(around.candidates() | statements.keys())
            if (tie := _tie(around, pair, statements.get(pair, ()))) is not None and tie.score >= ASK_FROM}
    # What documents state outright: one address, one name in one text, the key of a document.
    ties |= {pair: Tie("stated", 1.0, evidence=evidence)
             for pair, evidence in chain(around.shared_contacts(), around.same_names())}
    ties |= {pair: Tie("person", _FAMILY_NAME, evidence=evidence) for pair, evidence in around.family_names()}
    ties |= {pair: Tie("key", 1.0, evidence=evidence) for pair, evidence in around.document_keys()}
    ties = _confirm(around, _apply_verdicts(around, _weaken_ambiguous(around, ties), judgements.verdicts))
    groups = Groups(around, ties, judgements.decisions)
    return Resolution(groups.aliases(), _doubtful(ties, groups, judgements))


def _apply_verdicts(around: Surroundings, ties: dict[Pair, Tie],
                    verdicts: Mapping[Pair, PairVerdict]) -> dict[Pair, Tie]:
    """Return ties after a reasoner's verdicts: a sure "same" adds a tie, any other verdict removes it."""
    for pair, verdict in verdicts.items():
        if not all(entity in around.names for entity in pair) or not around.may_be_one(*pair):
            continue
        if not verdict.same or verdict.confidence < SURE:
            ties.pop(pair, None)
        elif pair not in ties or ties[pair].score < MERGE_FROM:
            # A pair that merges without the verdict keeps its tie: the verdict's grounds may have been deleted.
            ties[pair] = Tie("verdict", max(MERGE_FROM, round(verdict.confidence, _DIGITS)))
    return ties


def _tie(around: Surroundings, pair: Pair, statements: Sequence[NameLink]) -> Tie | None:
    """Return the tie between two entities, or None if nothing ties them or something speaks against it."""
    first, second = pair
    have_same_type = around.same_type(first, second)  # None if a type says nothing
    if have_same_type is False:
        return None
    if statements:
        # "..., 6 September 1966, also known as ...": a date has no other name.
        is_date = any(around.folded_name(entity).date for entity in pair)
        return None if is_date or around.contradict(first, second) else _stated_tie(around, pair, statements)
    if (match := around.match(first, second)) is None:
        return None
    loose = match.loose or have_same_type is None
    weights = [around.weigh_shared(first, second), *(_weigh_short_name(around, pair, match) if loose else ())]
    score = _score(match.prior, weights)
    # Looked for last, because it is slow and most ties are too weak to matter.
    if score >= ASK_FROM and (around.has_fact_between(first, second) or around.contradict(first, second)):
        return None
    return Tie(match.rule, score, loose=loose)


def _stated_tie(around: Surroundings, pair: Pair, statements: Sequence[NameLink]) -> Tie:
    stating_documents = around.documents(statement.chunk for statement in statements)
    short = _shorter_first(around, pair)[0]
    # A name of one word, such as "Client", may be of other things in other documents.
    holds_everywhere = (len(stating_documents) >= _STATED_TWICE or " " in around.keys[short]
                        or around.documents(around.support(short)) <= stating_documents)
    score = _score(_STATED if holds_everywhere else _STATED_ELSEWHERE, [around.weigh_shared(*pair)])
    return Tie("stated", score, loose=True, evidence=tuple(statements))


def _weigh_short_name(around: Surroundings, pair: Pair, match: NameMatch) -> Iterator[float]:
    """Yield the weight of each piece of evidence that the shorter of two names is the longer one in short."""
    short, long = _shorter_first(around, pair)
    is_form = match.rule == "title" or (match.rule == "person" and match.prior < ASK_FROM)  # "Sir Henry Lee", "H. Lee"
    if around.support(short) <= around.support(long) or (is_form and around.share_documents(short, long)):
        yield _SUGGESTED
    added_place = fold(around.names[long].rpartition(",")[2]).key
    if match.rule == "place" and added_place in around.neighbours(short):  # a fact ties Austin to Texas
        yield _SUGGESTED


def _score(prior: float, weights: Iterable[float]) -> float:
    doubt = 1 - prior
    for weight in weights:
        doubt *= 1 - weight
    return round(1 - doubt, _DIGITS)


def _shorter_first(around: Surroundings, pair: Pair) -> tuple[str, str]:
    """Return the entity with the shorter name, then the other; of equal length, first the one in fewer chunks."""
    first, second = sorted(pair, key=lambda entity: (len(around.keys[entity]), len(around.support(entity)), entity))
    return first, second


def _by_entities(around: Surroundings, said: Mapping[str, Sequence[Statement]]) -> dict[Pair, list[NameLink]]:
    evidence_of: dict[Pair, list[NameLink]] = {}
    for chunk, statements in sorted(said.items()):
        entities_by_name = around.entities_by_name(chunk)
        for statement in statements:
            for first in entities_by_name.get(statement.first, ()):
                for second in entities_by_name.get(statement.second, ()):
                    if first != second:
                        evidence_of.setdefault(pair_of(first, second), []).append(
                            NameLink(chunk=chunk, start=statement.start, end=statement.end))
    for first, second, evidence in around.alias_facts():
        evidence_of.setdefault(pair_of(first, second), []).append(evidence)
    return {pair: sorted(set(places), key=lambda place: (place.chunk, place.start, place.end))
            for pair, places in evidence_of.items()}


def _weaken_ambiguous(around: Surroundings, ties: Mapping[Pair, Tie]) -> dict[Pair, Tie]:
    """Return the ties; a loose tie of an ambiguous short name gets a score too low to merge."""
    longer_names: dict[str, set[str]] = {}
    for pair, tie in ties.items():
        if tie.loose and tie.score >= ASK_FROM:
            short, long = _shorter_first(around, pair)
            longer_names.setdefault(short, set()).add(long)
    weakened = dict(ties)
    for pair, tie in ties.items():
        if tie.loose and tie.score >= MERGE_FROM:
            short, long = _shorter_first(around, pair)
            rivals = longer_names[short] - {long}
            if any((same := ties.get(pair_of(long, rival))) is None or same.score < MERGE_FROM for rival in rivals):
                weakened[pair] = tie._replace(score=MERGE_FROM - 10**-_DIGITS)
    return weakened


def _confirm(around: Surroundings, ties: Mapping[Pair, Tie]) -> dict[Pair, Tie]:
    """Return the ties; a risky one that only one document supports gets the score `_UNCONFIRMED`."""
    import networkx as nx  # noqa: PLC0415  (see `KnowledgeGraph`)

    merging = nx.Graph(pair for pair, tie in ties.items() if tie.score >= MERGE_FROM)
    # The documents that state a tie; for a reasoner's verdict, those that suggest it.
    documents_of = {pair: (around.documents_naming(*pair) if tie.rule == "verdict"
                           else around.documents(evidence.chunk for evidence in tie.evidence))
                    for pair, tie in ties.items() if pair in merging.edges and tie.rule in {"stated", "verdict"}}
    # A verdict that no document suggests is the reasoner's own, and is trusted.
    doubtful = [pair for pair, documents in documents_of.items()
                if len(documents) < _STATED_TWICE and (documents or ties[pair].rule == "stated")
                and around.match(*pair) is None]
    without_doubtful = merging.copy()
    without_doubtful.remove_edges_from(doubtful)
    group_of = {entity: number for number, group in enumerate(nx.connected_components(without_doubtful))
                for entity in group}
    components = list(nx.connected_components(merging))
    component_of = {entity: number for number, component in enumerate(components) for entity in component}
    doubtful_in_component = defaultdict[int, list[Pair]](list)
    for pair in doubtful:
        doubtful_in_component[component_of[pair[0]]].append(pair)
    confirmed = dict(ties)
    for number, pairs in doubtful_in_component.items():
        stating = frozenset[str]().union(*(documents_of[pair] for pair in pairs))
        groups_with_facts = {group_of[entity] for entity in components[number]
                             if around.documents_with_facts(entity) - stating}
        if len(groups_with_facts) > 1:
            confirmed.update((pair, ties[pair]._replace(score=_UNCONFIRMED)) for pair in pairs)
    return confirmed


def _doubtful(ties: Mapping[Pair, Tie], groups: Groups, judgements: Judgements) -> list[tuple[Pair, float]]:
    """Return the pairs of groups to ask a reasoner about, by their canonical entities, with the best score first."""
    judged = {groups.between(pair) for pair in judgements.verdicts}
    judged |= {groups.between((decision.first, decision.second)) for decision in judgements.decisions}
    best_score: dict[Pair, float] = {}
    for pair, tie in ties.items():
        canonical_pair = groups.between(pair)
        if tie.score >= ASK_FROM and canonical_pair[0] != canonical_pair[1] and canonical_pair not in judged:
            best_score[canonical_pair] = max(best_score.get(canonical_pair, 0.0), tie.score)
    return sorted(best_score.items(), key=lambda item: (-item[1], item[0]))
