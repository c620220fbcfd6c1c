"""Measure how a store grows: documents added in many builds against one build, with the rules reasoner.

Run `python benchmarks/growth.py` (`--documents 400 --batches 40 --runs 1`, `--corpus FILE` for a JSON list of
`{title, text}`, `--made-up` without any). Every build opens the knowledge base anew, as a new process
would; only the models stay loaded. Bytes are the kernel's counts in /proc/self/io: `wchar`, all that was passed to
write(), and `write_bytes`, the pages that this made dirty. Compare only the ratio of the last batches to the first. Of
several runs, each batch counts by its least time: other load on the machine only adds time, to different batches in
each run. A calibrated time is a batch's processor time divided by that of a fixed piece of work just before it (in the
last run): on a shared machine all work takes longer at times.
"""

import argparse
import json
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from banyan.agents.construction import graph as construction
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.graph_store.vectors.vector_store import KINDS
from banyan.models.embedding.embedder import Embedder
from banyan.models.embedding.embedding_models import load_embedder
from banyan.tests.newest import dump_graph
from build_and_ask import corpus
from rich.console import Console
from rich.table import Table

CORPUS = Path("/work/shared/data/musique_train100/musique_train_corpus.json")
NAME = "benchmark"
SCHEMA = "encyclopedia"
# More than one worker, because LangGraph's stream takes one for itself; as the command line does.
WORKERS = 3
ENDS = 10
"""How many batches at either end are compared."""
COUNTERS = ("wchar", "write_bytes")
# A tenth of a second of processor time on an idle machine.
FIXED_WORK = [f"Sentence number {number} of a text that is the same before each batch." for number in range(48)]

Record = dict[str, str]


@dataclass(frozen=True)
class Grown:
    """The cost and the result of adding all documents."""

    seconds: list[float]
    processor: list[float]
    calibrated: list[float]
    written: list[dict[str, int]]
    files: dict[str, int]
    content: dict[str, Any]
    vectors: dict[str, dict[str, list[float]]]

    @property
    def stored(self) -> int:
        """The bytes of the final store."""
        return sum(self.files.values())

    def total(self, counter: str) -> int:
        """Return the bytes that all builds wrote, by one of the kernel's counters."""
        return sum(one[counter] for one in self.written)


def read_corpus(path: Path, documents: int) -> list[Record]:
    """Read the first documents of a JSON list of `{title, text}`."""
    passages = json.loads(path.read_text("utf-8"))[:documents]
    return [{"id": str(number), "title": one["title"], "text": one["text"]} for number, one in enumerate(passages)]


def made_up(documents: int) -> list[Record]:
    """Make documents that need no file."""
    return [{"id": name, "title": "", "text": text} for name, text in corpus(documents).texts.items()]


def counters() -> dict[str, int]:
    """Return the kernel's counters of what this process has written so far."""
    found = Path("/proc/self/io").read_text("utf-8")
    return {name: int(re.search(rf"^{name}: (\d+)", found, re.MULTILINE)[1]) for name in COUNTERS}  # type: ignore[index]


def grow(folder: Path, batches: Sequence[Sequence[Record]], embedder: Embedder, progress: bool) -> Grown:
    """Add batches of documents, each by a separate build, in a separate home folder."""
    settings = Settings(_env_file=None, home=folder / "home", llm_base_url=None)  # type: ignore[call-arg]
    seconds, processor, calibrated, written = list[float](), list[float](), list[float](), list[dict[str, int]]()
    for number, batch in enumerate(batches):
        source = folder / f"batch{number}.jsonl"
        source.write_text("".join(json.dumps(record) + "\n" for record in batch), "utf-8")
        began = time.process_time()
        embedder.encode(FIXED_WORK)
        fixed = time.process_time() - began
        before, started, busy = counters(), time.perf_counter(), time.process_time()
        with Resources(settings, embedder) as resources:
            construction.build_graph(resources).invoke(
                {"knowledge_base": NAME, "paths": [str(source)], "schema": SCHEMA}, {"max_concurrency": WORKERS})
        seconds.append(time.perf_counter() - started)
        processor.append(time.process_time() - busy)
        calibrated.append(processor[-1] / fixed)
        written.append({name: value - before[name] for name, value in counters().items()})
        if progress:
            print(f"batch {number}: {seconds[-1]:.2f} s, processor {processor[-1]:.2f} s, "
                  + ", ".join(f"{name} {value / 1e6:.2f} MB" for name, value in written[-1].items()), flush=True)
    files = {str(path.relative_to(folder)): path.stat().st_size
             for path in sorted((folder / "home").rglob("*")) if path.is_file()}
    content, vectors = held(settings, embedder)
    return Grown(seconds, processor, calibrated, written, files, content, vectors)


def quietest(runs: Sequence[Grown]) -> Grown:
    """Return the last of several equal runs, with the least time of each batch."""
    return replace(runs[-1], seconds=[min(times) for times in zip(*(run.seconds for run in runs), strict=True)],
                   processor=[min(times) for times in zip(*(run.processor for run in runs), strict=True)])


