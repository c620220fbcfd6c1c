"""Make the digests from which communities are summarised: keywords, strongest facts, connections to others.

A community's id is a hash of its digest, so it keeps its name and summary as long as its digest does not change.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from ...schemas.naming import content_id, normalise
from ...schemas.retrieval import CommunityDigest
from ..graph.knowledge_graph import KnowledgeGraph
from ..ledger.communities import TreeCommunity

# The number of facts in a digest: at about 12 tokens each they are half a prompt of 1,000 tokens.
_DIGEST_FACTS = 40
# The maximum number of values and of connections to other communities among them.
_DIGEST_VALUES, _DIGEST_CONNECTIONS = 10, 10
TAU = 0.5
"""The affinity from which an outside entity is at a community's boundary. At most two communities can have this share
of an entity's neighbours."""


def with_content_id(graph: KnowledgeGraph, community: TreeCommunity) -> TreeCommunity:
    """Return a community with its id, a hash of its level, its keywords' ids and its digest.

    The level tells a community from the only one within it; the ids, from one of entities with the same names.
    """
    digest = make_digest(graph, community)
    level = ("level", str(community.level)) if community.level else ()
    identity = content_id("community", *level, *community.keywords, "keywords", *digest.keywords,
                          "facts", *digest.facts, "connections", *digest.connections)
    return community.model_copy(update={"id": identity})


def iterate_texts(graph: KnowledgeGraph) -> Iterator[str]:
    """Yield every text that a digest may contain: all names of entities, and all triples and values in words."""
    yield from graph.all_names().values()
    yield from map(graph.statement_of, range(graph.count_triples()))
    for entity in (graph.columns.ids[row] for row in np.unique(graph.columns.values.entity).tolist()):
        for attribute, values in graph.descriptive_values(entity).items():
            yield from (graph.value_statement(entity, attribute, value) for value in values)


def make_digest(graph: KnowledgeGraph, community: TreeCommunity) -> CommunityDigest:
    """Return the digest from which a community is summarised, completed at the boundary (UniAI eq. 4)."""
    seen = set[str]()
    triples = _take_new(map(graph.statement_of, _iterate_inner_triples(graph, community)), _DIGEST_FACTS, seen)
    statements = (graph.value_statement(keyword, attribute, value) for keyword in community.keywords
                  for attribute, values in graph.descriptive_values(keyword).items() for value in values)
    values = _take_new(statements, _DIGEST_VALUES, seen)
    outer = map(graph.statement_of, _iterate_outer_triples(graph, community))
    connections = _take_new(outer, _DIGEST_CONNECTIONS, seen)
    type_counts = Counter(map(graph.type, community.keywords))
    return CommunityDigest(keywords=tuple(graph.name(entity) for entity in community.keywords),
                           facts=(*triples[:_DIGEST_FACTS - len(values) - len(connections)], *values),
                           connections=tuple(connections),
                           kind=min(type_counts, key=lambda name: (-type_counts[name], name), default=""))


def _take_new(facts: Iterable[str], most: int, seen: set[str]) -> list[str]:
    """Return the first `most` facts that were not seen before, and note them as seen."""
    new_facts = list[str]()
    for fact in facts:
        key = normalise(fact.replace(":", " "))
        if key not in seen:
            seen.add(key)
            new_facts.append(fact)
            if len(new_facts) == most:
                break
    return new_facts


def _iterate_inner_triples(graph: KnowledgeGraph, community: TreeCommunity) -> Iterator[int]:
    """Yield the rows of the triples between members: first those of keywords, then those between other members."""
    members = list(map(graph.row, community.members))
    keywords = list(map(graph.row, community.keywords))
    all_members = set(members)
    others = set(members) - set(keywords)
    seen = set[int]()
    for keyword in keywords:
        rows = [row for row, end in _triples_of(graph, keyword) if end in all_members and row not in seen]
        seen.update(rows)
        yield from rows
    for member in members:
        if member in others:  # each triple once, from its head
            yield from (row for row, end in _triples_of(graph, member) if end in others
                        and graph.ends_of(row)[0] == member)


def _iterate_outer_triples(graph: KnowledgeGraph, community: TreeCommunity) -> Iterator[int]:
    """Yield the rows of the triples to outside entities: first those at the boundary (eq. 4), and those of keywords."""
    ordered = list(map(graph.row, dict.fromkeys((*community.keywords, *community.members))))  # keywords first
    count = len(community.keywords)
    rank_of_member = {entity: min(rank, count) for rank, entity in enumerate(ordered)}
    # Outside entities at the boundary: at least the share tau of their neighbours are members (UniAI-GraphRAG eq. 4).
    # Several triples between two entities count once, as A is an indicator in the paper. A share equal to tau suffices,
    # as in the equation; the paper's text says "exceeds".
    counts = Counter(end for member in ordered for end in graph.neighbour_rows(member) if end not in rank_of_member)
    boundary = [entity for entity in counts if counts[entity] / len(graph.neighbour_rows(entity)) >= TAU]
    rank_of_row = {row: rank_of_member[member] for entity in boundary
                   for row, member in _triples_of(graph, entity) if member in rank_of_member}
    yield from sorted(rank_of_row, key=lambda row: (rank_of_row[row], row))
    for member in ordered:
        yield from (row for row, end in _triples_of(graph, member)
                    if end not in rank_of_member and row not in rank_of_row)


def _triples_of(graph: KnowledgeGraph, entity: int) -> Iterator[tuple[int, int]]:
    """Yield the row of each triple of an entity, with the entity at its other end; entities are given as rows."""
    for row in graph.incident_rows(entity):
        head, tail = graph.ends_of(row)
        yield row, tail if head == entity else head
