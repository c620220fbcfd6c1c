"""Measure a build with the rules reasoner and questions on the result, on corpora of two sizes.

Run `python benchmarks/build_and_ask.py` (`--documents 100 400`, `--profile` for a profile of
asking). The corpus is synthetic and the same in every run. Machines differ and are shared, so only ratios within a run
can be compared between runs: embedding to the rest, bytes written to bytes stored, a question to embedding it, and a
document's time in the larger corpus to that in the smaller.
"""

import argparse
import cProfile
import pstats
import random
import re
import resource
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from banyan.agents.construction import graph as construction
from banyan.agents.resources import Resources
from banyan.agents.retrieval import graph as retrieval
from banyan.config import Settings
from banyan.models.embedding.embedder import Embedder, Vectors
from banyan.models.embedding.embedding_models import load_embedder
from rich.console import Console
from rich.table import Table

SEED = 42
QUESTIONS = 50
NAME = "benchmark"
# More than one worker, because LangGraph's stream takes one for itself; as the command line does.
WORKERS = 3

ONSETS = ["Bar", "Cal", "Dor", "Fen", "Gal", "Hol", "Jar", "Kel", "Lor", "Mar", "Nor", "Pel", "Ros", "Sel", "Tor"]
MIDDLES = ["a", "e", "i", "o", "an", "en", "in", "on", "ar", "er", "il", "ol"]
ENDS = {"person": ["ric", "sen", "win", "das", "lek"], "place": ["burg", "ford", "stad", "ham", "mouth"]}
FIRST = ["Anna", "Bruno", "Clara", "David", "Elena", "Felix", "Greta", "Henry", "Irene", "Jonas", "Karla", "Louis"]
CRAFTS = ["physicist", "painter", "composer", "chemist", "architect", "engineer", "botanist", "novelist"]


@dataclass(frozen=True)
class Corpus:
    """Documents by file name and questions about them."""

    texts: dict[str, str]
    questions: list[str]


class TimedEmbedder:
    """An `Embedder` that adds up another one's time and number of texts."""

    def __init__(self, embedder: Embedder) -> None:
        """Wrap an embedder."""
        self.name, self.dimension, self.fingerprint = embedder.name, embedder.dimension, embedder.fingerprint
        self._embedder = embedder
        self.seconds = 0.0
        self.texts = 0
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode texts and count the time, one thread at a time: otherwise times would be counted twice."""
        with self._lock:
            started = time.perf_counter()
            vectors = self._embedder.encode(texts)
            self.seconds += time.perf_counter() - started
            self.texts += len(texts)
        return vectors


@dataclass(frozen=True)
class Measured:
    """The measurements of one size of corpus."""

    documents: int
    chunks: int
    entities: int
    triples: int
    seconds: float
    embedding: float
    embedded: int
    written: int
    stored: int
    asked: list[float]
    answered: int
    asking_embedding: float
    one_embedding: float
    ratio: float


def corpus(documents: int) -> Corpus:
    """Make documents about people and their places; each names people and places of others."""
    chance = random.Random(SEED)
    names = {kind: [f"{onset}{middle}{end}" for onset in ONSETS for middle in MIDDLES for end in ends]
             for kind, ends in ENDS.items()}
    for group in names.values():
        chance.shuffle(group)
    people = [f"{chance.choice(FIRST)} {surname}" for surname in names["person"]]
    texts: dict[str, str] = {}
    questions: list[str] = []
    for number in range(documents):
        person, place = _pick(people, number // 2), _pick(names["place"], number // 4)
        teacher, river = _pick(people, number // 3 + 1), f"River {_pick(names['place'], number // 9 + 400)}"
        if number % 2 == 0:
            year = 1700 + number % 250
            texts[f"person{number:05}.txt"] = (
                f"{person} was a {chance.choice(CRAFTS)} born in {place} on {1 + number % 28} May {year}. "
                f"{person} studied at the University of {place}. {person} worked with {teacher}. "
                f"In {year + 40} {person} moved to {_pick(names['place'], number // 5)} and wrote about the {river}. "
                f"{person} died in {year + 70}.\n")
            questions += [f"Where was {person} born?", f"On which river does the birthplace of {person} lie?"]
        else:
            texts[f"place{number:05}.txt"] = (
                f"{place} is a city in {_pick(names['place'], number // 40 + 500)}. {place} lies on the {river}. "
                f"The University of {place} was founded by {teacher} in {1500 + number % 300}. "
                f"{person} lived in {place}. The city has {chance.randrange(10, 900)} thousand inhabitants.\n")
            questions += [f"Who founded the University of {place}?",
                          f"In which year was the founder of the University of {place} born?"]
    step = max(1, len(questions) // QUESTIONS)
    return Corpus(texts, questions[::step][:QUESTIONS])


def _pick(names: Sequence[str], number: int) -> str:
    return names[number % len(names)]


def written_bytes() -> int:
    """Return the bytes that this process has caused to be written to storage, as the kernel counts them."""
    found = re.search(r"^write_bytes: (\d+)", Path("/proc/self/io").read_text(), re.MULTILINE)
    return int(found[1]) if found else 0


def stored_bytes(folder: Path) -> int:
    """Return the size of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measure(documents: int, embedder: Embedder, profile: cProfile.Profile | None) -> Measured:
    """Build and ask in a separate home folder."""
    made = corpus(documents)
    timed = TimedEmbedder(embedder)
    # Not in /tmp, which may be memory: the kernel would count nothing.
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        home, source = Path(folder) / "home", Path(folder) / "documents"
        source.mkdir()
        for name, text in made.texts.items():
            (source / name).write_text(text, "utf-8")
        settings = Settings(home=home, llm_base_url=None)
        with Resources(settings, timed) as resources:
            before, started = written_bytes(), time.perf_counter()
            report = construction.build_graph(resources).invoke(
                {"knowledge_base": NAME, "paths": [str(source)]}, {"max_concurrency": WORKERS})["report"]
            seconds, written = time.perf_counter() - started, written_bytes() - before
            embedding, embedded = timed.seconds, timed.texts
            graph = retrieval.build_graph(resources)
            # The first question reads the knowledge base into memory; a server does that once.
            graph.invoke({"knowledge_base": NAME, "question": "Who is known?"})
            timed.seconds = 0.0
            asked, alone, answered = [], [], 0
            if profile:
                profile.enable()
            for question in made.questions:
                # In turns, which spreads other load on the machine evenly.
                alone.append(_milliseconds(embedder, question))
                started = time.perf_counter()
                answer = graph.invoke({"knowledge_base": NAME, "question": question},
                                      {"max_concurrency": 1 if profile else None})
                asked.append(1000 * (time.perf_counter() - started))
                answered += not answer["abstained"]
            if profile:
                profile.disable()
            asking = timed.seconds
        stored = stored_bytes(home)
    return Measured(documents=documents, chunks=report["chunks"], entities=report["entities"],
                    triples=report["triples"], seconds=seconds, embedding=embedding, embedded=embedded,
                    written=written, stored=stored, asked=asked, answered=answered,
                    asking_embedding=1000 * asking / sum(asked), one_embedding=float(np.median(alone)),
                    ratio=float(np.median(np.array(asked) / np.array(alone))))


