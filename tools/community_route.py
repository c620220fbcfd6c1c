"""The community route: from the nearest communities down the tree, L4 -> L3 -> L2 (eq. 10, UniAI eq. 7)."""

import numpy as np

from ..graph_store.community_table import Community
from ..schemas.retrieval import Evidence
from .index import RetrievalIndex
from .query import Query

_COMMUNITIES = 3


def search(index: RetrievalIndex, query: Query, limit: int) -> list[Evidence]:
    """The nearest communities, and of each the facts about its keywords that are nearest.

    Args:
        index: the knowledge base in memory.
        query: the sub-query.
        limit: how many at most.

    Returns:
        Evidence, best first: communities (with no chunks of their own: a summary is no source) and
        facts of theirs, scored by cosine times the trust in vectors.
    """
    evidence: list[Evidence] = []
    for one, cosine in index.store.vectors.nearest("communities", query.vector[None, :], _COMMUNITIES)[0]:
        community = index.communities.get(one)
        if community is None or cosine <= 0:
            continue
        evidence.append(Evidence(route="community", text=community.text(), score=cosine * query.trust,
                                 entity_ids=community.keywords, path=(f"community {community.name}",)))
        evidence.extend(_facts(index, query, community, limit // _COMMUNITIES))
    return sorted(evidence, key=lambda e: (-e.score, e.text))[:limit]


def _facts(index: RetrievalIndex, query: Query, community: Community, limit: int) -> list[Evidence]:
    """The facts about a community's keywords that are nearest to the question."""
    found = [index.incident_rows[one] for one in community.keywords if one in index.incident_rows]
    if not found:
        return []
    rows = np.unique(np.concatenate(found))
    cosines = query.meaning.triples[rows]
    evidence = []
    for place in np.argsort(-cosines, kind="stable")[:limit]:
        edge = index.edges[rows[place]]
        text = index.graph.triple(edge).text()
        evidence.append(Evidence(
            route="community", text=text, score=min(1.0, max(0.0, float(cosines[place]))) * query.trust,
            chunk_ids=tuple(index.graph.triple_support(edge)), entity_ids=(edge[0], edge[2]),
            path=(f"community {community.name}", text)))
    return evidence
