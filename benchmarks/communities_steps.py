"""How long a partition may be updated before all is clustered anew: a planted graph that grows in small steps.

Run `python benchmarks/communities_steps.py [--entities 4000] [--step 60]`. At each step the whole is clustered anew,
and for each limit of drift by `update` until the entities that changed since the last full run are more than that
share. NMI, the agreement with the planted communities, is compared with that of the full run of the same step.
"""

import time
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import typer
from banyan.graph_store.tree.detection import CommunitySettings, Earlier, Labels, detect, features, update
from numpy.typing import NDArray
from planted import Planted, planted
from rich.console import Console
from rich.table import Table
from sklearn.metrics import normalized_mutual_info_score

NOISES = ((0.2, 2.0), (0.5, 1.0))
SETTINGS = CommunitySettings()


@dataclass
class Kept:
    """A partition that is kept up under one limit of drift; the community of each entity of the whole graph, or -1."""

    limit: float
    labels: Labels
    drift: int = 0
    full: int = 0
    seconds: float = 0.0
    gaps: list[float] = field(default_factory=list)


def _grown(graph: Planted, kept: NDArray[np.intp]) -> list[tuple[int, int, int]]:
    place = {int(one): row for row, one in enumerate(kept)}
    return [(place[h], r, place[t]) for h, r, t in graph.triples if h in place and t in place]


def _run(entities: int, step: int, limits: list[float], noise: tuple[float, float]) -> tuple[list[Kept], float, int]:
    graph = planted(entities, *noise)
    order = np.random.default_rng(1).permutation(entities)
    runs = [Kept(limit, np.full(entities, -1)) for limit in limits]
    seconds, steps, there = 0.0, 0, np.zeros(entities, bool)
    for size in range(entities // 4, entities + 1, step):
        kept = np.sort(order[:size])
        data = features(graph.vectors[kept], graph.relation_vectors, _grown(graph, kept))
        new = np.zeros(entities, bool)
        new[kept] = ~there[kept]
        there[kept] = True
        changed = new.copy()
        for head, _, tail in graph.triples:
            if there[head] and there[tail] and (new[head] or new[tail]):
                changed[[head, tail]] = True
        began = time.process_time()
        full = detect(data, SETTINGS)
        taken, steps = time.process_time() - began, steps + 1
        seconds += taken
        best = normalized_mutual_info_score(graph.truth[kept], full)
        for run in runs:
            run.drift += int(changed.sum())
            if steps == 1 or run.drift > run.limit * size:
                run.labels[kept], run.drift = full, 0
                run.full += 1
                run.seconds += taken
            else:
                began = time.process_time()
                run.labels[kept] = update(data, Earlier(run.labels[kept], changed[kept]), SETTINGS)
                run.seconds += time.process_time() - began
            run.gaps.append(float(normalized_mutual_info_score(graph.truth[kept], run.labels[kept]) - best))
    return runs, seconds, steps


def main(entities: int = 4000, step: int = 60,
         limits: Annotated[str, typer.Option(help="Shares that may have changed.")] = "0.1,0.25,0.5,1e9",
         ) -> None:
    """Measure and print."""
    for noise in NOISES:
        runs, seconds, steps = _run(entities, step, [float(limit) for limit in limits.split(",")], noise)
        table = Table("drift", "full runs", "time / full each step", "NMI less, mean", "worst",
                      title=f"{entities:,} entities, {step} at a time, noise {noise}: {steps} steps")
        for run in runs:
            table.add_row(f"{run.limit:g}", str(run.full), f"{run.seconds / seconds:.2f}", f"{-np.mean(run.gaps):.4f}",
                          f"{-min(run.gaps):.4f}")
        Console().print(table)


if __name__ == "__main__":
    typer.run(main)
