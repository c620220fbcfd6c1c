"""Communities by attribute-aware modularity (UniAI-GraphRAG eq. 3): Leiden on links + alpha x likeness.

How eq. 3 is read. Word by word, only the links have an expected value (k_i k_j / 2m), and every likeness
above 0 speaks for joining two entities: a single community scores better than planted ones. So Q is the
modularity of W = A + alpha S as a whole, its expected value included, and S is sparse: each entity's nearest,
if near enough. A counts the triples between two entities. S is scaled to the total weight of A, so that alpha
means the same in a sparse graph and in a dense one.

Leiden rather than Louvain: no community falls into unconnected parts, one that is too large for a prompt is
divided again by the same method, and it is compiled.
"""

from collections.abc import Sequence

import graspologic_native as leiden
import numpy as np
from scipy import sparse

from ...models.embedding.embedder import Vectors
from ...runtime.one_thread import one_thread
from ..graph.adjacency import adjacency
from ..graph.knowledge_graph import KnowledgeGraph
from .clusters import places
from .features import unit
from .view_attributes import by_attribute
from .view_groups import View, partition
from .view_spec import AttributeSpec, ModularitySpec

# The paper states no constants of eq. 3, nor does its published code: these were chosen on planted partitions whose
# links, vectors and attributes are more or less noisy.
ALPHA, NEIGHBOURS, LEAST_SIMILARITY, MAX_MEMBERS = 1.0, 20, 0.2, 200
# Cells of the similarity matrix held at once: 64 MB.
_CELLS = 2**24
# Similarities are rounded: the last bits of a sum are not the same everywhere.
_DECIMALS = 4
# Leiden visits the entities in a random order; any seed will do, if it is always the same.
_SEED = 42


def by_modularity(graph: KnowledgeGraph, vectors: Vectors, spec: ModularitySpec, *, alpha: float = ALPHA,
                  neighbours: int = NEIGHBOURS, least_similarity: float = LEAST_SIMILARITY,
                  max_members: int = MAX_MEMBERS) -> View:
    """Group the entities by links and likeness; no entity is left over.

    Args:
        graph: the graph.
        vectors: of its entities by sorted id, shape (n, d).
        spec: names the attributes that count.
        alpha: the weight of all likeness together, that of all links being 1; 0 leaves links alone.
        neighbours: an entity's nearest that count.
        least_similarity: of those, the ones at least so near, from 0 to 1.
        max_members: a larger community is divided again, if it has parts, so that one prompt can summarise it.
    """
    ids = graph.entity_ids()
    triples = adjacency(graph, ids)
    links = sparse.csr_array(triples + triples.T, dtype=np.float64)
    with one_thread():
        alike = likeness(vectors, attribute_columns(graph, ids, spec.attributes), neighbours, least_similarity)
    weight = alpha * links.sum() / alike.sum() if links.nnz and alike.nnz else alpha
    labels = communities(sparse.csr_array(links + weight * alike), max_members)
    return partition(spec.view, ids, dict(zip(ids, labels, strict=True)), lambda _: "", lambda label: label, "")


def attribute_columns(graph: KnowledgeGraph, ids: Sequence[str],
                      attributes: Sequence[AttributeSpec]) -> sparse.csr_array:
    """One column for each group of each attribute's view, 1 for its members, shape (n, columns)."""
    row = {entity: number for number, entity in enumerate(ids)}
    groups = [group for spec in attributes for group in by_attribute(graph, spec).groups if not group.rest]
    cells = np.array([(row[entity], column) for column, group in enumerate(groups) for entity in group.members],
                     np.intp).reshape(-1, 2)
    return sparse.coo_array((np.ones(len(cells), np.float32), cells.T), shape=(len(ids), len(groups))).tocsr()


def likeness(vectors: Vectors, attributes: sparse.csr_array, neighbours: int,
             least_similarity: float) -> sparse.csr_array:
    """The similarity of each entity to its nearest: the cosine of [vector || attributes].

    Both blocks have length 1, an entity without attributes has none: two with attributes are as alike as
    the mean of both cosines, two without as their vectors. What all vectors have in common says nothing
    and is taken off. O(n^2 d) operations, memory bounded by blocks.

    Args:
        vectors: one row for each entity, shape (n, d).
        attributes: 1 for each value that an entity has, shape (n, columns).
        neighbours: how many of the nearest; of equally near ones the first.
        least_similarity: what is less alike is left out, as is everything not above 0.

    Returns:
        Shape (n, n), symmetric, without diagonal: the similarity of pairs of which one is near the other.
    """
    n = len(vectors)
    if n < 2:  # noqa: PLR2004  (a pair needs two)
        return sparse.csr_array((n, n), dtype=np.float64)
    dense = unit(vectors - vectors.mean(axis=0))
    values = _unit_sparse(attributes)
    length = np.sqrt(np.maximum((dense**2).sum(axis=1) + values.multiply(values).sum(axis=1), 1e-12))
    near, size = min(neighbours, n - 1), max(1, _CELLS // n)
    rows, columns, similarities = [], [], []
    for start in range(0, n, size):
        own = np.arange(start, min(start + size, n))
        product = dense[own] @ dense.T + (values[own] @ values.T).toarray()
        product = np.round(product / length[own, None] / length, _DECIMALS)
        product[np.arange(len(own)), own] = -np.inf
        furthest = np.partition(product, n - near, axis=1)[:, n - near]
        enough = np.maximum(furthest, np.float32(max(least_similarity, 10.0**-_DECIMALS)))
        row, column = np.nonzero(product >= enough[:, None])
        similarity = product[row, column]
        order = np.lexsort((column, -similarity, row))
        order = order[places(row[order]) < near]
        rows.append(own[row[order]])
        columns.append(column[order])
        similarities.append(similarity[order].astype(np.float64))
    one_way = sparse.coo_array((np.concatenate(similarities), (np.concatenate(rows), np.concatenate(columns))),
                               shape=(n, n)).tocsr()
    return sparse.csr_array(one_way.maximum(one_way.T))


def communities(weights: sparse.csr_array, max_members: int) -> list[int]:
    """The community of each node of a weighted graph, numbered in order of first member.

    Args:
        weights: shape (n, n), symmetric, without diagonal.
        max_members: a larger community is divided again, if it has parts.
    """
    upper = sparse.coo_array(sparse.triu(weights))
    order = np.lexsort((upper.col, upper.row))
    edges = [(str(node), str(other), weight) for node, other, weight in zip(
        upper.row[order].tolist(), upper.col[order].tolist(), upper.data[order].tolist(), strict=True)]
    clusters = leiden.hierarchical_leiden(edges, max_cluster_size=max_members, seed=_SEED) if edges else []
    community = {int(cluster.node): cluster.cluster for cluster in clusters if cluster.is_final_cluster}
    number: dict[tuple[bool, int], int] = {}
    # An entity without edges is a community of its own.
    return [number.setdefault((node in community, community.get(node, node)), len(number))
            for node in range(weights.shape[0])]


def _unit_sparse(rows: sparse.csr_array) -> sparse.csr_array:
    length = np.sqrt(rows.multiply(rows).sum(axis=1))
    return sparse.csr_array(sparse.diags_array(1 / np.where(length > 0, length, 1)).astype(np.float32) @ rows)
