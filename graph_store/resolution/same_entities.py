"""Entity resolution: which entities are one thing under several names.

A pure function of the mentions' graph, what its texts state, what persons decided and what a reasoner said
of doubtful pairs. Neither order nor batches count, and nothing is stored that a later run could trip over.

A pair's score is 1 - (1 - prior) x (1 - w1) x (1 - w2) ...: the prior says how often names that differ in
this way are of one thing, each w how much of the doubt that is left a piece of evidence takes away. Priors and
thresholds were chosen on `benchmarks/entity_pairs.jsonl`, by `benchmarks/entity_pairs.py`.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...schemas.resolution import AliasRow, EntityDecision, NameLink, Pair, PairVerdict, pair_of
from ...text.scripts import script_of
from .groups import Groups, Tie
from .name_comparison import fold
from .stated_aliases import Statement
from .surroundings import Surroundings

MERGE = 0.9
"""Score from which two entities are one without asking."""
ASK = 0.5
"""Score from which a reasoner is asked."""
NEARNESS = 0.75
"""Weight of the cosine of names that nothing but their meaning ties: such a pair is never sure."""
SURE = 0.8
"""A reasoner's confidence from which its word counts: the mu of Youtu-GraphRAG eq. 3."""

_NO_TYPE = 0.85
"""Weight of a prior where a type says nothing: what it is may be another thing of that name."""
_CONTAINED = 0.85
"""The shorter name is only in passages that have the longer one, and nothing else goes by it."""
_PLACE_SAID = 0.85
"""A fact ties the shorter name to what the longer one adds, as Austin to Texas."""
_STATED_PRIOR, _STATED, _STATED_ELSEWHERE = 0.5, 0.9, 0.4
"""A text says so; the weight where all passages of one of the names (or two of them) do, and where they do not."""
_STATED_TWICE = 2
_UNCONFIRMED = ASK - 0.1
"""Only one document says that two are the same, and their names do not suggest it. Merging them would attribute what
other documents say of one to the other, and a reasoner would read that same document: a second one, or a person, is
waited for."""
_DIGITS = 3


@dataclass(frozen=True)
class Judgements:
    """What persons and reasoners said of pairs: verdicts by pair, decisions in the order they were taken."""

    verdicts: Mapping[Pair, PairVerdict] = field(default_factory=dict)
    decisions: Sequence[EntityDecision] = ()


@dataclass(frozen=True)
class Resolution:
    """The entities that are another one, by id, and the pairs that only a reasoner can tell, surest first."""

    aliases: dict[str, AliasRow]
    doubtful: list[tuple[Pair, float]]


Said = Mapping[str, Sequence[Statement]]
"""What each chunk states of names."""


def by_hand(around: Surroundings, decisions: Sequence[EntityDecision]) -> dict[str, AliasRow]:
    """Return the aliases that persons made, where nothing else is to count."""
    return Groups(around, {}, decisions, MERGE).aliases()


def resolve(around: Surroundings, said: Said, judgements: Judgements, near: Iterable[tuple[Pair, float]] = (),
            surrounded: Iterable[tuple[Pair, float]] = ()) -> Resolution:
    """Find out which entities are the same.

    Args:
        around: the graph of mentions, unresolved.
        said: the statements of its chunks.
        judgements: manual decisions and a reasoner's verdicts; those on entities that are not there rest.
        near: pairs of entities whose names mean much the same, with the trust-weighted cosine: they are put to a
            reasoner and decide nothing by themselves.
        surrounded: pairs that may be one by what surrounds them, with their score; as near ones.
    """
    stated = _by_entities(around, said)
    found = {pair: tie for pair in sorted(around.candidates | stated.keys())
             if (tie := _tie(around, pair, stated.get(pair, ()))) is not None}
    found |= {pair: Tie("stated", 1.0, evidence=evidence) for pair, evidence in around.shared_contacts()
              if around.same_type(*pair) and not around.contradict(*pair)}
    found |= {pair: Tie("stated", 1.0, evidence=evidence) for pair, evidence in around.guessed_types()}
    found |= {pair: Tie("key", 1.0, evidence=evidence) for pair, evidence in around.document_keys()}
    # A reasoner is not asked about a weakly tied pair for its meaning.
    ties = {pair: tie for pair, tie in found.items() if tie.score >= ASK}
    weak = found.keys() - ties.keys()
    ties = _confirm(around, _apply_judgements(around, _weaken_ambiguous(around, ties), judgements))
    groups = Groups(around, ties, judgements.decisions, MERGE)
    alike = {pair: Tie("meaning", round(cosine * NEARNESS, _DIGITS)) for pair, cosine in near
             if pair not in ties and pair not in weak and around.may_be_one(*pair)}
    alike.update((pair, Tie("surroundings", max(ASK, score))) for pair, score in surrounded if pair not in ties)
    return Resolution(groups.aliases(), _doubtful({**alike, **ties}, groups, judgements))


