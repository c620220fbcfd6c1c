"""What the benchmarks of the LLM path share: MuSiQue passages, and an endpoint that knows their recorded triples."""

import json
import multiprocessing
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data" / "musique_train100"
CORPUS = DATA / "musique_train_corpus.json"
RECORDED = DATA / "openie_musique_train_results_ner_gpt-3.5-turbo-1106_1890.json"
QUESTIONS = DATA / "musique_train.json"
KB = "benchmark"

sys.path.append(str(ROOT))
from recorded_brain import recorded_brain  # noqa: E402

from tests import llm_server  # noqa: E402


def write_passages(path: Path, count: int) -> Path:
    """Write the first passages of the corpus as JSON lines, one document each."""
    passages = json.loads(CORPUS.read_text("utf-8"))[:count]
    path.write_text("".join(json.dumps({"id": str(number), **passage}, ensure_ascii=False) + "\n"
                            for number, passage in enumerate(passages)), "utf-8")
    return path


@contextmanager
def endpoint_apart(seconds: float, script: Callable[[Path], Any] = recorded_brain, *, rate: float | None = None,
                   streams: bool = True) -> Iterator[str]:
    """Run an endpoint of recorded triples in a separate process, which leaves the measured one undisturbed.

    Args:
        seconds: how long each answer takes; answers are concurrent.
        script: makes the answering function from the recorded file; a module's function, as the process imports it.
        rate: tokens of an answer that are sent in a second; None means at once.
        streams: whether a request for a stream is answered with one.

    Yields:
        Its base URL.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, seconds, script, rate, streams), daemon=True)
    process.start()
    try:
        assert ours.poll(60), "the endpoint did not start within a minute"
        yield str(ours.recv())
    finally:
        process.terminate()
        process.join()


def _serve(connection: Connection, seconds: float, script: Callable[[Path], Any], rate: float | None,
           streams: bool) -> None:
    with llm_server.LlmServer(script(RECORDED), seconds=seconds, rate=rate, streams=streams) as server:
        connection.send(server.base_url)
        while True:
            time.sleep(60)


def stats(base_url: str) -> dict[str, Any]:
    """Return the counts of an endpoint's requests so far."""
    with urllib.request.urlopen(base_url.removesuffix("/v1") + "/stats", timeout=30) as response:
        return dict(json.load(response))
