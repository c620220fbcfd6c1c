"""Measure how fast a build with an LLM is, over a real HTTP endpoint that answers after a fixed time.

`python benchmarks/llm_throughput.py` (`--documents 400 --seconds 2 0 --embedding hashed real --runs 3`; `--lightrag
PYTHON`, an interpreter that has lightrag-hku, for that on the same passages, endpoint and hashed embeddings). The
endpoint runs in a separate process and answers with the triples that GPT-3.5 once extracted from the passages. With
`llm_concurrency` calls at once and answers after s seconds at most concurrency / s chunks a second can be extracted.
The embedding model is the other limit, measured in the same run: the texts that the build embedded, in the same
batches, with no other work. Machines are shared and noisy: each measure's best of several runs is shown, and only
ratios can be compared.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llm_peer_lightrag
from banyan.agents.construction.graph import build_graph
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.models.embedding.embedder import Embedder, Vectors
from banyan.models.embedding.embedding_models import load_embedder
from llm_world import KB, endpoint_apart, write_passages
from rich.console import Console
from rich.table import Table

CONCURRENCY = 32
WARM = 40


class KeptTexts:
    """An `Embedder` that remembers the batches it passes to another one."""

    def __init__(self, embedder: Embedder) -> None:
        """Wrap an embedder."""
        self.name, self.dimension, self.fingerprint = embedder.name, embedder.dimension, embedder.fingerprint
        self._embedder = embedder
        self.batches: list[list[str]] = []
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode texts and remember the batch."""
        with self._lock:
            self.batches.append(list(texts))
        return self._embedder.encode(texts)

    def again(self) -> float:
        """Encode the remembered batches again, alone, and return the seconds."""
        started = time.perf_counter()
        for texts in self.batches:
            self._embedder.encode(texts)
        return time.perf_counter() - started


@dataclass(frozen=True)
class Run:
    """One build: chunks, and seconds of its stages."""

    chunks: int
    extracting: float
    """From the first call to the last answer, while earlier batches are written and embedded."""
    written: float
    """From the start until all chunks are extracted, bounded, embedded and written."""
    whole: float
    """With resolution, communities and their descriptions."""
    embedding: float
    """The time of embedding the same texts with no other work."""


def build(home: Path, source: Path, base_url: str, embedder: Embedder) -> Run:
    """Build a knowledge base, and return the time of each stage."""
    kept = KeptTexts(embedder)
    settings = Settings(home=home, llm_base_url=base_url, llm_model="recorded", llm_concurrency=CONCURRENCY,
                        _env_file=None)
    given: Any = {"knowledge_base": KB, "paths": [str(source)], "schema": "open"}
    with Resources(settings, kept) as resources:
        started = begun = time.perf_counter()
        extracting = written = 0.0
        batches = 0
        report: dict[str, Any] = {}
        async def watch() -> None:
            nonlocal begun, extracting, written, batches, report
            async for update in build_graph(resources).astream(given, stream_mode="updates"):
                now, node = time.perf_counter(), next(iter(update))
                if node == "ingest":
                    begun = now
                elif node == "extract":
                    extracting = now - begun
                elif node == "write":
                    written = now - started
                    batches = len(kept.batches)
                elif node == "index":
                    report = update["index"]["report"]

        asyncio.run(watch())
        whole = time.perf_counter() - started
    assert not report["chunks_failed"], report
    assert not report["stopped"], report
    del kept.batches[batches:]
    return Run(report["chunks"], extracting, written, whole, kept.again())


def _best(runs: Sequence[Run]) -> Run:
    return Run(runs[0].chunks, *(min(getattr(run, name) for run in runs)
                                 for name in ("extracting", "written", "whole", "embedding")))


def _embedder(name: str) -> Embedder:
    if name == "real":
        return load_embedder(Settings(_env_file=None))
    from tests.hashed_embedding import HashedEmbedder  # noqa: PLC0415  (llm_world says where)

    return HashedEmbedder()


def peer(python: str, folder: Path, source: Path, seconds: float) -> str:
    """Build with LightRAG by an interpreter that has it, and return its report."""
    with endpoint_apart(seconds, llm_peer_lightrag.script) as base_url:
        command = [python, llm_peer_lightrag.__file__, str(source), str(folder), base_url]
        return subprocess.run(command, check=True, cwd=folder, stdout=subprocess.PIPE, text=True).stdout


def _row(name: str, seconds: float, run: Run) -> list[str]:
    rates = [run.chunks / one for one in (run.extracting, run.written, run.whole, run.embedding)]
    ideal = CONCURRENCY / seconds if seconds else float("inf")
    lower = min(ideal, rates[3])
    return [name, f"{1000 * seconds:g} ms", f"{ideal:.0f}", f"{rates[3]:.0f}", *(f"{rate:.1f}" for rate in rates[:3]),
            f"{rates[0] / ideal:.0%}" if seconds else "-", f"{rates[1] / lower:.0%}"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=400)
    parser.add_argument("--seconds", type=float, nargs="+", default=[2.0, 0.0], help="how long an answer takes")
    parser.add_argument("--embedding", choices=["hashed", "real"], nargs="+", default=["hashed", "real"])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--lightrag", metavar="PYTHON", default="", help="interpreter with lightrag-hku")
    arguments = parser.parse_args()
    columns = ["embedding", "answer", "ideal", "embedding alone", "extracting", "until written", "whole build",
               "extracting / ideal", "until written / lower of both"]
    table = Table(*columns, title=f"{arguments.documents} documents, {CONCURRENCY} calls at once: chunks a second, "
                  f"best of {arguments.runs} runs")
    with tempfile.TemporaryDirectory() as folder:
        source = write_passages(Path(folder) / "passages.jsonl", arguments.documents)
        warm = write_passages(Path(folder) / "warm.jsonl", WARM)
        for name in arguments.embedding:
            embedder = _embedder(name)
            for seconds in arguments.seconds:
                with endpoint_apart(seconds) as base_url:
                    # A first build pays for imports, which a process pays once.
                    build(Path(folder) / f"{name}-{seconds}-warm", warm, base_url, embedder)
                    runs = [build(Path(folder) / f"{name}-{seconds}-{number}", source, base_url, embedder)
                            for number in range(arguments.runs)]
                table.add_row(*_row(name, seconds, _best(runs)))
        peers = [f"{1000 * seconds:g} ms: {peer(arguments.lightrag, Path(folder), source, seconds)}"
                 for seconds in arguments.seconds if arguments.lightrag]
    Console(width=160).print(table)
    sys.stdout.writelines(peers)


if __name__ == "__main__":
    main()
