"""The community route: from the nearest communities down the tree, L4 -> L3 -> L2 (eq. 10, UniAI eq. 7)."""

from ...graph_store.ledger.communities import Community
from ...schemas.retrieval import Evidence
from ..best import best_rows
from ..index import RetrievalIndex
from ..query import Query

# Of the evidence a quarter are facts, of the nearest three communities; the others are communities.
_FACTS_SHARE = 4
_READ = 3


def search(index: RetrievalIndex, query: Query, limit: int) -> list[Evidence]:
    """The nearest communities, and of the first few the facts about their keywords that are nearest.

    Returns:
        Evidence, best first: communities (with no chunks of their own: a summary is no source) and
        facts of theirs, scored by cosine (UniAI-GraphRAG eq. 7) times the trust in vectors.
    """
    facts_each = -(-limit // (_FACTS_SHARE * _READ)) if limit > _READ else 0
    cosines = index.community_cosines(query.vector)
    evidence: list[Evidence] = []
    for rank, row in enumerate(best_rows(cosines, limit - facts_each * _READ)):
        community, cosine = index.communities[index.community_row.at(int(row))], float(cosines[row])
        if cosine <= 0:
            break
        evidence.append(Evidence(route="community", text=community.text(), score=min(1.0, cosine) * query.trust,
                                 entity_ids=community.keywords, path=(f"community {community.name}",),
                                 community_id=community.id))
        if rank < _READ:
            evidence.extend(_facts(index, query, community, facts_each))
    return sorted(evidence, key=lambda e: (-e.score, e.text))


def _facts(index: RetrievalIndex, query: Query, community: Community, limit: int) -> list[Evidence]:
    """The facts about a community's keywords that are nearest to the question."""
    rows = index.rows_of(community.keywords)
    evidence = []
    for row, cosine in zip(*query.meaning.triples.best(limit, rows), strict=True):
        fact = index.fact(int(row))
        evidence.append(Evidence(
            route="community", text=fact.text, score=min(1.0, max(0.0, float(cosine))) * query.trust,
            chunk_ids=fact.chunk_ids, entity_ids=fact.ends, path=(f"community {community.name}", fact.text)))
    return evidence
