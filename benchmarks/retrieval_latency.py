"""Measure a question on knowledge bases of several sizes, without the time of a language model.

Run `python benchmarks/retrieval_latency.py --home FOLDER [--sizes 2000 20000 100000] [--kb musique]`. The stores are
grown from MuSiQue's recorded triples (grown_stores.py) and stay in the folder; `--tiled 1000000` adds one of a million
triples that is only an index (tiled_index.py), `--kb` one of BANYAN_HOME. Each is measured in a separate process, after
a warm-up, with our own questions:

- retrieval: the ranking of passages for the question and its second hop, in one thread;
- decomposed: the same with the question split into steps;
- answered: the whole question with the agent and its answer, the rules reasoner's time included.

Wall times mean little on a shared machine, so the processor time of all threads, from a second pass, and the ratios
between sizes are printed too.
"""

import argparse
import cProfile
import json
import os
import pstats
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import AskContext
from banyan.config import Settings
from banyan.graph_store.layout import Layout
from banyan.tools.retriever import Retriever
from grown_stores import grown
from own_questions import FOLDER, MUSIQUE
from rich.console import Console
from rich.table import Table
from tiled_index import tiled

_WARM_UP = 10
# More sub-queries than a retriever caches.
_REMEMBERED = 100
_REASONING = ("decompose", "reflect")
_RECORDED = "openie_musique_train_results_ner_gpt-3.5-turbo-1106_1890.json"

Ask = Callable[[str], object]
Figures = dict[str, Any]


class WatchedResources(Resources):
    """Resources that count their reasoner's time, to leave it out."""

    clock: Callable[[], float] = staticmethod(time.perf_counter)
    reasoning = 0.0

    def reasoner(self, *given: Any, **named: Any) -> Any:
        """Return a reasoner whose time is counted."""
        return _Watched(super().reasoner(*given, **named), self)

    def forget_reasoners(self) -> None:
        """Drop the reasoners: new ones have no cached sentences."""
        with self._lock:
            self._reasoners.clear()


class _Watched:
    def __init__(self, reasoner: object, resources: WatchedResources) -> None:
        self._reasoner = reasoner
        self._resources = resources

    def __getattr__(self, name: str) -> Any:
        step = getattr(self._reasoner, name)
        if name not in _REASONING:
            return step

        def timed(*given: Any, **named: Any) -> Any:
            started = self._resources.clock()
            try:
                return step(*given, **named)
            finally:
                self._resources.reasoning += self._resources.clock() - started

        return timed


def private() -> float:
    """Return this process's private memory in MB, without mapped files, whose pages all readers share."""
    rollup = Path("/proc/self/smaps_rollup").read_text()
    return sum(int(kb) for kb in re.findall(r"^(?:Private_Dirty|Swap):\s*(\d+)", rollup, re.MULTILINE)) / 1024


def records() -> list[dict[str, Any]]:
    """Read our multi-hop questions."""
    return [json.loads(line) for line in (FOLDER / "multi_hop.jsonl").read_text("utf-8").splitlines()]


def ranked(retriever: Retriever) -> Ask:
    """Return a function that ranks passages, as `kb.search` does."""
    return lambda question: retriever.rank_passages(question, 100)


def answered(resources: Resources, name: str) -> Ask:
    """Return a function that runs the whole retrieval graph with the agent, answered by the rules."""
    graph = build_graph(resources)
    return lambda question: graph.invoke({"knowledge_base": name, "question": question}, context=AskContext())


def timed(ask: Ask, resources: WatchedResources, retriever: Retriever, warm_up: Sequence[str],
          questions: Sequence[str], *, whole: bool = False) -> Figures:
    """Measure wall and processor time of the questions in ms, without the reasoner's unless `whole` is set."""
    for question in warm_up:
        ask(question)
    wall = passed(ask, resources, retriever, questions, time.perf_counter, whole=whole)
    cpu = passed(ask, resources, retriever, questions, time.process_time, whole=whole)
    return {"p50": float(np.percentile(wall, 50)), "p95": float(np.percentile(wall, 95)),
            "cpu": float(np.percentile(cpu, 50))}


def passed(ask: Ask, resources: WatchedResources, retriever: Retriever, questions: Sequence[str],
           clock: Callable[[], float], *, whole: bool) -> list[float]:
    """Measure each question in ms, without the reasoner's time unless `whole` is set.

    The caches of the retriever and the reasoner are emptied first.
    """
    resources.forget_reasoners()
    for number in range(_REMEMBERED):
        retriever.compare(f"What is the number {number}?")
    resources.clock = clock
    times = []
    for question in questions:
        resources.reasoning = 0.0
        started = clock()
        ask(question)
        times.append(1000 * (clock() - started - (0.0 if whole else resources.reasoning)))
    return times


