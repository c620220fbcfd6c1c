"""Entity resolution: find which entities are the same thing under several names.

A pure function of the graph of mentions, the aliases that its texts state, people's decisions and a reasoner's
verdicts. The result depends neither on the order of documents nor on batches.

A pair's score is 1 - (1 - prior) x (1 - w1) x (1 - w2) ... The prior is how often two names that differ in this way are
of one thing. Each w is the weight of a piece of evidence: how much of the remaining doubt it removes. Priors and
thresholds were chosen on `benchmarks/entity_pairs.jsonl`, by `benchmarks/entity_pairs.py`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from types import MappingProxyType
from typing import NamedTuple

from ...schemas.resolution import AliasRow, EntityDecision, NameLink, Pair, PairVerdict, Rule, pair_of
from .name_comparison import NameMatch, Statement, fold
from .surroundings import Surroundings

_STANDING_IN: frozenset[Rule] = frozenset({"manual", "verdict", "stated", "key", "person"})
"""Rules by which a name stands in for another: a person, a model or the text says so, or it is a person's in short."""
MERGE_FROM = 0.9  # score from which two entities are merged without asking
ASK_FROM = 0.5  # score from which a reasoner is asked
SURE = 0.8  # a reasoner's confidence from which its verdict counts: the mu of Youtu-GraphRAG eq. 3.

_SUGGESTED = 0.85  # weight of each piece of evidence that a name is short for another (`_weigh_short_name`)
_STATED, _STATED_ELSEWHERE = 0.95, 0.7
"""The prior if a text says that two names are of the same thing, and if other texts have the shorter name, too."""
_ENOUGH_DOCUMENTS = 2  # the number of documents whose statement needs no confirmation
_DIGITS = 3  # of a score, so that rounding errors decide nothing


class Tie(NamedTuple):
    """The rule that ties two entities, and its score; `loose`: one of the names may refer to several other entities."""

    rule: Rule
    score: float
    loose: bool = False
    evidence: tuple[NameLink, ...] = ()


