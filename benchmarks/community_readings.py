"""The readings of the paper's equations that community detection could have followed, on planted communities.

Run `python benchmarks/community_readings.py`: prints the normalised mutual information of the default method
and of each alternative, one change at a time (graphs of 2,000 entities, three kinds of noise and little).
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import typer
from banyan.graph_store.tree import detection
from banyan.graph_store.tree.detection import CommunitySettings, detect_communities
from banyan.graph_store.tree.features import (
    EntityFeatures,
    Perception,
    compute_features,
    divide_by_row_sums,
    scale_to_unit,
)
from numpy.typing import NDArray
from planted import Planted, planted
from rich.console import Console
from rich.table import Table
from scipy import sparse
from sklearn.metrics import normalized_mutual_info_score

Divergence = NDArray[np.float64]
NOISE = ((0.0, 1.0), (0.2, 2.0), (0.4, 2.0), (0.2, 4.0))
ENTITIES = 2000
DEFAULT = CommunitySettings()
FUSED_ONLY = replace(DEFAULT, moves=0)


def own_scores(now: Perception, weight: float) -> NDArray[np.float32]:
    """Phi of every entity and its own community."""
    return scores(now, np.arange(len(now.labels)), now.labels, weight)


def scores(now: Perception, entities: NDArray[np.intp], communities: NDArray[np.intp], weight: float,
           ) -> NDArray[np.float32]:
    """Phi of pairs in any order."""
    order = np.argsort(communities, kind="stable")
    found = np.empty(len(order), np.float32)
    found[order] = now.phi(entities[order], communities[order], weight)
    return found


def centres(now: Perception, pairs: NDArray[np.int64], weight: float) -> Divergence:
    """Eq. 7 over the centre of a community alone: argmax phi."""
    own = own_scores(now, weight)
    order = np.lexsort((np.arange(len(own)), -own, now.labels))
    first = order[np.r_[True, np.diff(now.labels[order]) > 0]]
    centre = np.zeros(len(now.sizes), np.intp)
    centre[now.labels[first]] = first
    there = centre[pairs[:, 0]]
    return np.asarray(own[there] - scores(now, there, pairs[:, 1], weight), np.float64)


def word_by_word(now: Perception, pairs: NDArray[np.int64], weight: float) -> Divergence:
    """Eq. 7 as the difference of two expectations, each over the community's own members."""
    mean = np.bincount(now.labels, own_scores(now, weight), len(now.sizes)) / np.maximum(now.sizes, 1)
    return np.asarray(np.abs(mean[pairs[:, 0]] - mean[pairs[:, 1]]), np.float64)


def with_divergence(of: Callable[[Perception, NDArray[np.int64], float], Divergence]) -> AbstractContextManager[object]:
    """Eq. 7 read otherwise."""
    return patch.object(detection, "_compute_divergence", lambda now, pairs, weight: (
        of(now, pairs, weight) + of(now, pairs[:, ::-1], weight)) / 2)


def ends_alone(data: EntityFeatures) -> EntityFeatures:
    """Psi of relations with their ends, without the communities of the ends."""
    return replace(data, links=sparse.csr_array(data.links.shape, dtype=np.float32))


def types_alone(graph: Planted, data: EntityFeatures) -> EntityFeatures:
    """Psi of relation types in the place of relations with their ends."""
    heads, kinds, tails = np.array(graph.triples).T
    rows, columns = np.concatenate([heads, tails]), np.tile(kinds, 2)
    counts = sparse.csr_array(sparse.coo_array((np.ones(len(rows), np.float32), (rows, columns)),
                                               shape=(len(graph.truth), len(graph.relation_vectors))))
    return replace(data, neighbourhoods=divide_by_row_sums(counts))


def head_and_tail(graph: Planted) -> EntityFeatures:
    """Eq. 4 with head and tail in their places, whichever of them the entity is."""
    heads, kinds, tails = np.array(graph.triples).T
    n, m = len(graph.truth), len(heads)
    rows, columns = np.concatenate([heads, tails]), np.tile(np.arange(m), 2)
    incident = sparse.csr_array((np.ones(2 * m, np.float32), (rows, columns)), shape=(n, m))
    mean = sparse.diags_array(1 / np.maximum(incident.sum(axis=1), 1)) @ incident
    blocks = [mean @ part for part in (graph.vectors[heads], graph.relation_vectors[kinds], graph.vectors[tails])]
    return replace(compute_features(graph.vectors, graph.relation_vectors, graph.triples),
                   representations=scale_to_unit(np.concatenate(blocks, axis=1)))


def score(graph: Planted, data: EntityFeatures, settings: CommunitySettings) -> str:
    """NMI with the planted communities, and how many were found."""
    labels = detect_communities(data, settings)
    return f"{normalized_mutual_info_score(graph.truth, labels):.3f} ({labels.max() + 1})"


def main() -> None:
    """Measure and print."""
    graphs = [planted(ENTITIES, *noise) for noise in NOISE]
    read = [compute_features(graph.vectors, graph.relation_vectors, graph.triples) for graph in graphs]
    table = Table("reading", *(f"noise {structure:g}, {semantic:g}" for structure, semantic in NOISE),
                  title=f"NMI (communities found; planted: {graphs[0].truth.max() + 1})")

    def row(name: str, data: list[EntityFeatures], settings: CommunitySettings = DEFAULT,
            reading: AbstractContextManager[object] | None = None) -> None:
        with reading or nullcontext():
            table.add_row(name, *(score(graph, one, settings) for graph, one in zip(graphs, data, strict=True)))

    row("default", read)
    row("eq. 4: head and tail in their places", [head_and_tail(graph) for graph in graphs])
    row("eq. 6: relation types and communities of ends",
        [types_alone(graph, one) for graph, one in zip(graphs, read, strict=True)])
    row("eq. 6: ends without their communities", [ends_alone(one) for one in read])
    row("no moving: merging alone", read, FUSED_ONLY)
    row("no moving, eq. 7 over centres alone", read, FUSED_ONLY, with_divergence(centres))
    row("no moving, eq. 7 word by word", read, FUSED_ONLY, with_divergence(word_by_word))
    row("no merging: moving alone", read, replace(DEFAULT, merge_below=-np.inf))
    for epsilon in (0.1, 0.3):
        row(f"epsilon {epsilon:g}", read, replace(DEFAULT, merge_below=epsilon))
    for weight in (0.25, 1.0):
        row(f"lambda {weight:g}", read, replace(DEFAULT, semantic_weight=weight))
    Console().print(table, width=120)


if __name__ == "__main__":
    typer.run(main)
