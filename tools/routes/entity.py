"""The entity route: entities named in the question or near to it, with their attributes (eq. 10)."""

from collections.abc import Iterable, Iterator, Mapping

from ...schemas.retrieval import Evidence
from ...text.times import Validity
from ..index import RetrievalIndex
from ..query import Query
from .fitting import entities_by_types, fit

# Lines shown of an entity: enough to see what it is; the chunks carry the rest.
_LINES = 6


def search(index: RetrievalIndex, query: Query, limit: int) -> list[Evidence]:
    """Entities that the question names (score 1), then the nearest by vector.

    Types that the sub-query names choose among namesakes and weigh what is near. Of an entity that has an attribute
    which the sub-query names, that attribute's values are the evidence, with the chunks that state them.

    Returns:
        Evidence, best first. A nearest entity's score is its cosine, weighed by its type, times the trust in vectors.
    """
    scores: dict[str, float] = {}
    how: dict[str, str] = {}
    for named in query.meaning.names:
        fits = {node: fit(index, query, node) for node in named.entities}
        for node in named.entities:
            # Where no namesake is of a named type, the type was wrong, and the question names them all.
            score = fits[node] if max(fits.values()) == 1.0 else 1.0
            scores[node], how[node] = max(score, scores.get(node, 0.0)), f"the question names {named.name!r}"
    for row, cosine in zip(*entities_by_types(index, query, limit).best(limit), strict=True):
        node, near = index.entity_row.at(int(row)), float(cosine)
        if node not in scores and near > 0:
            scores[node], how[node] = near * query.trust, f"near the question ({near:.2f})"
    ranked = sorted(scores, key=lambda node: (-scores[node], node))
    return [_evidence(index, query, node, scores[node], how[node]) for node in ranked[:limit]]


def _evidence(index: RetrievalIndex, query: Query, node: str, score: float, how: str) -> Evidence:
    called, attributes = index.name(node), index.attributes(node)
    asked = {name: attributes[name] for name in query.sub_query.attributes if name in attributes}
    dated = index.validities(node)
    lines = [f"{name}: {', '.join(_with_times(sorted(values), dated.get(name, {})))}"
             for name, values in sorted((asked or attributes).items())]
    chunks = sorted({chunk for values in asked.values() for support in values.values() for chunk in support})
    if not asked:
        lines += [index.fact(int(row)).text for row in index.incident(node)[:_LINES]]
    return Evidence(route="entity", text=f"{called} ({index.type(node)}). " + "; ".join(lines[:_LINES]), score=score,
                    chunk_ids=tuple(chunks) or index.entity_support(node), entity_ids=(node,), path=(how, called))


def _with_times(values: Iterable[str], dated: Mapping[str, Validity]) -> Iterator[str]:
    return (dated[value].with_note(value) if value in dated else value for value in values)