class Groups:
    """The groups of entities that result from ties and people's decisions."""

    def __init__(self, around: Surroundings, ties: Mapping[Pair, Tie], decisions: Sequence[EntityDecision],
                 risky: Mapping[Pair, frozenset[str]] = MappingProxyType({})) -> None:
        """Join entities by people's decisions, of which the last on a pair applies, and by sure ties.

        `risky` are the ties that one document alone suggests. A second document or a person has to confirm them if
        other documents have facts of both groups: one document could give a thing the facts of another.
        """
        self._around = around
        self._ties = dict(ties)
        self._risky = risky
        self.unconfirmed = set[Pair]()  # the risky ties that were not applied
        self._group: dict[str, list[str]] = {}  # by entity: the sorted members of its group, if it has several
        self._joined: list[Pair] = []  # the pairs whose ties are within groups
        last_verdicts = {pair_of(decision.first, decision.second): decision.verdict for decision in decisions
                         if decision.first in around.names and decision.second in around.names}
        self._split = {pair for pair, verdict in last_verdicts.items() if verdict == "split"}
        for pair, verdict in last_verdicts.items():
            if verdict == "merge":
                self._ties[pair] = Tie("manual", 1.0)
                self._try_join(pair)
        # Risky ties come last, when all else has shown which groups other documents know.
        for pair in sorted(self._ties, key=lambda pair: (pair in risky, -self._ties[pair].score, pair)):
            if self._ties[pair].score >= MERGE_FROM and self._ties[pair].rule != "manual":
                self._try_join(pair)

    def _members(self, entity: str) -> list[str]:
        """Return the members of an entity's group, or the entity alone."""
        return self._group.get(entity, [entity])

    def _try_join(self, pair: Pair) -> None:
        """Join the groups of a tied pair, unless a person split members of them or the groups are incompatible."""
        members, other_members = map(self._members, pair)
        if members is not other_members:  # the members of one group share one list
            pairs = list(product(members, other_members))
            if any(pair_of(*one) in self._split for one in pairs):
                return
            are_compatible = self._ties[pair].rule == "manual" or all(
                self._is_confirmed_by_group(first, second, members)
                or self._is_confirmed_by_group(second, first, other_members) for first, second in pairs)
            if not are_compatible:
                return
            if self._ties[pair].rule != "manual" and pair in self._risky and all(
                    any(self._around.documents_with_facts(entity) - self._risky[pair] for entity in group)
                    for group in (members, other_members)):
                self.unconfirmed.add(pair)
                return
            joined = sorted([*members, *other_members])
            self._group.update(dict.fromkeys(joined, joined))
        self._joined.append(pair)

    def _is_confirmed_by_group(self, entity: str, other: str, group: Sequence[str]) -> bool:
        """Return True if `entity` is compatible with `other`, or a member of its group that stands in for it is."""
        around = self._around
        for member in group:
            tie = self._ties.get(pair_of(member, entity))
            stands_in = member == entity or (tie is not None and tie.rule in _STANDING_IN)
            # Two are compatible if they are tied, or if their names match and neither types nor dates contradict.
            if stands_in and (pair_of(member, other) in self._ties or (
                    around.have_compatible_types(member, other) is not False
                    and not around.have_different_dates(member, other)
                    and around.name_match(member, other) is not None)):
                return True
        return False

    def canonical_pair(self, pair: Pair) -> Pair:
        """Return the canonical entities of two entities' groups; an entity without a group stands for itself."""
        return pair_of(*(min(self._group[entity], key=self._canonical_rank) if entity in self._group else entity
                         for entity in pair))

    def _canonical_rank(self, entity: str) -> tuple[bool, int, int, str, str]:
        """Return a sort key for a group's members: a document named by a key comes first, then the most used name."""
        name = self._around.names[entity]
        return (entity not in self._around.keyed_documents, -len(self._around.support(entity)), len(name), name, entity)

    def aliases(self) -> dict[str, AliasRow]:
        """Return the aliases of all groups, by entity id; a group's canonical entity has none."""
        pairs_of_group: dict[str, list[Pair]] = {}  # by the group's first member
        for pair in self._joined:
            pairs_of_group.setdefault(self._members(pair[0])[0], []).append(pair)
        rows = (self._alias_rows(self._members(first), pairs) for first, pairs in sorted(pairs_of_group.items()))
        return {row.id: row for row in chain.from_iterable(rows)}

    def _alias_rows(self, members: Sequence[str], pairs: Sequence[Pair]) -> Iterator[AliasRow]:
        """Yield the aliases of a group: each member by its strongest tie to the canonical one or an earlier alias."""
        canonical, around = min(members, key=self._canonical_rank), self._around
        # Types of named documents and special types come first, then the one with most documents with facts.
        best_typed = max(members, key=lambda entity: (
            entity in around.keyed_documents, around.type_depth(entity) > 0, len(around.documents_with_facts(entity)),
            len(around.support(entity)), around.type_depth(entity), entity))
        type_name = around.type(best_typed)
        reached = {canonical}
        strongest_first = sorted(pairs, key=lambda pair: (-self._ties[pair].score, pair))
        while len(reached) < len(members):
            # Groups grow by their ties, so one always leads to a member that is not reached yet.
            pair = next(pair for pair in strongest_first if len(reached.intersection(pair)) == 1)
            alias, partner = (pair[1], pair[0]) if pair[0] in reached else pair
            tie = self._ties[pair]
            reached.add(alias)
            evidence = tie.evidence or (around.mention(alias), around.mention(partner))
            yield AliasRow(id=alias, canonical=canonical, type=type_name, partner=partner, rule=tie.rule,
                           score=tie.score, evidence=evidence)


class Judgements(NamedTuple):
    """A reasoner's verdicts by pair, and people's decisions in the order they were made."""

    verdicts: Mapping[Pair, PairVerdict] = MappingProxyType({})
    decisions: Sequence[EntityDecision] = ()


class Resolution(NamedTuple):
    """The aliases by entity id, and the pairs to ask a reasoner about with their scores, highest first."""

    aliases: dict[str, AliasRow]
    doubtful: list[tuple[Pair, float]]