def measure(home: Path, name: str, count: int, *, profile: bool) -> Figures:
    """Load one knowledge base and ask, in this process."""
    asked = [record["question"] for record in records()]
    questions, warm_up = asked[:count], asked[-_WARM_UP:]
    with WatchedResources(Settings(home=home, llm_base_url=None)) as resources:
        resources.embedder.encode(["warm up"])
        empty, began = private(), time.perf_counter()
        with resources.snapshot(name) as snapshot:
            retriever = snapshot.retriever
        opened = time.perf_counter()
        alone = ranked(retriever)
        alone(warm_up[0])
        first, index = time.perf_counter(), retriever.index
        figures = {"name": name, "triples": index.count_triples(), "entities": len(index.entity_row),
                   "chunks": len(index.chunks), "open": opened - began, "first": first - opened, "model": empty,
                   "loaded": private(),
                   "retrieval": timed(alone, resources, retriever, warm_up, questions),
                   "answered": timed(answered(resources, name), resources, retriever, warm_up, questions, whole=True)}
        if profile:
            show_profile(alone, questions)
        figures["asked"] = private()
    return figures | {"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def show_profile(ask: Ask, questions: Sequence[str]) -> None:
    """Print a profile of this thread's processor time in retrieval."""
    profiler = cProfile.Profile(time.thread_time)
    profiler.enable()
    for question in questions:
        ask(question)
    profiler.disable()
    stats = pstats.Stats(profiler, stream=sys.stderr)
    stats.sort_stats("tottime").print_stats(25)
    stats.sort_stats("cumulative").print_stats(r"tools|vectors|embedding", 35)


def in_a_process(home: Path, name: str, arguments: argparse.Namespace) -> Figures:
    """Run `measure` in a separate process, whose memory is that of one knowledge base."""
    command = [sys.executable, __file__, "--home", str(home), "--one", name, "--count", str(arguments.count)]
    done = subprocess.run([*command, *(["--profile"] if arguments.profile else [])], check=True, text=True,
                          stdout=subprocess.PIPE)
    figures: Figures = json.loads(done.stdout)
    return figures


def show(results: Sequence[Figures], console: Console) -> None:
    """Print what was measured."""
    sizes = Table("", *(str(one["name"]) for one in results))
    first = results[0]
    for title, key, digits in (("triples", "triples", 0), ("entities", "entities", 0), ("chunks", "chunks", 0),
                               ("open beyond imports and model, s", "open", 2), ("first question, s", "first", 2),
                               ("private memory with the model alone, MB", "model", 0),
                               ("  after the first question, MB", "loaded", 0),
                               ("  after all, MB", "asked", 0), ("peak (resident, files included), MB", "peak", 0)):
        sizes.add_row(title, *(f"{one[key]:,.{digits}f}" for one in results))
    for part in ("retrieval", "answered"):
        sizes.add_section()
        for title, key in (("p50, ms", "p50"), ("p95, ms", "p95"), ("processor p50, ms", "cpu")):
            sizes.add_row(f"{part}: {title}", *(
                f"{one[part][key]:.1f} ({one[part][key] / first[part][key]:.2f})" for one in results))
    console.print(sizes)
    console.print("In brackets: against the first column.")


def main() -> None:
    """Grow what is missing, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True, help="folder where grown stores are kept")
    parser.add_argument("--sizes", type=int, nargs="*", default=[2_000, 20_000, 100_000], help="triples")
    parser.add_argument("--tiled", type=int, nargs="*", default=[], help="triples of synthetic ones (tiled_index.py)")
    parser.add_argument("--kb", help="measure a knowledge base of BANYAN_HOME as well")
    parser.add_argument("--data", type=Path, default=MUSIQUE, help="folder with MuSiQue-train-100's recorded triples")
    parser.add_argument("--vectors", choices=["derived", "model"], default="derived",
                        help="of copies: moved from their original's, or embedded (a quarter of an hour for 100,000)")
    parser.add_argument("--count", type=int, default=100, help="questions")
    parser.add_argument("--profile", action="store_true", help="show where retrieval spends its time")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        sys.stdout.write(json.dumps(measure(arguments.home, arguments.one, arguments.count,
                                            profile=arguments.profile)))
        return
    if (arguments.sizes or arguments.tiled) and not (arguments.data / _RECORDED).is_file():
        raise SystemExit(f"there is no {arguments.data / _RECORDED}: stores are grown from it; name its folder with "
                         "--data, or measure your own alone (--sizes --kb NAME)")
    if arguments.kb:
        Layout.of(Settings().home, arguments.kb).require()  # fail now rather than after an hour
    first = [int(row) for record in records()[:arguments.count] for row in record["gold"]]
    stores = [(arguments.home, grown(arguments.home, arguments.data / _RECORDED, size, arguments.vectors, first))
              for size in arguments.sizes]
    stores += [(arguments.home, tiled(arguments.home, arguments.data / _RECORDED, size, first))
               for size in arguments.tiled]
    if arguments.kb:
        stores.append((Settings().home, arguments.kb))
    console = Console(width=150)
    console.print(f"{arguments.count} questions; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    show([in_a_process(home, name, arguments) for home, name in stores], console)


if __name__ == "__main__":
    main()
