"""The entity route: entities named in the question or near to it, with their attributes (eq. 10)."""

from ...schemas.retrieval import Evidence
from ..best import best_rows
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
    cosines = query.meaning.entities
    for row in best_rows(cosines, limit):
        node, cosine = index.entity_row.at(int(row)), float(cosines[row])
        if node not in scores and cosine > 0:
            scores[node], how[node] = cosine * query.trust, f"near the question ({cosine:.2f})"
    wanted = set(query.sub_query.entity_types)
    ranked = sorted(scores, key=lambda node: (-scores[node], index.type(node) not in wanted, node))
    return [_evidence(index, node, scores[node], how[node]) for node in ranked[:limit]]


def _evidence(index: RetrievalIndex, node: str, score: float, how: str) -> Evidence:
    called = index.name(node)
    lines = [f"{name}: {', '.join(sorted(values))}" for name, values in sorted(index.attributes(node).items())]
    lines += [index.fact(int(row)).text for row in index.incident(node)[:_LINES]]
    return Evidence(route="entity", text=f"{called} ({index.type(node)}). " + "; ".join(lines[:_LINES]), score=score,
                    chunk_ids=index.entity_support(node), entity_ids=(node,), path=(how, called))
