"""Compare adding documents to a large store and a small one: processor time, bytes written and memory, by phase.

Run `python benchmarks/adding.py --home FOLDER --sizes 15800 100000`: the stores are made there once (grown_stores.py)
and copied before each addition. The added passages have recorded triples and are in none of the stores; the real model
embeds them. Each addition is a separate process, as `banyan import` is. Seconds are processor time, bytes are those
passed to `write()` by the kernel's count; both exclude nested phases. Imports and the model's first run belong to no
phase. Memory is the private peak while a phase runs, beyond the model's.
"""

import argparse
import functools
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from banyan.agents.construction import graph as construction
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.graph_store.evolution.control import SchemaControl
from banyan.graph_store.graph.knowledge_graph import KnowledgeGraph
from banyan.graph_store.graph.resolved_graph import LedgerGraph
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.resolution.resolver import Resolver
from banyan.graph_store.tree.tree_levels import TreeSynchroniser
from banyan.graph_store.vectors.vector_synchroniser import VectorSynchroniser
from banyan.models.embedding.embedding_models import load_embedder
from banyan.runtime.libraries import collect_rarely
from grown_stores import grown, records
from rich.console import Console
from rich.table import Table

RECORDED = Path("/work/shared/data/musique_train100/openie_musique_train_results_ner_gpt-3.5-turbo-1106_1890.json")
MOST = 390_000
"""Triples of the passages and copies, the last of which are added; more where a store has as many."""
WORKERS = 3
PHASES: tuple[tuple[str, type, str], ...] = (
    ("reading rows", KnowledgeGraph, "of_rows"), ("resolved graph", LedgerGraph, "_resolve"),
    ("opening", KnowledgeBase, "__init__"), ("bounding", SchemaControl, "write"),
    ("resolution", Resolver, "resolve"), ("Chroma", VectorSynchroniser, "sync"),
    ("a batch's vectors", VectorSynchroniser, "embed"),
    ("communities", TreeSynchroniser, "update"),
    ("graph.json", KnowledgeBase, "save_graph"), ("index", KnowledgeBase, "save_index"))
REST = "all else"


class Phases:
    """Processor time and bytes by phase, each without those of the phases within it."""

    def __init__(self) -> None:
        """Start outside any phase."""
        self.seconds: dict[str, float] = defaultdict(float)
        self.written: dict[str, int] = defaultdict(int)
        self.memory: dict[str, int] = defaultdict(int)
        """The most private memory seen during each phase."""
        self._lock = threading.RLock()
        self._within, self._since = [REST], (time.process_time(), written())

    def turn(self) -> None:
        """Add what was used since the last turn to the current phase."""
        now = time.process_time(), written()
        self.seconds[self._within[-1]] += now[0] - self._since[0]
        self.written[self._within[-1]] += now[1] - self._since[1]
        self._since = now

    def watch(self, ended: threading.Event, before: int = 0) -> None:
        """Note what private memory there is beyond `before`, until the end."""
        while not ended.wait(0.02):
            phase = self._within[-1]
            self.memory[phase] = max(self.memory[phase], private() - before)

    def measured(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function so that its calls count as a phase."""
        @functools.wraps(function)
        def within(*args: Any, **named: Any) -> Any:
            with self._lock:
                self.turn()
                self._within.append(name)
                try:
                    return function(*args, **named)
                finally:
                    self.turn()
                    self._within.pop()
        return within


def written() -> int:
    """Return the number of bytes that this process has passed to `write()`."""
    return int(re.search(r"^wchar: (\d+)", Path("/proc/self/io").read_text("utf-8"), re.MULTILINE)[1])  # type: ignore[index]


def private() -> int:
    """Return the bytes of memory that only this process uses."""
    found = re.search(r"^RssAnon:\s+(\d+)", Path("/proc/self/status").read_text("utf-8"), re.MULTILINE)
    return int(found[1]) * 1024  # type: ignore[index]


def add(home: Path, name: str, source: Path) -> dict[str, Any]:
    """Add the documents of a file to a store in this process, and return the costs."""
    collect_rarely()  # as `banyan` does
    embedder = load_embedder(Settings())
    embedder.encode(["The model's first run."])
    ended, phases = threading.Event(), Phases()
    watching = threading.Thread(target=phases.watch, args=(ended, private()))
    watching.start()
    for phase, owner, function in (*PHASES, ("embedding", type(embedder), "encode")):
        setattr(owner, function, phases.measured(phase, getattr(owner, function)))
    with Resources(Settings(home=home, llm_base_url=None), embedder) as resources:
        construction.build_graph(resources).invoke(
            {"knowledge_base": name, "paths": [str(source)], "recorded": "triples"}, {"max_concurrency": WORKERS})
    phases.turn()
    ended.set()
    watching.join()
    return {"seconds": phases.seconds, "written": phases.written, "memory": phases.memory}


def measured(home: Path, name: str, source: Path) -> dict[str, Any]:
    """Measure adding to a copy of a store, in a new process."""
    with tempfile.TemporaryDirectory(dir=home.parent) as folder:
        shutil.copytree(home / name, Path(folder) / name)
        done = subprocess.run([sys.executable, __file__, "--home", folder, "--child", name, str(source)],
                              check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def show(sizes: Sequence[int], found: Sequence[dict[str, Any]], console: Console) -> None:
    """Print the costs by phase, and the ratios of each store to the first."""
    names = sorted({phase for one in found for phase in one["seconds"]},
                   key=lambda phase: -found[-1]["seconds"].get(phase, 0))
    units = ("s", "MB written", "MB private")
    table = Table("", *(part for unit in units for part in (*(f"{size:,}: {unit}" for size in sizes), "ratio")))
    parts = (("seconds", 1.0), ("written", 1e6), ("memory", 1e6))
    for phase in names:
        table.add_row(phase, *(cell for part, unit in parts for cell in _cells(
            [one[part].get(phase, 0) / unit for one in found])))
    sums = [[(max if part == "memory" else sum)(one[part].values()) / unit for one in found] for part, unit in parts]
    table.add_row("all", *(cell for row in sums for cell in _cells(row)))
    table.add_row("all but embedding", *_cells(
        [sum(one["seconds"].values()) - one["seconds"].get("embedding", 0) for one in found]))
    console.print(table)


def _cells(values: Sequence[float]) -> list[str]:
    return [*(f"{value:.2f}" for value in values), f"{values[-1] / values[0]:.1f}" if values[0] else "-"]


def main() -> None:
    """Add to each store, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True, help="where the stores are, or are made")
    parser.add_argument("--recorded", type=Path, default=RECORDED, help="recorded triples in HippoRAG's format")
    parser.add_argument("--sizes", type=int, nargs="+", default=[15_800, 100_000])
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(add(arguments.home, arguments.child[0], Path(arguments.child[1]))))
        return
    if not arguments.recorded.is_file():
        sys.exit(f"skipped: there is no {arguments.recorded}; name a file by --recorded")
    stores = [grown(arguments.home, arguments.recorded, size, "derived", []) for size in arguments.sizes]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "added.jsonl"
        most = max(MOST, round(1.1 * max(arguments.sizes)))
        last = deque(records(arguments.recorded, most, []), maxlen=arguments.documents)
        source.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in last), "utf-8")
        found = [measured(arguments.home, store, source) for store in stores]
    show(arguments.sizes, found, Console(width=150))


if __name__ == "__main__":
    main()