def resolve(around: Surroundings, stated: Mapping[str, Sequence[Statement]], judgements: Judgements) -> Resolution:
    """Find which entities are the same; `stated` has by chunk the statements that two names are of the same thing."""
    places_of = _places_by_pair(around, stated)
    ties = {pair: tie for pair in sorted(around.candidates() | places_of.keys())
            if (tie := _find_tie(around, pair, places_of.get(pair, ()))) is not None and tie.score >= ASK_FROM}
    # What documents show, in place of ties by names: one address, one name in one text, the key of a document.
    ties |= {pair: Tie("stated", 1.0, evidence=evidence)
             for pair, evidence in chain(around.shared_contacts(), around.same_names())}
    ties |= {pair: Tie("key", 1.0, evidence=evidence) for pair, evidence in around.document_keys()}
    _weaken_ambiguous(around, ties)
    _apply_verdicts(around, ties, judgements.verdicts)
    groups = Groups(around, ties, judgements.decisions, _find_risky(around, ties))
    decided_pairs = [(decision.first, decision.second) for decision in judgements.decisions]
    judged = {groups.canonical_pair(pair) for pair in (*judgements.verdicts, *decided_pairs)}  # not asked about again
    best_score: dict[Pair, float] = {}
    for pair, tie in ties.items():
        first, second = canonical_pair = groups.canonical_pair(pair)
        # A reasoner would only read the one document that suggests an unconfirmed pair.
        is_open = first != second and canonical_pair not in judged and pair not in groups.unconfirmed
        if tie.score >= ASK_FROM and is_open:
            best_score[canonical_pair] = max(best_score.get(canonical_pair, 0.0), tie.score)
    return Resolution(groups.aliases(), sorted(best_score.items(), key=lambda item: (-item[1], item[0])))


def _places_by_pair(around: Surroundings, stated: Mapping[str, Sequence[Statement]]) -> dict[Pair, list[NameLink]]:
    """Return by pair of entities the places that say that they are the same, in words or by a fact."""
    places_of: defaultdict[Pair, set[NameLink]] = defaultdict(set)
    for chunk, statements in stated.items():
        entities_by_name = around.entities_by_name(chunk) if statements else {}
        for statement in statements:
            place = NameLink(chunk=chunk, start=statement.start, end=statement.end)
            for first, second in product(entities_by_name.get(statement.first, ()),
                                         entities_by_name.get(statement.second, ())):
                if first != second:  # one entity may have both names
                    places_of[pair_of(first, second)].add(place)
    for first, second, place in around.alias_facts():
        places_of[pair_of(first, second)].add(place)
    return {pair: sorted(places, key=lambda place: (place.chunk, place.start, place.end))
            for pair, places in places_of.items()}


def _find_tie(around: Surroundings, pair: Pair, stating: Sequence[NameLink]) -> Tie | None:
    """Return the tie of two entities, or None; `stating` are the places of texts that say that they are the same."""
    have_same_type = around.have_compatible_types(*pair)  # None if a type says nothing
    if have_same_type is False:
        return None
    if stating:
        # "..., 6 September 1966, also known as ...": a date has no other name.
        is_date = any(around.folded_name(entity).date for entity in pair)
        if is_date or around.have_different_dates(*pair):
            return None
        documents = around.documents(place.chunk for place in stating)
        short, _ = _shorter_first(around, pair)
        # A name of one word, such as "Client", may be of other things in other documents.
        holds_everywhere = (len(documents) >= _ENOUGH_DOCUMENTS or " " in around.keys[short]
                            or around.documents(around.support(short)) <= documents)
        score = _score(_STATED if holds_everywhere else _STATED_ELSEWHERE, [around.weigh_shared(*pair)])
        return Tie("stated", score, loose=True, evidence=tuple(stating))
    if (match := around.name_match(*pair)) is None:
        return None
    loose = match.loose or have_same_type is None
    weights = [around.weigh_shared(*pair)]
    if loose:
        weights += _weigh_short_name(around, pair, match)
    score = _score(match.prior, weights)
    # Looked for last, because it is slow and most ties are too weak to matter.
    if score >= ASK_FROM and (around.has_fact_between(*pair) or around.have_different_dates(*pair)):
        return None
    return Tie(match.rule, score, loose=loose)