def _tie(around: Surroundings, pair: Pair, stated: Sequence[NameLink]) -> Tie | None:
    """Return what ties two entities; None where nothing does, or something speaks against it.

    What speaks against a tie that is too weak to count is not looked for: most are.
    """
    first, second = pair
    alike = around.same_type(first, second)
    if alike is False:
        return None
    if stated:
        # "..., 6 September 1966, also known as ...": a date has no other name.
        dated = any(around.folded_name(entity).date for entity in pair)
        return None if dated or around.contradict(first, second) else _stated_tie(around, pair, stated)
    match = around.match(first, second)
    if match is None:
        return None
    loose = match.loose or alike is None
    weights = [around.weigh_shared(first, second)]
    if loose:
        short, long = _shorter_first(around, pair)
        weights.append(_CONTAINED if around.support(short) <= around.support(long) else 0.0)
        weights.append(_PLACE_SAID if match.rule == "place" and _place_said(around, short, long) else 0.0)
    prior = match.prior * (_NO_TYPE if alike is None else 1.0)
    if match.rule == "place" and not _is_known_place(around, pair):
        prior /= 2
    score = _score(prior, weights)
    if score >= ASK and (around.has_fact_between(first, second) or around.contradict(first, second)):
        return None
    return Tie(match.rule, score, loose=loose)


def _stated_tie(around: Surroundings, pair: Pair, stated: Sequence[NameLink]) -> Tie:
    # What a document states holds for all of it; a full name is that of one thing in others as well.
    saying = around.documents(evidence.chunk for evidence in stated)
    everywhere = len(saying) >= _STATED_TWICE or all(
        around.documents(around.support(entity)) <= saying for entity in pair if _may_be_others(around, entity, pair))
    score = _score(_STATED_PRIOR, [_STATED if everywhere else _STATED_ELSEWHERE, around.weigh_shared(*pair)])
    return Tie("stated", score, loose=True, evidence=tuple(stated))


def _may_be_others(around: Surroundings, entity: str, pair: Pair) -> bool:
    """Return True if a name may be of other things, too: a single word; without spaces, the shorter of the two."""
    key = around.keys[entity]
    return " " not in key and (script_of(key) == "latin" or entity == _shorter_first(around, pair)[0])


def _score(prior: float, weights: Iterable[float]) -> float:
    doubt = 1 - prior
    for weight in weights:
        doubt *= 1 - weight
    return round(1 - doubt, _DIGITS)


def _shorter_first(around: Surroundings, pair: Pair) -> tuple[str, str]:
    first, second = sorted(
        pair, key=lambda entity: (len(around.keys[entity]), len(around.support(entity)), entity))
    return first, second


def _place_said(around: Surroundings, short: str, long: str) -> bool:
    added = fold(around.names[long].partition(",")[2]).key
    return bool(added) and added in around.neighbours(short)


def _is_known_place(around: Surroundings, pair: Pair) -> bool:
    """Return True if what the longer name adds is an entity by itself."""
    added = around.names[_shorter_first(around, pair)[1]].rpartition(",")[2]
    return fold(added).key in around.known_keys


def _by_entities(around: Surroundings, said: Said) -> dict[Pair, list[NameLink]]:
    """Return the statements by the entities that they are about, as far as their types allow one."""
    evidence_of: dict[Pair, list[NameLink]] = {}
    for chunk, statements in sorted(said.items()):
        called = around.entities_by_name(chunk)
        for statement in statements:
            for first in called.get(statement.first, ()):
                for second in called.get(statement.second, ()):
                    if first != second:
                        evidence_of.setdefault(pair_of(first, second), []).append(
                            NameLink(chunk=chunk, start=statement.start, end=statement.end))
    for first, second, evidence in around.alias_facts():
        evidence_of.setdefault(pair_of(first, second), []).append(evidence)
    return {pair: sorted(set(places), key=lambda place: (place.chunk, place.start, place.end))
            for pair, places in evidence_of.items()}


