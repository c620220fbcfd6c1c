"""Find planted communities by the default method and by each of its signals alone.

Run `python benchmarks/communities.py`: prints normalised mutual information with the planted partition
(1 is perfect) and draws it into benchmarks/results/communities.svg. `--largest 5000` stops earlier.
Louvain sees the links only, K-means the embeddings only, with as many clusters as the paper's rule gives; the
last column is K-means with the true number of communities, which the others do not know.
"""

from pathlib import Path

import networkx as nx
import numpy as np
import typer
from banyan.graph_store.tree.detection import CommunitySettings, detect_communities, initial_clusters
from banyan.graph_store.tree.features import compute_features
from line_plot import Panel, line_plot
from numpy.typing import NDArray
from planted import Planted, planted
from rich.console import Console
from rich.table import Table
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

Labels = NDArray[np.intp]
METHODS = ("fused", "structure only", "semantics only", "initial clusters", "semantics, told k")
STRUCTURE = (0.0, 0.2, 0.4, 0.6)
SEMANTIC = (0.5, 1.0, 2.0, 3.0, 4.0)
SIZES = (500, 2000, 5000, 20_000, 50_000)
ENTITIES = 2000  # for varying noise
TYPICAL = (0.2, 2.0)  # the noise for varying size
RESULTS = Path(__file__).parent / "results"


def louvain(graph: Planted) -> Labels:
    """Partition a graph by its links alone."""
    network: nx.Graph[int] = nx.Graph()
    network.add_nodes_from(range(len(graph.truth)))
    network.add_edges_from((head, tail) for head, _, tail in graph.triples)
    labels = np.zeros(len(graph.truth), np.intp)
    for number, members in enumerate(nx.community.louvain_communities(network, seed=42)):
        labels[list(members)] = number
    return labels


def k_means(graph: Planted, clusters: int) -> Labels:
    """Partition a graph by its embeddings alone."""
    found = KMeans(clusters, n_init=1, random_state=42, max_iter=30).fit_predict(graph.vectors)
    return np.asarray(found, np.intp)


def measured(console: Console, table: Table, entities: int, structure: float, semantic: float) -> list[float]:
    """Score each method on one graph, and add a row to the table."""
    graph = planted(entities, structure, semantic)
    data, settings = compute_features(graph.vectors, graph.relation_vectors, graph.triples), CommunitySettings()
    by_rule = min(max(2, entities // settings.entities_per_cluster), settings.max_clusters)
    found = (detect_communities(data, settings), louvain(graph), k_means(graph, by_rule),
             initial_clusters(data.representations, settings.entities_per_cluster, settings.max_clusters,
                              settings.max_members),
             k_means(graph, int(graph.truth.max()) + 1))
    scores = [float(normalized_mutual_info_score(graph.truth, labels)) for labels in found]
    best = max(scores)
    table.add_row(f"{entities:,}", f"{structure:.1f}", f"{semantic:.1f}", f"{graph.truth.max() + 1}",
                  *(f"[bold]{score:.3f}[/]" if score == best else f"{score:.3f}" for score in scores),
                  f"{adjusted_rand_score(graph.truth, found[0]):.3f}", f"{found[0].max() + 1}",
                  str(np.bincount(found[0]).max()))
    console.log(f"{entities} entities, noise {structure} and {semantic}: {scores[0]:.3f}")
    return scores


def main(largest: int = SIZES[-1]) -> None:
    """Measure, print, draw."""
    console = Console(width=150)
    table = Table("entities", "structure noise", "semantic noise", "planted", *METHODS, "fused ARI", "found", "largest",
                  title="normalised mutual information with the planted communities")
    grid = {(structure, semantic): measured(console, table, ENTITIES, structure, semantic)
            for structure in STRUCTURE for semantic in SEMANTIC}
    sizes = [size for size in SIZES if size <= largest]
    by_size = [measured(console, table, size, *TYPICAL) for size in sizes]
    console.print(table)
    structure, semantic = TYPICAL
    panels = [Panel(f"structure noise (semantic noise {semantic:g})", [f"{x:g}" for x in STRUCTURE],
                    [grid[x, semantic] for x in STRUCTURE]),
              Panel(f"semantic noise (structure noise {structure:g})", [f"{x:g}" for x in SEMANTIC],
                    [grid[structure, x] for x in SEMANTIC]),
              Panel("entities", [f"{x:,}" for x in sizes], by_size)]
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "communities.svg").write_text(
        line_plot("Planted communities: normalised mutual information", METHODS, panels))


if __name__ == "__main__":
    typer.run(main)
