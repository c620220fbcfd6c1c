"""Opening, memory and a question's time of LightRAG, HippoRAG and Banyan on the same texts, triples and embeddings.

`python benchmarks/peer_sizes.py --data FOLDER --documents N [--lightrag PYTHON] [--hipporag PYTHON]`: FOLDER holds
MuSiQue-train-100 with its recorded triples, and the interpreters have the peers (see benchmarks/peers). Each system
builds from N passages, for ten minutes at most. Then a new process opens what there is and answers the questions one
after the other. Models and embeddings are this process's, over the protocol server, which answers extractions as they
were recorded and questions with their gold answers at once; a question costs the endpoint's embedding as well.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from banyan.agents.resources import Resources
from banyan.config import Settings
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
sys.path.append(str(HERE.parent))

from bench_peers import dataset, script  # noqa: E402
from peer_endpoint import PeerEndpoint  # noqa: E402

from tests import llm_server  # noqa: E402

LONGEST = 600
"""Seconds that a build may take."""
Job = dict[str, Any]


def built(command: list[str], job: Job, path: Path) -> float | None:
    """Seconds of a build; None: it was not done in time."""
    path.write_text(json.dumps(job), "utf-8")
    log = path.with_suffix(".build")
    started = time.perf_counter()
    try:
        subprocess.run([*command, str(path)], check=True, timeout=LONGEST, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=log.open("wb"))
    except subprocess.TimeoutExpired:
        return None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"{' '.join(command)} ended with code {error.returncode}:\n"
                         f"{log.read_text('utf-8', 'replace')[-2000:]}") from None
    return time.perf_counter() - started


def asked(command: list[str], questions: Iterable[str], path: Path) -> dict[str, float]:
    """Seconds until a new process is ready and has its first answer, its memory, and the time of later questions."""
    asking = iter(questions)
    started = time.perf_counter()
    came, held = list[float](), 0.0
    with subprocess.Popen([*command, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          stderr=path.with_suffix(".log").open("wb")) as process:
        for line in process.stdout or ():
            if not line.startswith(('{"built"', '{"id"')):
                continue
            came.append(time.perf_counter() - started)
            held = max(held, private(process.pid))
            if (question := next(asking, None)) is None:
                break
            print(json.dumps({"id": "asked", "question": question}), file=process.stdin, flush=True)
        else:
            raise SystemExit(f"{command} ended before its last answer: see {path.with_suffix('.log')}")
    later = np.diff(came[1:])
    return {"ready": came[0], "first": came[1] - came[0], "p50": float(np.median(later)), "memory": held}


def private(process: int) -> float:
    """MB that a process holds by itself."""
    rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
    return sum(int(kb) for kb in re.findall(r"^(?:Private_Dirty|Swap):\s*(\d+)", rollup, re.MULTILINE)) / 1024


def main() -> None:
    """Run all of them and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--lightrag")
    parser.add_argument("--hipporag")
    arguments = parser.parse_args()
    systems = {name: [python, str(HERE / "peers" / f"ask_{name}.py")] for name, python in (
        ("banyan", sys.executable), ("lightrag", arguments.lightrag), ("hipporag", arguments.hipporag)) if python}
    table = Table("", "built in, s", "process to ready, s", "first question, s", "p50, ms", "private memory, MB",
                  title=f"{arguments.documents} passages")
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        answers = dataset(arguments.data, base / "data", arguments.documents)
        corpus = json.loads((base / "data" / "musique_corpus.json").read_text("utf-8"))
        (recorded,) = arguments.data.glob("openie_*.json")
        with llm_server.LlmServer(script(recorded, answers)) as server, Resources(
                Settings(home=base / "home", llm_base_url=server.base_url, llm_model="recorded")) as resources, \
                resources.standalone_calls() as calls, \
                PeerEndpoint(resources.settings, resources.embedder, calls).serve() as url:
            for name, command in systems.items():
                (base / name).mkdir()
                job = {"documents": [{"id": f"d{row}"} | one for row, one in enumerate(corpus)], "base_url": url,
                       "model": "recorded", "dimension": resources.embedder.dimension, "folder": str(base / name),
                       "top_k": 10, "instruction": "Answer in the fewest words."}
                seconds = built(command, job, base / f"{name}.json")
                if seconds is None:
                    table.add_row(name, f"more than {LONGEST}")
                    continue
                found = asked(command, answers, base / f"{name}.json")
                table.add_row(name, f"{seconds:.0f}", f"{found['ready']:.1f}", f"{found['first']:.2f}",
                              f"{1000 * found['p50']:.0f}", f"{found['memory']:.0f}")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