def _weaken_ambiguous(around: Surroundings, ties: Mapping[Pair, Tie]) -> dict[Pair, Tie]:
    """Return the ties; loose ones do not merge an entity that is loosely tied to several different things."""
    partners: dict[str, set[str]] = {}
    for pair, tie in ties.items():
        if tie.loose and tie.score >= ASK:
            short, long = _shorter_first(around, pair)
            partners.setdefault(short, set()).add(long)
    surest = MERGE - 10**-_DIGITS
    weakened = dict(ties)
    for pair, tie in ties.items():
        if tie.loose and tie.score >= MERGE:
            short, long = _shorter_first(around, pair)
            rivals = partners[short] - {long}
            if any((same := ties.get(pair_of(long, rival))) is None or same.score < MERGE for rival in rivals):
                weakened[pair] = tie._replace(score=surest)
    return weakened


def _apply_judgements(around: Surroundings, ties: Mapping[Pair, Tie], judgements: Judgements) -> dict[Pair, Tie]:
    """Return the ties with the reasoner's word for those that it was asked about."""
    judged = dict(ties)
    for pair, verdict in judgements.verdicts.items():
        if not all(entity in around.names for entity in pair) or not around.may_be_one(*pair):
            continue
        if verdict.same and verdict.confidence >= SURE:
            if (tie := judged.get(pair)) is not None and tie.score >= MERGE:
                continue  # so it is as if it had not been asked: what it was asked for may be gone
            judged[pair] = Tie("verdict", max(MERGE, round(verdict.confidence, _DIGITS)))
        else:
            judged.pop(pair, None)
    return judged


def _confirm(around: Surroundings, ties: Mapping[Pair, Tie]) -> dict[Pair, Tie]:
    """Return the ties, but mark as unconfirmed those that would merge two things on the word of one document.

    Two things are entities that other documents have facts of. A reasoner's verdict counts as a document's statement if
    a fact of it calls one of them by the other's name. Otherwise one false document would merge two things, with the
    sources of the facts of both. Groups are compared, as a third name or an abbreviation could tie the two as well.
    """
    import networkx as nx  # noqa: PLC0415  (see `KnowledgeGraph`)

    merged = nx.Graph(pair for pair, tie in ties.items() if tie.score >= MERGE)
    stating = {pair: _saying(around, pair, tie) for pair, tie in ties.items()
               if pair in merged.edges and tie.rule in {"stated", "verdict"}}
    doubtful = [pair for pair, documents in stating.items()
                if len(documents) < _STATED_TWICE and (documents or ties[pair].rule == "stated")
                and around.match(*pair) is None]
    merged_without = merged.copy()
    merged_without.remove_edges_from(doubtful)
    group_of = {entity: number for number, group in enumerate(nx.connected_components(merged_without))
                for entity in group}
    components = list(nx.connected_components(merged))
    number_of = {entity: number for number, component in enumerate(components) for entity in component}
    doubtful_of = defaultdict[int, list[Pair]](list)
    for pair in doubtful:
        doubtful_of[number_of[pair[0]]].append(pair)
    confirmed = dict(ties)
    for number, pairs in doubtful_of.items():
        documents = frozenset[str]().union(*(stating[pair] for pair in pairs))
        groups_with_facts = {group_of[entity] for entity in components[number]
                             if around.documents_with_facts(entity) - documents}
        if len(groups_with_facts) > 1:
            confirmed.update((pair, ties[pair]._replace(score=_UNCONFIRMED)) for pair in pairs)
    return confirmed


def _saying(around: Surroundings, pair: Pair, tie: Tie) -> frozenset[str]:
    if tie.rule == "verdict":
        return around.documents_naming(*pair)
    return around.documents(evidence.chunk for evidence in tie.evidence)


def _doubtful(ties: Mapping[Pair, Tie], groups: Groups, judgements: Judgements) -> list[tuple[Pair, float]]:
    """Return the pairs to ask about: one for each two groups, without those judged before."""
    judged = {groups.between(pair) for pair in judgements.verdicts}
    judged |= {groups.between((decision.first, decision.second)) for decision in judgements.decisions}
    best: dict[Pair, tuple[float, Pair]] = {}
    for pair, tie in ties.items():
        between = groups.between(pair)
        if tie.score >= ASK and between[0] != between[1] and between not in judged:
            best[between] = max(best.get(between, (0.0, between)), (tie.score, between))
    return sorted(((pair, score) for score, pair in best.values()), key=lambda item: (-item[1], item[0]))
