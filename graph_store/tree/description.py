"""The knowledge tree (Youtu-GraphRAG eq. 8): L4 communities, L3 keywords, L2 triples, L1 attributes.

L1 and L2 are the graph itself; this file makes L3 and L4 from it. The
id of a community is made from the digest that its summary is written from, so one whose digest did not
change keeps its name and summary.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from ...schemas.naming import content_id, relation_id
from ...schemas.retrieval import CommunityDigest
from ..graph.knowledge_graph import EdgeKey, KnowledgeGraph
from ..ledger.communities import MARK, Community
from ..vectors.store import VectorStore
from .detection import (
    CommunitySettings,
    Earlier,
    EntityFeatures,
    Labels,
    Scores,
    affinity,
    features,
    groups,
    hierarchy,
)
from .view_boundary import boundaries
from .view_groups import View

# Strongest facts shown of a community: at about 12 tokens each, half a prompt of 1,000 tokens.
_DIGEST_FACTS = 40
_DECIMALS = 4


def marks(graph: KnowledgeGraph) -> dict[str, str]:
    """What tells whether anything changed of an entity that its community, or the digest of that, is made from.

    Returns:
        `MARK` characters for each entity, by its id.
    """
    name = graph.all_names()
    described: dict[str, list[str]] = {entity: [own] for entity, own in name.items()}
    for head, relation, tail in graph.edges():
        line = "\n".join((head, relation, tail, name[head], name[tail]))
        for entity in {head, tail}:
            described[entity].append(line)
    return {entity: blake2b("\n\n".join(lines).encode(), digest_size=MARK // 2).hexdigest()
            for entity, lines in described.items()}


@dataclass(frozen=True)
class Before:
    """The tree of the graph as it was: its finest communities, and the entities that changed since."""

    communities: Sequence[Community]
    changed: frozenset[str]


def find_tree(graph: KnowledgeGraph, vectors: VectorStore, settings: CommunitySettings,
              before: Before | None = None) -> list[Community]:
    """The communities of the graph, and communities of communities above them; without names.

    Args:
        graph: the graph.
        vectors: with the vectors of all its entities and relations.
        settings: the constants of the detection.
        before: the tree to go on from; None: all communities are detected.

    Returns:
        Each level a partition of the entities, each community within its parent; by level and id.
    """
    data = _features(graph, vectors)
    levels = [_communities(graph, data, labels, level, settings)
              for level, labels in enumerate(hierarchy(data, settings, _earlier(graph, before) if before else None))]
    if before:
        levels[0] = _with_old(levels[0], before)
    communities: list[Community] = []
    for level, own in enumerate(levels):
        above = {entity: c.id for c in levels[level + 1] for entity in c.members} if level + 1 < len(levels) else {}
        communities += [c.model_copy(update={"parent": above.get(c.members[0], "")}) for c in own]
    return communities


def _with_old(communities: Sequence[Community], before: Before) -> list[Community]:
    """The communities, those whose members have not changed as they were: with their id, and so their summary."""
    old = {c.members: c for c in before.communities if not before.changed & set(c.members)}
    return sorted((old.get(c.members, c) for c in communities), key=lambda c: c.id)


def _earlier(graph: KnowledgeGraph, before: Before) -> Earlier:
    ids = graph.entity_ids()
    number = {entity: label for label, community in enumerate(before.communities) for entity in community.members}
    labels = np.array([number.get(entity, -1) for entity in ids], np.intp)
    return Earlier(labels, (labels < 0) | np.array([entity in before.changed for entity in ids]))


def view_communities(graph: KnowledgeGraph, vectors: VectorStore, view: View, settings: CommunitySettings,
                     ) -> list[Community]:
    """The groups of a view as communities, with the keywords and cohesion that eq. 5 gives them."""
    data = _features(graph, vectors)
    row = {entity: number for number, entity in enumerate(graph.entity_ids())}
    labels = np.zeros(len(row), np.intp)
    for number, group in enumerate(view.groups):
        labels[[row[entity] for entity in group.members]] = number
    title = {group.members: group.name for group in view.groups}
    return [c.model_copy(update={"label": title[c.members]}) for c in _communities(graph, data, labels, 0, settings)]


def _features(graph: KnowledgeGraph, vectors: VectorStore) -> EntityFeatures:
    ids = graph.entity_ids()
    edges = graph.edges()
    relations = sorted({relation for _, relation, _ in edges})
    row = {entity: number for number, entity in enumerate(ids)}
    kind = {relation: number for number, relation in enumerate(relations)}
    return features(vectors.get("entities", ids), vectors.get("relations", [relation_id(r) for r in relations]),
                    [(row[head], kind[relation], row[tail]) for head, relation, tail in edges])


def _communities(graph: KnowledgeGraph, data: EntityFeatures, labels: Labels, level: int,
                 settings: CommunitySettings) -> list[Community]:
    if not len(labels):
        return []
    ids, scores = graph.entity_ids(), affinity(data, labels, settings)
    unnamed = [_community([ids[i] for i in group], scores[group], level, settings.keywords) for group in groups(labels)]
    return sorted((_identified(community, digest)
                   for community, digest in zip(unnamed, digests(graph, unnamed), strict=True)),
                  key=lambda community: community.id)


def _community(members: list[str], scores: Scores, level: int, keywords: int) -> Community:
    best = sorted(range(len(members)), key=lambda i: (-float(scores[i]), members[i]))[:keywords]
    return Community(id="", members=tuple(sorted(members)), keywords=tuple(members[i] for i in best), level=level,
                     cohesion=round(float(scores.mean(dtype=np.float64)), _DECIMALS))


def _identified(community: Community, told: CommunityDigest) -> Community:
    level = community.level
    # A community and the only one within it are described from the same: above the first level the level tells.
    above = ("level", str(level)) if level else ()
    # Keywords by id, too: entities of different types share names, and no two communities of a level share members.
    identity = content_id("community", *above, *community.keywords, "keywords", *told.keywords, "facts", *told.facts)
    return community.model_copy(update={"id": identity})


def digests(graph: KnowledgeGraph, communities: Sequence[Community]) -> list[CommunityDigest]:
    """What a reasoner reads to name and summarise communities, each completed at its boundary (UniAI eq. 4)."""
    outside = boundaries(graph, [community.members for community in communities])
    # Most entities have no triple, or one: to look at all triples once is quicker than to ask each entity for its own.
    incident: dict[str, list[EdgeKey]] = {}
    for head, tail, relation in graph.network.edges(keys=True):
        for entity in (head, tail):
            incident.setdefault(entity, []).append((head, relation, tail))
    return [_digest(graph, community, incident, [entity for entity, _ in neighbours])
            for community, neighbours in zip(communities, outside, strict=True)]


def _digest(graph: KnowledgeGraph, community: Community, incident: Mapping[str, Sequence[EdgeKey]],
            boundary: Collection[str]) -> CommunityDigest:
    """Its keywords, and its facts: those about keywords first, those that lead over its boundary last."""
    members = set(community.members)
    seen = members | set(boundary)
    rank = {entity: number for number, entity in enumerate(community.keywords)}
    told: set[EdgeKey] = {edge for entity in community.members for edge in incident.get(entity, ())
                          if edge[0] in seen and edge[2] in seen}
    leading = sorted(told, key=lambda e: (not members.issuperset((e[0], e[2])),
                                          min(rank.get(e[0], len(rank)), rank.get(e[2], len(rank))), e))
    kinds = Counter(graph.entity(entity).type for entity in community.keywords)
    return CommunityDigest(keywords=tuple(graph.name(entity) for entity in community.keywords),
                           facts=tuple(graph.triple(edge).text() for edge in leading[:_DIGEST_FACTS]),
                           kind=min(kinds, key=lambda kind: (-kinds[kind], kind), default=""))
