"""How fast the rules read files, by kind of file, beside another checkout.

    python benchmarks/reading_speed.py PATH... [--other CHECKOUT] [--every 1] [--pairs 1]

Files, and those of folders, are loaded, cut into passages and read by the rules as in a build; a log that it writes is
added. Each kind (by its ending) is read in a process of its own, by turns with the code of each checkout. It is
processor time in user mode and in one thread, with that of the processes that parse files, so what else the machine
does is hardly in it. Characters a second compare kinds whose passages are not of one length.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

_CHILD = """
import asyncio, inspect, json, resource, sys
from pathlib import Path
from banyan.config import Settings
from banyan.ingest.chunking import chunk_document
from banyan.ingest.loaders import load_documents
from banyan.models.rules.rules_reasoner import RulesReasoner
from banyan.models.rules.table_facts import read_rows
from banyan.schemas.extraction import ExtractionRequest
from banyan.schemas.formats.schema_loading import load_schema

def processor_time():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime for one in used)

def refuse(failure):
    raise SystemExit(f"{failure.path}: {failure.reason}")

def extract(requests):
    if inspect.iscoroutinefunction(reasoner.extract):
        return asyncio.run(reasoner.extract(requests, schema))
    return [reasoner.extract(request, schema) for request in requests]

settings, schema, reasoner = Settings(_env_file=None), load_schema("general"), RulesReasoner()
extract([ExtractionRequest(text="Ada Blum was born in Oslo.", title="Ada Blum")])
paths, every = json.loads(sys.stdin.read())
began = processor_time()
documents = list(load_documents([Path(path) for path in paths], on_failure=refuse))
chunks = [chunk for document in documents for chunk in chunk_document(
    document, max_tokens=settings.chunk_tokens, overlap_tokens=settings.chunk_overlap)]
loaded = processor_time()
for start in range(0, len(chunks), 16 * every):  # a build reads 16 together
    texts = [(chunk, read_rows(chunk.text, chunk.title, chunk.heading, schema)[1])
             for chunk in chunks[start : start + 16 * every : every]]
    extract([ExtractionRequest(text=prose, title=chunk.title, heading=chunk.heading)
             for chunk, prose in texts if prose.strip()])
read = processor_time() - loaded
characters = sum(len(chunk.text) for chunk in chunks)
print(json.dumps([len(chunks), characters, loaded - began, read * len(chunks) / len(chunks[::every])]))
"""
_LOG_LINES = 2000
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class Speed(NamedTuple):
    """The passages of some files, their characters, and the processor seconds to load files and to read passages."""

    passages: int
    characters: int
    loading: float
    reading: float

    @property
    def passages_a_second(self) -> float:
        """How many passages are loaded and read in a second of the processor."""
        return self.passages / (self.loading + self.reading)

    @property
    def characters_a_second(self) -> float:
        """How many thousand characters are loaded and read in a second of the processor."""
        return self.characters / (self.loading + self.reading) / 1000


def measure(checkout: Path, paths: Sequence[Path], every: int) -> Speed:
    """Return how fast a checkout reads files; of their passages only one in `every` is read."""
    given = json.dumps([[str(path.resolve()) for path in paths], every])
    own = {**dict.fromkeys(_THREADS, "1"), "PYTHONPATH": str(checkout.resolve().parent)}
    done = subprocess.run([sys.executable, "-c", _CHILD], input=given, check=True, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, **own})
    return Speed(*json.loads(done.stdout))


def by_kind(paths: Iterable[Path]) -> dict[str, list[Path]]:
    """Return files, and those of folders, by their endings."""
    kinds = defaultdict(list)
    for path in chain.from_iterable(sorted(path.rglob("*")) if path.is_dir() else [path] for path in paths):
        if path.is_file():
            kinds[path.suffix.lower()].append(path)
    return dict(sorted(kinds.items()))


def write_log(path: Path) -> None:
    """Write a log of services: times, identifiers, fields, an exception now and then."""
    services = ("billing", "gateway", "Scheduler", "mail-worker")
    with path.open("w", encoding="utf-8") as log:
        for line in range(_LOG_LINES):
            service, number = services[line * 7 % 4], line * 2_654_435_761 % 2**32
            at = f"2026-03-{1 + line // 1000:02}T{line // 60 % 24:02}:{line % 60:02}:{line * 13 % 60:02}Z"
            log.write(f"{at} INFO [{service}-{line % 5}] request id={number:08x} user={number % 977} "
                      f"path=/v1/orders/{number % 8831} status=200 took={number % 431}ms\n")
            if line % 40 == 0:
                log.write(f"{at} ERROR [{service}] Connection to db-{line % 3}.internal:5432 refused\n"
                          f"Caused by: ConnectionError: attempt {line % 5} of 5\n"
                          f"  File \"/srv/{service}/handlers.py\", line {number % 700}, in handle\n"
                          f"Host: node-{number % 40}\nRetry: in {number % 60} seconds\n")


def main() -> None:
    """Measure each kind, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", type=Path, nargs="*", metavar="PATH")
    parser.add_argument("--other", type=Path, help="another checkout, in a folder named `banyan`")
    parser.add_argument("--every", type=int, default=1, help="read one passage in so many")
    parser.add_argument("--pairs", type=int, default=1)
    given = parser.parse_args()
    checkouts = [Path(__file__).parents[1], *([given.other] if given.other else [])]
    table = Table("kind", "files", *(head for checkout in checkouts for head in (
        f"{checkout.resolve().parent.name}: passages", "loading, s", "reading, s", "passages/s", "k chars/s")), "ratio")
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "services.log")
        write_log(log)
        for kind, files in by_kind([*given.paths, log]).items():
            turns = [[measure(checkout, files, given.every) for checkout in checkouts] for _ in range(given.pairs)]
            ratio = statistics.median(first.passages_a_second / last.passages_a_second for first, *_, last in (
                [*turn, turn[-1]] for turn in turns))
            medians = [Speed(*map(statistics.median, zip(*same, strict=True))) for same in zip(*turns, strict=True)]
            table.add_row(kind, str(len(files)), *(cell for speed in medians for cell in (
                str(speed.passages), f"{speed.loading:.1f}", f"{speed.reading:.1f}", f"{speed.passages_a_second:.1f}",
                f"{speed.characters_a_second:.1f}")),
                f"{ratio:.2f}")
    Console(width=170).print(table)


if __name__ == "__main__":
    main()
