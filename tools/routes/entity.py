"""The entity route: entities named in the question or near to it, with their attributes (eq. 10)."""

from ...schemas.retrieval import Evidence
from ..index import RetrievalIndex
from ..query import Query

# Lines shown of an entity: enough to see what it is; the chunks carry the rest.
_LINES = 6


def search(index: RetrievalIndex, query: Query, limit: int) -> list[Evidence]:
    """Entities that the question names (score 1), then the nearest by vector.

    Returns:
        Evidence, best first. A nearest entity's score is its cosine times the trust in vectors.
    """
    scores: dict[str, float] = {}
    how: dict[str, str] = {}
    for named in query.meaning.names:
        for node in named.entities:
            scores[node], how[node] = 1.0, f"the question names {named.name!r}"
    for node, cosine in query.meaning.entities(limit):
        if node in index.entity_row and node not in scores and cosine > 0:
            scores[node], how[node] = cosine * query.trust, f"near the question ({cosine:.2f})"
    wanted = set(query.sub_query.entity_types)
    ranked = sorted(scores, key=lambda node: (-scores[node], index.graph.entity(node).type not in wanted, node))
    return [_evidence(index, node, scores[node], how[node]) for node in ranked[:limit]]


def _evidence(index: RetrievalIndex, node: str, score: float, how: str) -> Evidence:
    entity = index.graph.entity(node)
    lines = [f"{name}: {', '.join(values)}" for name, values in index.graph.attributes(node).items()]
    lines += [index.fact(int(row)).text for row in index.incident_rows.get(node, ())[:_LINES]]
    return Evidence(route="entity", text=f"{entity.name} ({entity.type}). " + "; ".join(lines[:_LINES]), score=score,
                    chunk_ids=tuple(index.graph.entity_support(node)), entity_ids=(node,), path=(how, entity.name))
