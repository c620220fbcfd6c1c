"""What a community is described from, and its id.

The id of a community is made from the digest that its summary is written from, so one whose digest did not change keeps
its name and summary.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ...schemas.naming import content_id, normalise
from ...schemas.retrieval import CommunityDigest
from ..graph.knowledge_graph import KnowledgeGraph
from ..ledger.communities import TreeCommunity

# Strongest facts shown of a community: at about 12 tokens each, half a prompt of 1,000 tokens. Of them so many at most
# are values, and so many connections to other communities.
_DIGEST_FACTS = 40
_DIGEST_VALUES, _DIGEST_CONNECTIONS = 10, 10
TAU = 0.5
"""The affinity from which an outside entity is at a community's boundary: it is in the reports of at most two."""


def identified(graph: KnowledgeGraph, community: TreeCommunity) -> TreeCommunity:
    """Return a community with the id that its digest makes."""
    told, level = _digest(graph, community), community.level
    # A community and the only one within it have the same digest: above the first level, the level tells them apart.
    above = ("level", str(level)) if level else ()
    # Keywords by id, too: entities of different types share names, and no two communities of a level share members.
    identity = content_id("community", *above, *community.keywords, "keywords", *told.keywords, "facts", *told.facts,
                          "connections", *told.connections)
    return community.model_copy(update={"id": identity})


def digests(graph: KnowledgeGraph, communities: Sequence[TreeCommunity]) -> list[CommunityDigest]:
    """Return the digests from which communities are summarised, completed at the boundary (UniAI eq. 4)."""
    return [_digest(graph, community) for community in communities]


def all_texts(graph: KnowledgeGraph) -> Iterator[str]:
    """Yield all that a digest may have: the names of entities, triples and values in words."""
    yield from graph.all_names().values()
    yield from map(graph.statement_of, range(graph.count_triples()))
    for entity in graph.entities_with_values():
        for attribute, values in graph.told(entity).items():
            yield from (graph.value_statement(entity, attribute, value) for value in values)


def _digest(graph: KnowledgeGraph, community: TreeCommunity) -> CommunityDigest:
    told = set[str]()
    triples = _new(map(graph.statement_of, _facts(graph, community)), _DIGEST_FACTS, told)
    values = _new(_values(graph, community), _DIGEST_VALUES, told)
    connections = _new(map(graph.statement_of, _connections(graph, community)), _DIGEST_CONNECTIONS, told)
    kinds = Counter(map(graph.type, community.keywords))
    return CommunityDigest(keywords=tuple(graph.name(entity) for entity in community.keywords),
                           facts=(*triples[:_DIGEST_FACTS - len(values) - len(connections)], *values),
                           connections=tuple(connections),
                           kind=min(kinds, key=lambda kind: (-kinds[kind], kind), default=""))


def _new(facts: Iterable[str], most: int, told: set[str]) -> list[str]:
    """Return the first facts that say what none before said, and note them: a value may repeat a triple."""
    new = list[str]()
    for fact in facts:
        key = normalise(fact.replace(":", " "))
        if key not in told:
            told.add(key)
            new.append(fact)
            if len(new) == most:
                break
    return new


def _facts(graph: KnowledgeGraph, community: TreeCommunity) -> Iterator[int]:
    """Yield the rows of triples between members, those about keywords first; of large communities only the first."""
    members, keywords = list(map(graph.row, community.members)), list(map(graph.row, community.keywords))
    within, others, told = set(members), set(members) - set(keywords), set[int]()
    for keyword in keywords:
        about = [row for row, end in _triples_of(graph, keyword) if end in within and row not in told]
        told.update(about)
        yield from about
    for member in members:
        if member in others:
            yield from (row for row, end in _triples_of(graph, member) if end in others
                        and graph.ends_of(row)[0] == member)


def _values(graph: KnowledgeGraph, community: TreeCommunity) -> Iterator[str]:
    """Yield the attribute values of the keywords."""
    for keyword in community.keywords:
        for attribute, values in graph.told(keyword).items():
            yield from (graph.value_statement(keyword, attribute, value) for value in values)


def _connections(graph: KnowledgeGraph, community: TreeCommunity) -> Iterator[int]:
    """Yield the rows of triples that lead over the boundary: to those whom eq. 4 adds, then those of the keywords."""
    ordered = list(map(graph.row, dict.fromkeys((*community.keywords, *community.members))))
    members, last = set(ordered), len(community.keywords)
    rank = {entity: number for number, entity in enumerate(ordered[:last])}
    over = {row: min(rank.get(end, last) for end in graph.ends_of(row))
            for entity in boundary(graph, community.members)
            for row, end in _triples_of(graph, graph.row(entity)) if end in members}
    yield from sorted(over, key=lambda row: (over[row], row))
    for member in ordered:
        yield from (row for row, end in _triples_of(graph, member) if end not in members and row not in over)


def boundary(graph: KnowledgeGraph, members: Sequence[str], tau: float = TAU) -> set[str]:
    """Return the outside entities at the boundary of a community's members (UniAI-GraphRAG eq. 4).

    The affinity of an outside entity is the share of its neighbours that are members. A is an indicator in the paper,
    so several triples between two entities count once, in either direction. An affinity of tau suffices, as in the
    equation; the paper's text says "exceeds".
    """
    within = Counter(end for member in members for end in graph.neighbours(member))
    return {entity for entity in within.keys() - set(members)
            if within[entity] / graph.count_neighbours(entity) >= tau}


def _triples_of(graph: KnowledgeGraph, entity: int) -> Iterator[tuple[int, int]]:
    """Yield the rows of the triples of an entity, with what is at their other end; both entities as rows."""
    for row in graph.incident_rows(entity):
        head, tail = graph.ends_of(row)
        yield row, tail if head == entity else head
