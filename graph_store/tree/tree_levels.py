"""The knowledge tree (Youtu-GraphRAG eq. 8): L4 communities, L3 keywords, L2 triples, L1 attributes.

L1 and L2 are the graph itself; this file makes L3 and L4 from it. It is apart from the digests, as no question needs
scipy, with which communities are found.

In a large graph that has changed in places, what is far from a change keeps its community. New entities, and the
communities of those that share a triple or a passage with one, are fitted to each other by `detection.refine`. On the
levels above each community keeps its parent, and one that is new gets the parent that most of its members, or else of
what is beside them, had. How far this may lead from detecting all communities anew is bounded by
`CommunitySettings.drift`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest

import numpy as np

from ...schemas.naming import relation_id
from ..graph.knowledge_graph import KnowledgeGraph
from ..ledger.communities import TreeCommunity
from ..vectors.vector_store import VectorStore
from .clusters import Labels, groups
from .community_digests import identified
from .detection import CommunitySettings, affinity, hierarchy, refine
from .features import EntityFeatures, features
from .scores import Scores

_DECIMALS = 4
_SAMPLE = 1000
"""Entities by which it is known what all have in common. Ids are hashes, so those that sort first are a sample."""


def find_tree(graph: KnowledgeGraph, vectors: VectorStore, settings: CommunitySettings) -> list[TreeCommunity]:
    """Find the communities of the graph, and communities of communities above them; without names.

    All entities and relations must have vectors.

    Returns:
        Each level a partition of the entities, each community within its parent; by level and id.
    """
    data, ids = graph_features(graph, vectors), graph.entity_ids()
    levels = [described(graph, ids, data, labels, level, settings)
              for level, labels in enumerate(hierarchy(data, settings))]
    communities: list[TreeCommunity] = []
    for level, own in enumerate(levels):
        above = {entity: c.id for c in levels[level + 1] for entity in c.members} if level + 1 < len(levels) else {}
        communities += [c.model_copy(update={"parent": above.get(c.members[0], "")}) for c in own]
    return communities


def graph_features(graph: KnowledgeGraph, vectors: VectorStore, chosen: Sequence[str] | None = None,
                   sample: Sequence[str] = ()) -> EntityFeatures:
    """Compute what detection reads of entities and of the triples between them.

    Args:
        graph: the graph.
        vectors: those of the entities and relations.
        chosen: the entities, in order; None: all, in the order of their ids.
        sample: others by which it is known what all entities have in common.
    """
    own = graph.entity_ids() if chosen is None else chosen
    ids = [*own, *sample]
    number = np.full(graph.count_entities(), -1, np.intp)
    number[[graph.row(entity) for entity in ids]] = np.arange(len(ids))
    heads, kinds, tails = number[graph.columns.triples[:, 0]], graph.columns.triples[:, 1], number[
        graph.columns.triples[:, 2]]
    within = (heads >= 0) & (heads < len(own)) & (tails >= 0) & (tails < len(own))
    relations, kind = np.unique(kinds[within], return_inverse=True)
    entities, chunks = graph.mention_pairs()
    owners = number[entities]
    passage = np.unique(chunks[owners >= 0], return_inverse=True)[1]
    data = features(
        vectors.get("entities", ids), vectors.get("relations", [
            relation_id(graph.columns.texts[relation]) for relation in relations.tolist()]),
        np.stack([heads[within], kind, tails[within]], axis=1), np.stack([owners[owners >= 0], passage], axis=1))
    return data.first(len(own)) if sample else data


def described(graph: KnowledgeGraph, ids: Sequence[str], data: EntityFeatures, labels: Labels, level: int,
              settings: CommunitySettings) -> list[TreeCommunity]:
    """Make communities of some entities' labels, with keywords, cohesion and id, by id."""
    if not len(labels):
        return []
    scores = affinity(data, labels, settings)
    return sorted((identified(graph, _community([ids[i] for i in group], scores[group], level, settings.keywords))
                   for group in groups(labels)), key=lambda community: community.id)


def _community(members: list[str], scores: Scores, level: int, keywords: int) -> TreeCommunity:
    best = sorted(range(len(members)), key=lambda i: (-float(scores[i]), members[i]))[:keywords]
    # SQLite has no -0.0, and PostgreSQL has one.
    cohesion = round(float(scores.mean(dtype=np.float64)), _DECIMALS) or 0.0
    return TreeCommunity(id="", members=tuple(sorted(members)), keywords=tuple(members[i] for i in best), level=level,
                     cohesion=cohesion)


