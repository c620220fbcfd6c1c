"""Time and memory of community detection, embedding excluded; one child process for each size.

Run `python benchmarks/communities_speed.py [--sizes 5000,50000,200000]`. Measured are representation,
detection and hierarchy on planted graphs; imports are not.
"""

import json
import resource
import subprocess
import sys
import time
from typing import Annotated

import numpy as np
import typer
from banyan.graph_store.tree.detection import CommunitySettings, detect_hierarchy
from banyan.graph_store.tree.features import compute_features
from planted import DIMENSION, planted
from rich.console import Console
from rich.table import Table

NOISE = (0.2, 2.0)
WARM_UP = 300  # entities of a first run, for the imports


def measure(entities: int) -> dict[str, float | list[int]]:
    """Detect the communities of one graph in this process."""
    small, graph = planted(WARM_UP, *NOISE), planted(entities, *NOISE)
    detect_hierarchy(compute_features(small.vectors, small.relation_vectors, small.triples), CommunitySettings())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, cpu = time.perf_counter(), time.process_time()
    data = compute_features(graph.vectors, graph.relation_vectors, graph.triples)
    levels = detect_hierarchy(data, CommunitySettings())
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    covered = all(len(level) == entities and np.bincount(level).min() > 0 for level in levels)
    return {"wall": wall, "cpu": cpu, "before": before / 1024, "coverage": 100.0 * covered,
            "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "levels": [int(level.max()) + 1 for level in levels], "largest": int(np.bincount(levels[0]).max())}


def main(sizes: str = "5000,50000,200000",
         one: Annotated[int, typer.Option(hidden=True, help="measure one size in this process")] = 0) -> None:
    """Measure and print."""
    if one:
        sys.stdout.write(json.dumps(measure(one)))
        return
    table = Table("entities", "wall, s", "CPU, s", "CPU us/entity", "input, MB", "peak, MB", "coverage, %",
                  "communities of each level", "largest")
    console = Console(width=150)
    for entities in map(int, sizes.split(",")):
        done = subprocess.run([sys.executable, __file__, "--one", str(entities)], check=True, capture_output=True)
        found = json.loads(done.stdout)
        table.add_row(f"{entities:,}", f"{found['wall']:.1f}", f"{found['cpu']:.1f}",
                      f"{1e6 * found['cpu'] / entities:.0f}", f"{found['before']:.0f}", f"{found['peak']:.0f}",
                      f"{found['coverage']:.0f}", " > ".join(f"{count:,}" for count in found["levels"]),
                      str(found["largest"]))
    console.print(table)
    console.print(f"vectors of {DIMENSION} dimensions; input: memory before detection, with the vectors and triples")


if __name__ == "__main__":
    typer.run(main)