def _milliseconds(embedder: Embedder, text: str) -> float:
    started = time.perf_counter()
    embedder.encode([text])
    return 1000 * (time.perf_counter() - started)


def show(results: Sequence[Measured], console: Console) -> None:
    """Print the measurements and their growth."""
    table = Table("", *(f"{result.documents} documents" for result in results))
    rows: list[tuple[str, list[str]]] = [
        ("chunks, entities, triples", [f"{r.chunks}, {r.entities}, {r.triples}" for r in results]),
        ("documents/s", [f"{r.documents / r.seconds:.1f}" for r in results]),
        ("chunks/s", [f"{r.chunks / r.seconds:.1f}" for r in results]),
        ("build, s", [f"{r.seconds:.1f}" for r in results]),
        ("  of it embedding", [f"{r.embedding / r.seconds:.0%} ({r.embedded} texts)" for r in results]),
        ("  of it the rest", [f"{1 - r.embedding / r.seconds:.0%}" for r in results]),
        ("written, MB", [f"{r.written / 1e6:.1f}" for r in results]),
        ("stored, MB", [f"{r.stored / 1e6:.1f}" for r in results]),
        ("written / stored", [f"{r.written / r.stored:.2f}" for r in results]),
        ("answered", [f"{r.answered} of {len(r.asked)}" for r in results]),
        ("ask p50, ms", [f"{np.percentile(r.asked, 50):.1f}" for r in results]),
        ("ask p95, ms", [f"{np.percentile(r.asked, 95):.1f}" for r in results]),
        ("  of it embedding", [f"{r.asking_embedding:.0%}" for r in results]),
        ("one embedding, ms", [f"{r.one_embedding:.1f}" for r in results]),
        ("ask / one embedding, p50", [f"{r.ratio:.1f}" for r in results]),
    ]
    for name, values in rows:
        table.add_row(name, *values)
    console.print(table)
    first, last = results[0], results[-1]
    if first.documents != last.documents:
        growth = (last.seconds / last.documents) / (first.seconds / first.documents)
        console.print(f"time per document at {last.documents} against {first.documents}: {growth:.2f}")
        console.print(f"ask / one embedding at {last.documents} against {first.documents}: "
                      f"{last.ratio / first.ratio:.2f}")
    console.print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def main() -> None:
    """Measure each size in turn and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, nargs="+", default=[100, 400], help="sizes of the corpora")
    parser.add_argument("--profile", action="store_true", help="show where asking spends its time (largest corpus)")
    arguments = parser.parse_args()
    console = Console()
    embedder = load_embedder(Settings())
    # Imports and the model's first run belong to no corpus.
    measure(2, embedder, None)
    profile = cProfile.Profile() if arguments.profile else None
    sizes = sorted(arguments.documents)
    show([measure(size, embedder, profile if size == sizes[-1] else None) for size in sizes], console)
    if profile:
        pstats.Stats(profile).sort_stats("cumulative").print_stats(r"banyan|main|chromadb|bm25s", 45)


if __name__ == "__main__":
    main()