def held(settings: Settings, embedder: Embedder) -> tuple[dict[str, Any], dict[str, dict[str, list[float]]]]:
    """Return a store's content by part, and its vectors by kind and id."""
    with Resources(settings, embedder) as resources:
        with resources.snapshot(NAME) as snapshot:
            kb = snapshot.kb
        content = {"graph": dump_graph(kb.graph), "schema": kb.schemas.current().model_dump(),
                   "communities": [one.model_dump() for one in kb.communities.all(level=None)],
                   "accounts": [one.model_dump() for one in kb.calls.spent("step")],
                   "rejected and repaired": [kb.extractions.count_rejections(), kb.extractions.count_repairs()]}
        vectors = {}
        for kind in KINDS:
            ids = sorted(kb.vectors.ids(kind))
            vectors[kind] = dict(zip(ids, kb.vectors.get(kind, ids).tolist(), strict=True))
    return content, vectors


def compared(one: Grown, other: Grown) -> list[tuple[str, str]]:
    """Compare two stores, part by part."""
    found = [(name, "equal" if one.content[name] == other.content[name] else "DIFFERENT") for name in one.content]
    for kind in KINDS:
        here, there = one.vectors[kind], other.vectors[kind]
        if here.keys() != there.keys():
            found.append((f"vectors of {kind}", f"DIFFERENT: {len(here.keys() ^ there.keys())} of {len(there)} ids"))
            continue
        gap = max((float(np.abs(np.subtract(here[key], there[key])).max()) for key in here), default=0.0)
        found.append((f"vectors of {kind}", f"equal ids ({len(here)}), largest difference {gap:.0e}"))
    return found


def show(many: Grown, single: Grown, console: Console) -> None:
    """Print both runs side by side, and whether their results are equal."""
    table = Table("", f"{len(many.seconds)} builds", "one build")
    both = (many, single)
    table.add_row("entities, triples", *(f"{len(g.content['graph']['nodes'])}, {len(g.content['graph']['edges'])}"
                                         for g in both))
    table.add_row("stored, MB", *(f"{g.stored / 1e6:.2f}" for g in both))
    for name in COUNTERS:
        table.add_row(f"written, MB ({name})", *(f"{g.total(name) / 1e6:.2f}" for g in both))
        table.add_row("  written / stored", *(f"{g.total(name) / g.stored:.2f}" for g in both))
    table.add_row("seconds", *(f"{sum(g.seconds):.1f}" for g in both))
    table.add_row("  of the processor", *(f"{sum(g.processor):.1f}" for g in both))
    console.print(table)
    ends = min(ENDS, len(many.seconds) // 2)
    if ends:
        table = Table("per batch", f"median of first {ends}", f"last {ends}", "ratio", f"mean of first {ends}",
                      f"last {ends}", "ratio")
        for what, values in (("time, s", many.seconds), ("processor time, s", many.processor),
                             ("processor time, calibrated", many.calibrated),
                             *((f"{name}, MB", [one[name] / 1e6 for one in many.written]) for name in COUNTERS)):
            row = [what]
            for average in (statistics.median, statistics.mean):
                first, last = average(values[:ends]), average(values[-ends:])
                row += [f"{first:.2f}", f"{last:.2f}", f"{last / first:.2f}"]
            table.add_row(*row)
        console.print(table)
    table = Table("many builds and one", "")
    for row in compared(many, single):
        table.add_row(*row)
    console.print(table)


def main() -> None:
    """Grow one store in batches and one at once, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=400)
    parser.add_argument("--batches", type=int, default=40)
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="a JSON list of {title, text}")
    parser.add_argument("--runs", type=int, default=1, help="how often the batches are added, to stores of their own")
    parser.add_argument("--made-up", action="store_true", help="documents that need no file")
    parser.add_argument("--progress", action="store_true", help="a line for each batch, and the files at the end")
    arguments = parser.parse_args()
    if not (arguments.made_up or arguments.corpus.is_file()):
        sys.exit(f"skipped: there is no {arguments.corpus}; name a file by --corpus, or run with --made-up")
    records = made_up(arguments.documents) if arguments.made_up else read_corpus(arguments.corpus, arguments.documents)
    size = -(-len(records) // arguments.batches)
    embedder = load_embedder(Settings())
    # Not in /tmp, which may be memory: the kernel would count no dirty pages.
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
        folder = Path(name)
        repeated = [folder / f"many{number}" for number in range(arguments.runs)]
        for part in (folder / "warm", folder / "single", *repeated):
            part.mkdir()
        # Imports and the model's first run belong to no batch.
        grow(folder / "warm", [made_up(2)], embedder, progress=False)
        batches = [records[at:at + size] for at in range(0, len(records), size)]
        many = quietest([grow(part, batches, embedder, arguments.progress) for part in repeated])
        single = grow(folder / "single", [records], embedder, arguments.progress)
    if arguments.progress:
        for path, stored in many.files.items():
            print(f"{stored / 1e6:8.2f} MB  {path}")
    show(many, single, Console(width=150))


if __name__ == "__main__":
    main()
