"""What clustering only what changed saves, and what it costs in quality: full run against update, in one run.

Run `python benchmarks/communities_update.py [--entities 20000]`. A planted graph is clustered without some of its
entities; then they come, and the whole is clustered anew and by `update`. phi is the mean affinity of all
entities to their community (eq. 5), NMI the agreement with the planted communities.
"""

import time
from typing import Annotated

import numpy as np
import typer
from banyan.graph_store.tree.detection import CommunitySettings, Earlier, affinity, detect, features, update
from numpy.typing import NDArray
from planted import Planted, planted
from rich.console import Console
from rich.table import Table
from sklearn.metrics import normalized_mutual_info_score

NOISE = (0.2, 2.0)
SETTINGS = CommunitySettings()


def _part(graph: Planted, kept: NDArray[np.intp]) -> Planted:
    place = {int(one): number for number, one in enumerate(kept)}
    triples = [(place[h], r, place[t]) for h, r, t in graph.triples if h in place and t in place]
    return Planted(graph.vectors[kept], graph.relation_vectors, triples, graph.truth[kept])


def main(entities: int = 20_000,
         shares: Annotated[str, typer.Option(help="Shares of the entities that come later.")] = "0.01,0.05,0.1",
         ) -> None:
    """Measure and print."""
    graph = planted(entities, *NOISE)
    data = features(graph.vectors, graph.relation_vectors, graph.triples)
    began = time.process_time()
    full = detect(data, SETTINGS)
    spent = time.process_time() - began
    table = Table("entities added, %", "time of update / full", "NMI full", "NMI update", "phi update / full",
                  "communities full", "update", "moved though far, %", title=f"{entities:,} entities")
    for share in map(float, shares.split(",")):
        late = np.random.default_rng(1).random(entities) < share
        part = _part(graph, np.flatnonzero(~late))
        before = detect(features(part.vectors, part.relation_vectors, part.triples), SETTINGS)
        labels = np.full(entities, -1)
        labels[~late] = before
        changed = late.copy()
        for head, _, tail in graph.triples:
            changed[[head, tail]] |= late[head] or late[tail]
        began = time.process_time()
        found = update(data, Earlier(labels, changed), SETTINGS)
        taken = time.process_time() - began
        # An entity has moved if most of its old community is now elsewhere.
        most = {old: np.bincount(found[(labels == old)]).argmax() for old in range(before.max() + 1)}
        far = ~changed
        moved = np.mean([found[i] != most[labels[i]] for i in np.flatnonzero(far)])
        phi = [float(affinity(data, one, SETTINGS).mean()) for one in (full, found)]
        nmi = [normalized_mutual_info_score(graph.truth, one) for one in (full, found)]
        table.add_row(f"{100 * share:g}", f"{taken / spent:.2f}", f"{nmi[0]:.3f}", f"{nmi[1]:.3f}",
                      f"{phi[1] / phi[0]:.3f}", str(full.max() + 1), str(found.max() + 1), f"{100 * moved:.1f}")
    Console(width=150).print(table)


if __name__ == "__main__":
    typer.run(main)
