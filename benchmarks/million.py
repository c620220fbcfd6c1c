"""Build a knowledge base of a million triples by the ordinary import: time by phase, memory and bytes on disk.

    python benchmarks/million.py --home FOLDER [--triples 1000000]
    python benchmarks/adding.py --home FOLDER --sizes 1000000        # then: adding 100 documents to it
    python benchmarks/retrieval_latency.py --home FOLDER --sizes 1000000

The documents are MuSiQue's passages with their recorded triples and copies of them in which every name is another
(grown_stores.py); vectors of copies are moved from their original's. The derive pass is what reads rows, resolves
entities, embeds (the embedder's own time left out), finds communities, and writes graph.json and the index.
"""

import argparse
import threading
import time
from pathlib import Path

from adding import PHASES, RECORDED, Phases
from grown_stores import DerivedEmbedder, grown
from rich.console import Console
from rich.table import Table

_ROWS = ("all else", "opening", "bounding", "a batch's vectors", "embedding")
"""Phases that are not of the derive pass."""


def main() -> None:
    """Build, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True, help="a folder that has no such knowledge base yet")
    parser.add_argument("--recorded", type=Path, default=RECORDED, help="recorded triples in HippoRAG's format")
    parser.add_argument("--triples", type=int, default=1_000_000)
    arguments = parser.parse_args()
    ended, phases = threading.Event(), Phases()
    threading.Thread(target=phases.watch, args=(ended,), daemon=True).start()
    started = time.perf_counter()
    for phase, owner, function in (*PHASES, ("embedding", DerivedEmbedder, "encode")):
        setattr(owner, function, phases.measured(phase, getattr(owner, function)))
    name = grown(arguments.home, arguments.recorded, arguments.triples, "derived", [])
    phases.turn()
    ended.set()
    table = Table("phase", "seconds of the processor", "MB written", "MB private at most")
    for phase, seconds in sorted(phases.seconds.items(), key=lambda item: -item[1]):
        table.add_row(phase, f"{seconds:.1f}", f"{phases.written[phase] / 1e6:.0f}",
                      f"{phases.memory[phase] / 1e6:.0f}")
    console = Console(width=120)
    console.print(table)
    derived = sum(seconds for phase, seconds in phases.seconds.items() if phase not in _ROWS)
    most = max(phases.memory.values())
    size = sum(file.stat().st_size for file in (arguments.home / name).rglob("*") if file.is_file())
    console.print(
        f"{name}: {time.perf_counter() - started:.0f} s by the clock, {sum(phases.seconds.values()):.0f} s of the "
        f"processor, of which the derive pass {derived:.0f} s; at most {most / 1e6:.0f} MB private memory; "
        f"{size / 1e6:.0f} MB on disk")


if __name__ == "__main__":
    main()
