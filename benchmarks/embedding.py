"""Compare the default embedder (ONNX) with the same model in sentence-transformers (torch).

Run `python benchmarks/embedding.py`. Only the ratios within a run are meaningful: both sides take turns
on the same machine, and the best of several rounds counts.
"""

import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
from banyan.config import Settings
from banyan.models.embedding.embedder import Embedder
from banyan.models.embedding.embedding_models import load_embedder
from banyan.models.embedding.minilm import bundled_model
from banyan.models.embedding.unbundled import SentenceTransformerEmbedder
from rich.console import Console
from rich.table import Table

SENTENCES = 512
ROUNDS = 3
QUERIES = 30
WORDS = [
    "river", "company", "director", "film", "born", "city", "founded", "award", "novel", "team", "league",
    "university", "president", "album", "song", "state", "north", "council", "station", "actor", "played",
]
IMPORTS = "from banyan.config import Settings; from banyan.models"
START_ONNX = f"{IMPORTS}.embedding.loading import load_embedder; load_embedder(Settings()).encode(['query'])"
START_TORCH = (
    f"{IMPORTS}.embedding.unbundled import SentenceTransformerEmbedder as E; E({str(bundled_model())!r}, 32)"
    ".encode(['query'])"
)


def sentences() -> list[str]:
    """Make different sentences of about 27 tokens, the same in every run."""
    chance = random.Random(42)
    return [
        f"{number} " + " ".join(chance.choice(WORDS) for _ in range(max(3, round(chance.gauss(23, 7)))))
        for number in range(SENTENCES)
    ]


def seconds(action: Callable[[], object]) -> float:
    """Return the time that one call takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def best_of_turns(actions: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """Return each action's shortest time in seconds; they take turns, which spreads other load evenly."""
    return [min(times) for times in zip(*([seconds(a) for a in actions] for _ in range(rounds)), strict=True)]


def queries(model: Embedder, texts: Sequence[str]) -> Callable[[], None]:
    """Return an action that encodes the first texts one by one."""

    def run() -> None:
        for text in texts[:QUERIES]:
            model.encode([text])

    return run


def start(code: str) -> Callable[[], object]:
    """Return an action that runs code in a new Python process."""
    return lambda: subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def main() -> None:
    """Measure and print."""
    texts = sentences()
    settings = Settings()
    onnx = load_embedder(settings)
    torch = SentenceTransformerEmbedder(str(bundled_model()), settings.embedding_batch)
    difference = float(np.abs(onnx.encode(texts) - torch.encode(texts)).max())

    bulk = best_of_turns([lambda: torch.encode(texts), lambda: onnx.encode(texts)], ROUNDS)
    single = best_of_turns([queries(torch, texts), queries(onnx, texts)], ROUNDS)
    started = best_of_turns([start(START_TORCH), start(START_ONNX)], 2)
    loaded = seconds(lambda: load_embedder(settings))

    table = Table("", "torch", "onnx", "ratio")
    table.add_row("sentences/s", *(f"{SENTENCES / t:.0f}" for t in bulk), f"{bulk[0] / bulk[1]:.2f}")
    table.add_row("query, ms", *(f"{1000 * t / QUERIES:.1f}" for t in single), f"{single[0] / single[1]:.2f}")
    table.add_row("process start to first vector, s", *(f"{t:.2f}" for t in started),
                  f"{started[0] / started[1]:.2f}")
    console = Console()
    console.print(table)
    console.print(f"load of the cached model, libraries imported: {loaded:.2f} s")
    console.print(f"largest difference between their vectors: {difference:.1e}")


if __name__ == "__main__":
    main()
