"""The knowledge tree (Youtu-GraphRAG eq. 8): L4 communities, L3 keywords, L2 triples, L1 attributes.

L1 and L2 are the graph itself; this file makes L3 and L4 from it. It is apart from the digests, as no question needs
scipy, with which communities are found.
"""

from collections.abc import Sequence

import numpy as np

from ...schemas.naming import relation_id
from ..graph.knowledge_graph import KnowledgeGraph
from ..ledger.communities import TreeCommunity
from ..vectors.vector_store import VectorStore
from .clusters import Labels, groups
from .community_digests import identified
from .detection import CommunitySettings, affinity, hierarchy
from .features import EntityFeatures, features
from .scores import Scores

_DECIMALS = 4


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