def _weigh_short_name(around: Surroundings, pair: Pair, match: NameMatch) -> Iterator[float]:
    """Yield the weight of each piece of evidence that the shorter of two names is the longer one in short."""
    short, long = _shorter_first(around, pair)
    is_short_form = match.rule == "title" or (match.rule == "person" and match.prior < ASK_FROM)  # "Sir Lee", "H. Lee"
    occurs_only_beside_long = around.support(short) <= around.support(long)
    if occurs_only_beside_long or (is_short_form and around.share_documents(short, long)):
        yield _SUGGESTED
    added_place = fold(around.names[long].rpartition(",")[2]).key
    if match.rule == "place" and added_place in around.neighbours(short):  # a fact ties Austin to Texas
        yield _SUGGESTED


def _score(prior: float, weights: Iterable[float]) -> float:
    """Return the score of a pair, from its prior and the weights of its evidence (see the module)."""
    doubt = 1 - prior
    for weight in weights:
        doubt *= 1 - weight
    return round(1 - doubt, _DIGITS)


def _shorter_first(around: Surroundings, pair: Pair) -> tuple[str, str]:
    """Return the entity with the shorter name, then the other; of equal length, first the one in fewer chunks."""
    first, second = sorted(pair, key=lambda entity: (len(around.keys[entity]), len(around.support(entity)), entity))
    return first, second


def _weaken_ambiguous(around: Surroundings, ties: dict[Pair, Tie]) -> None:
    """Give a loose tie a score too low to merge if its short name is also tied to an entity that does not merge."""
    longer_names: defaultdict[str, set[str]] = defaultdict(set)
    ends = {pair: _shorter_first(around, pair) for pair, tie in ties.items() if tie.loose}
    for short, long in ends.values():
        longer_names[short].add(long)
    merging = {pair for pair, tie in ties.items() if tie.score >= MERGE_FROM}
    for pair, (short, long) in ends.items():
        rivals = longer_names[short] - {long}
        if pair in merging and any(pair_of(long, rival) not in merging for rival in rivals):
            ties[pair] = ties[pair]._replace(score=MERGE_FROM - 10**-_DIGITS)  # just too low


def _apply_verdicts(around: Surroundings, ties: dict[Pair, Tie], verdicts: Mapping[Pair, PairVerdict]) -> None:
    """Apply a reasoner's verdicts: a sure "same" adds a tie, any other verdict removes it."""
    for pair, verdict in verdicts.items():
        # An entity may have gone since the verdict, or facts against it may have come.
        if not all(entity in around.names for entity in pair) or not around.may_be_one(*pair):
            continue
        if not verdict.same or verdict.confidence < SURE:
            ties.pop(pair, None)
        elif pair not in ties or ties[pair].score < MERGE_FROM:
            # A pair that merges without the verdict keeps its tie: the verdict's grounds may have been deleted.
            ties[pair] = Tie("verdict", max(MERGE_FROM, round(verdict.confidence, _DIGITS)))


def _find_risky(around: Surroundings, ties: Mapping[Pair, Tie]) -> dict[Pair, frozenset[str]]:
    """Return the ties that names do not suggest and only one document does, each with the documents that do."""
    risky: dict[Pair, frozenset[str]] = {}
    for pair, tie in ties.items():
        if tie.score < MERGE_FROM or tie.rule not in {"stated", "verdict"} or around.name_match(*pair) is not None:
            continue
        documents = (around.documents(place.chunk for place in tie.evidence) if tie.rule == "stated"
                     else around.documents_naming(*pair))
        # A verdict that no document suggests is the reasoner's own, and is trusted.
        if len(documents) < _ENOUGH_DOCUMENTS and (documents or tie.rule == "stated"):
            risky[pair] = documents
    return risky