def update_tree(graph: KnowledgeGraph, vectors: VectorStore, settings: CommunitySettings,
                before: Sequence[TreeCommunity]) -> list[TreeCommunity]:
    """Fit the tree of the graph as it was to what it is now, with as many levels; see `find_tree`."""
    finest = [community for community in before if community.level == 0]
    of = {entity: community for community in finest for entity in community.members}
    near = {entity: _beside(graph, entity) for entity in graph.entity_ids() if entity not in of}
    concerned = {of[entity].id for others in near.values() for entity in others if entity in of}
    concerned.update(community.id for entity, community in of.items() if entity not in graph)
    found = _regroup(graph, vectors, settings, near, [c for c in finest if c.id in concerned])
    levels = [[identified(graph, c) for c in finest if c.id not in concerned] + [
        c.model_copy(update={"parent": _parent_of(c.members, of, near)}) for c in found]]
    for level in range(1, 1 + max(community.level for community in before)):
        known = {community.id: community for community in before if community.level == level}
        levels[-1], above = _with_parents(graph, levels[-1], known, level, settings)
        levels.append(above)
    return [community for level in levels for community in sorted(level, key=lambda c: c.id)]


def _beside(graph: KnowledgeGraph, entity: str) -> set[str]:
    """Return the entities that share a triple or a passage with one."""
    return graph.neighbours(entity).union(other for chunk in graph.entity_support(entity)
                                          for other, *_ in graph.mentioned_in(chunk))


def _regroup(graph: KnowledgeGraph, vectors: VectorStore, settings: CommunitySettings, near: Mapping[str, set[str]],
               concerned: Sequence[TreeCommunity]) -> list[TreeCommunity]:
    """Return the communities of new entities and of the members of some communities, by id."""
    number = {entity: label for label, community in enumerate(concerned) for entity in community.members
              if entity in graph}
    ids = sorted({*number, *near})
    if not ids:
        return []
    data = graph_features(graph, vectors, ids, nsmallest(_SAMPLE, set(graph.entity_ids()) - set(ids)))
    fresh = len(concerned) + np.arange(len(ids))
    labels = np.array([number.get(entity, fresh[row]) for row, entity in enumerate(ids)], np.intp)
    beside = set(near).union(*near.values())
    labels = refine(data, labels, np.array([entity in beside for entity in ids]), settings)
    return described(graph, ids, data, labels, 0, settings)


def _parent_of(members: Iterable[str], of: Mapping[str, TreeCommunity], near: Mapping[str, set[str]]) -> str:
    """Return the parent that most members had, or else most of what is beside them; empty where there is none."""
    votes = (Counter(of[entity].parent for entity in members if entity in of)
             or Counter(of[end].parent for entity in members for end in near[entity] if end in of))
    return min(votes, key=lambda parent: (-votes[parent], parent), default="")


def _with_parents(graph: KnowledgeGraph, children: Sequence[TreeCommunity], known: Mapping[str, TreeCommunity],
                  level: int, settings: CommunitySettings) -> tuple[list[TreeCommunity], list[TreeCommunity]]:
    """Return communities with the ids that their parents have now, and these; those without one share a new one."""
    by_parent: dict[str, list[TreeCommunity]] = {}
    for child in children:
        by_parent.setdefault(child.parent, []).append(child)
    new = TreeCommunity(id="", members=(), keywords=(), level=level)
    parents = {key: _join(graph, known.get(key, new), own, settings) for key, own in by_parent.items()}
    return [child.model_copy(update={"parent": parents[child.parent].id}) for child in children], [*parents.values()]


def _join(graph: KnowledgeGraph, before: TreeCommunity, children: Sequence[TreeCommunity], settings: CommunitySettings,
            ) -> TreeCommunity:
    """Return a community of the members of others; it keeps those of its keywords that are among these."""
    members = {entity for child in children for entity in child.members}
    largest = sorted(children, key=lambda c: (-len(c.members), c.id))
    wanted = dict.fromkeys((*before.keywords, *(keyword for child in largest for keyword in child.keywords)))
    keywords = [entity for entity in wanted if entity in members][:settings.keywords]
    return identified(graph, before.model_copy(update={"members": tuple(sorted(members)), "keywords": tuple(keywords)}))
