"""The community route: from the nearest communities down the tree, L4 -> L3 -> L2 -> L1 (eq. 10, UniAI eq. 7)."""

from ...graph_store.ledger.communities import Community
from ...schemas.retrieval import Evidence
from ..best import best_rows
from ..index import RetrievalIndex
from ..query import Query
from ..value_groups import ValueGroup, value_groups

# Of the evidence a quarter are facts, of the nearest three communities; the others are communities.
_FACTS_SHARE = 4
_READ = 3
_NAMES = 10
"""Members of a group that its text names."""


def search(index: RetrievalIndex, query: Query, limit: int) -> list[Evidence]:
    """Return the nearest communities, facts about keywords of the first few, and groups of a named value.

    Returns:
        Evidence, best first: communities (with no chunks of their own: a summary is no source) and
        facts of theirs, scored by cosine (UniAI-GraphRAG eq. 7) times the trust in vectors; groups by an attribute's
        value (the attribute-based communities of UniAI 3.2), scored by the share that one chunk has in the group.
    """
    groups = [_group(index, group) for group in value_groups(index, query)][:limit]
    limit -= len(groups)
    facts_each = -(-limit // (_FACTS_SHARE * _READ)) if limit > _READ else 0
    cosines = index.community_cosines(query.vector)
    evidence = groups
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


def _group(index: RetrievalIndex, group: ValueGroup) -> Evidence:
    chunks = sorted({member.chunk for member in group.members})
    entities = tuple(dict.fromkeys(member.entity for member in group.members))
    title = f"{group.attribute.replace('_', ' ')}: {group.members[0].value}"
    names = ", ".join(sorted(map(index.name, entities))[:_NAMES])
    return Evidence(route="community", text=f"{title}. {names}", score=len(chunks) ** -0.5,
                    chunk_ids=tuple(chunks), entity_ids=entities, path=(f"group {title}",))


def _facts(index: RetrievalIndex, query: Query, community: Community, limit: int) -> list[Evidence]:
    """Return the facts about a community's keywords that are nearest to the question."""
    rows = index.rows_of(community.keywords)
    evidence = []
    for row, cosine in zip(*query.meaning.triples.best(limit, rows), strict=True):
        fact = index.fact(int(row))
        evidence.append(Evidence(
            route="community", text=fact.text, score=min(1.0, max(0.0, float(cosine))) * query.trust,
            chunk_ids=fact.chunk_ids, entity_ids=fact.ends, path=(f"community {community.name}", fact.text)))
    return evidence
