"""Builds on a Ray cluster of one head and two worker nodes on this machine, against builds in one process.

`python benchmarks/ray_cluster.py` (`--documents 400 --seconds 2 --concurrency 32 128 --rules 40`). The nodes are real
ones of `ray start`, with a processor each; the endpoint runs in a process of its own and answers with the triples that
GPT-3.5 once extracted from the passages. Shown are, for builds with a model: whether ledger, graph, vectors and
accounts are those of one process (`store_state`), what the endpoint answered beyond what the ledger was charged for,
and the chunks extracted in a second. In the last of them a worker node is ended with -9 once a quarter is extracted.
Then the same for the rules with the real embedding model, which compute. Machines are shared and noisy, and all nodes
share the processors of this one: only ratios within a run mean something.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from banyan.agents.cluster import resources_on
from banyan.agents.construction.graph import build_graph
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.models.embedding.embedder import Embedder
from llm_world import KB, endpoint_apart, stats, write_passages
from rich.console import Console
from rich.table import Table
from store_state import differences, store_state

sys.path.append(str(Path(__file__).resolve().parents[1]))
from tests.hashed_embedding import HashedEmbedder
from tests.ray_nodes import RayCluster


class Run(NamedTuple):
    """One build: what it made, and seconds from the first chunk asked to the last one extracted, and of the whole."""

    state: dict[str, Any]
    tokens: dict[str, int]
    extracting: float
    whole: float


@contextmanager
def _resources(settings: Settings, embedder: Embedder | None, ray: str) -> Iterator[Resources]:
    with Resources(settings, embedder) as here, resources_on(here, ray) as resources:
        yield resources


def build(settings: Settings, embedder: Embedder | None, source: Path, ray: str = "",
          extracted: Callable[[int], None] = lambda _: None) -> Run:
    """Build a knowledge base, and tell what became of it.

    Args:
        settings: the home folder, the endpoint and its limits.
        embedder: replaces the settings' model, and stays in this process; none: workers have it, too.
        source: the passages.
        ray: the cluster's address; empty: in this process.
        extracted: told how many chunks are extracted.
    """
    given: Any = {"knowledge_base": KB, "paths": [str(source)], "schema": "open"}
    with _resources(settings, embedder, ray) as resources:
        begun = last = started = time.perf_counter()
        report: dict[str, Any] = {}

        async def watch() -> None:
            nonlocal begun, last, report
            count = 0
            async for update in build_graph(resources).astream(given, stream_mode="updates"):
                node = next(iter(update))
                if node == "ingest":
                    begun = time.perf_counter()
                elif node == "extract":
                    last, count = time.perf_counter(), count + 1
                    extracted(count)
                elif node == "index":
                    report = update["index"]["report"]

        asyncio.run(watch())
        whole = time.perf_counter() - started
    assert not report["chunks_failed"], report
    assert not report["stopped"], report
    with Resources(settings, embedder) as here:
        model = here.embedder
    return Run(store_state(settings.home, KB, model), report["tokens"], last - begun, whole)


def _equal(run: Run, other: Run) -> str:
    return "equal" if run.state == other.state else f"DIFFERENT: {differences(run.state, other.state)}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=2.0, help="how long an answer takes")
    parser.add_argument("--concurrency", type=int, nargs="+", default=[32, 128])
    parser.add_argument("--rules", type=int, default=40, help="passages that the rules read; 0: none")
    arguments = parser.parse_args()
    table = Table("build", "calls at once", "ledger, graph, vectors, accounts", "calls charged", "answered beyond",
                  "chunks a second", "of one process", "whole build, s", title=(
                      f"{arguments.documents} passages, {arguments.seconds:g} s an answer, 3 nodes of a processor"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = write_passages(folder / "passages.jsonl", arguments.documents)
        warm = write_passages(folder / "warm.jsonl", 16)
        few = write_passages(folder / "few.jsonl", arguments.rules or 1)
        for at_once in arguments.concurrency:
            # A first build pays for imports, which a process pays once.
            _measure(table, folder / f"warm-{at_once}", warm, at_once, 0.0, rows=False)
            _measure(table, folder / str(at_once), source, at_once, arguments.seconds)
        if arguments.rules:
            _rules(table, folder / "rules", few)
    Console(width=170).print(table)


def _measure(table: Table, folder: Path, source: Path, at_once: int, seconds: float, *, rows: bool = True) -> None:
    def settings(name: str, base_url: str) -> Settings:
        # Several times the calls at once, so that the endpoint is never idle; see docs/operations.md.
        return Settings(home=folder / name, llm_base_url=base_url, llm_model="recorded", llm_concurrency=at_once,
                        batch_chunks=4 * at_once, _env_file=None)

    embedder = HashedEmbedder()
    with endpoint_apart(seconds) as base_url:
        one = build(settings("one", base_url), embedder, source)
        if rows:
            table.add_row("one process", str(at_once), "", *_figures(one, one, stats(base_url)))
    for name in ("ray", "ray, node killed")[:1 + rows]:
        with endpoint_apart(seconds) as base_url, RayCluster() as cluster:
            killed = len(one.state["chunks"]) // 4 if "killed" in name else 0

            def kill(count: int, killed: int = killed, cluster: RayCluster = cluster) -> None:
                if count == killed:
                    cluster.kill(1)

            run = build(settings(name, base_url), embedder, source, cluster.address, kill)
            if rows:
                table.add_row(name, str(at_once), _equal(run, one), *_figures(run, one, stats(base_url)))


def _figures(run: Run, one: Run, answered: dict[str, Any]) -> list[str]:
    chunks = len(run.state["chunks"])
    return [str(run.tokens["calls"]), str(answered["answers"] - run.tokens["calls"]), f"{chunks / run.extracting:.1f}",
            f"{one.extracting / run.extracting:.2f}", f"{run.whole:.1f}"]


def _rules(table: Table, folder: Path, source: Path) -> None:
    def settings(name: str) -> Settings:
        return Settings(home=folder / name, llm_base_url=None, _env_file=None)

    build(settings("warm"), None, source)
    one = build(settings("one"), None, source)
    table.add_row("rules, one process", "-", "", *_figures(one, one, {"answers": 0}))
    with RayCluster() as cluster:
        for name in ("rules, ray", "rules, ray, node killed"):
            def kill(count: int, killed: bool = "killed" in name, cluster: RayCluster = cluster) -> None:
                if killed and count == len(one.state["chunks"]) // 4:
                    cluster.kill(2)

            run = build(settings(name), None, source, cluster.address, kill)
            table.add_row(name, "-", _equal(run, one), *_figures(run, one, {"answers": 0}))


if __name__ == "__main__":
    main()
