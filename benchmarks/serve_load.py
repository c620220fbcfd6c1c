"""Measure how `banyan serve` handles many clients: errors, answer times, and whether its memory is stable.

Run `python benchmarks/serve_load.py [--clients 50] [--seconds 60] [--streamed] [--workers N] [--llm SECONDS]`. The
English examples are built by the rules and served by a separate process; each client asks one of their questions after
another over its own connection. A slow client requests streamed answers and reads a byte a second, and a watcher asks
every half second whether the server is alive: how long that takes shows whether the event loop is free.

With `--workers N` one process and N processes behind one port take turns, and the last line is the ratio of their
answers. With `--llm` a model is used, the tests' protocol server, which takes the given seconds for each answer; every
question is then different, because answers to equal prompts are cached.

Clients and server share the machine. The server's processor time for each answer is printed beside the times, which
depend on the machine's other load: `clients x that time / processors` is their lower bound.
"""

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np

PROJECT = Path(__file__).resolve().parent.parent
sys.path.append(str(PROJECT))

from tests import serving  # noqa: E402  (what tests start servers with)

_KB = "english"
_TIMEOUT = 120.0
_EVERY = 5.0
"""Seconds between two readings of the memory."""
_SLOW_BUFFER = 4096
"""The receive buffer of the slow client: with the usual megabytes no server would notice it."""


@dataclass
class Seen:
    """What clients saw, and what the server used."""

    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    alive: list[float] = field(default_factory=list)
    memory: list[list[float]] = field(default_factory=list)
    slow_bytes: int = 0


def questions() -> list[str]:
    """Return the examples' English questions."""
    lines = (PROJECT / "examples" / "questions.jsonl").read_text("utf-8").splitlines()
    return [one["question"] for one in map(json.loads, lines) if one["language"] == "en"]


def resident(process: int) -> float:
    """Return a process's resident memory in MB."""
    found = re.search(r"^VmRSS:\s*(\d+)", Path(f"/proc/{process}/status").read_text("ascii"), re.MULTILINE)
    return int(found[1]) / 1024 if found else float("nan")


def private(process: int) -> float:
    """Return a process's private memory in MB."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text("ascii")
    return sum(int(size) for size in re.findall(r"^Private_\w+:\s*(\d+)", lines, re.MULTILINE)) / 1024


def answering(process: int) -> list[int]:
    """Return the processes of a server that answer: its workers, or itself."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text("ascii").split()
    workers = [int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]
    return workers or [process]


def processor_seconds(process: int) -> float:
    """Return the processor seconds that a process has used so far."""
    fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _connection(url: str) -> httpx.AsyncClient:
    # Without this each client would load the machine's certificates, which takes a tenth of a second.
    return httpx.AsyncClient(base_url=url, timeout=_TIMEOUT, verify=False)


async def client(url: str, number: int, end: float, seen: Seen, *, streamed: bool, distinct: bool) -> None:
    """Ask one question after another until the time is over."""
    drawn, asked = random.Random(number), questions()
    path = f"/api/knowledge-bases/{_KB}/ask{'/stream' if streamed else ''}"
    async with _connection(url) as http:
        while time.monotonic() < end:
            began = time.monotonic()
            question = drawn.choice(asked) + (f" ({number}, {began:.6f})" if distinct else "")
            try:
                said = await http.post(path, json={"question": question})
            except httpx.HTTPError as error:
                seen.errors.append(repr(error))
                continue
            seen.seconds.append(time.monotonic() - began)
            if said.status_code != httpx.codes.OK or (streamed and "event: answer" not in said.text):
                seen.errors.append(f"{said.status_code} {said.text[:200]}")


async def slow_client(url: str, end: float, seen: Seen) -> None:
    """Request streamed answers, and read a byte a second."""
    host, port = url.removeprefix("http://").split(":")
    body = json.dumps({"question": questions()[0], "trace": True}).encode()
    reader, writer = await asyncio.open_connection(host, int(port), limit=_SLOW_BUFFER)
    writer.write(f"POST /api/knowledge-bases/{_KB}/ask/stream HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: "
                 f"application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
    while time.monotonic() < end:
        seen.slow_bytes += len(await reader.read(1))
        await asyncio.sleep(1)
    writer.close()


async def watch(server: serving.Served, end: float, seen: Seen) -> None:
    """Ask whether the server is alive, and look at its memory now and then."""
    looked = 0.0
    async with _connection(server.url) as http:
        while time.monotonic() < end:
            began = time.monotonic()
            (await http.get("/api/health")).raise_for_status()
            seen.alive.append(time.monotonic() - began)
            if began - looked >= _EVERY:
                seen.memory.append([private(process) for process in answering(server.process.pid)])
                looked = began
            await asyncio.sleep(0.5)


async def load(server: serving.Served, clients: int, seconds: float, *, streamed: bool, slow: bool,
               distinct: bool = False) -> dict[str, Any]:
    """Let clients ask for some seconds, and return what they saw."""
    processes = answering(server.process.pid)
    seen, end = Seen(), time.monotonic() + seconds
    began, before = time.monotonic(), [processor_seconds(process) for process in processes]
    async with asyncio.TaskGroup() as tasks:
        for number in range(clients):
            tasks.create_task(client(server.url, number, end, seen, streamed=streamed, distinct=distinct))
        if slow:
            tasks.create_task(slow_client(server.url, end, seen))
        tasks.create_task(watch(server, end, seen))
    elapsed = time.monotonic() - began
    took = [processor_seconds(process) - one for process, one in zip(processes, before, strict=True)]
    return {"processes": len(processes), "clients": clients, "slow_client": slow, "seconds": round(elapsed, 1),
            "answers": len(seen.seconds), "errors": len(seen.errors),
            "first_error": seen.errors[0] if seen.errors else "", "per_second": round(len(seen.seconds) / elapsed, 1),
            **shares("answer", seen.seconds), **shares("alive", seen.alive),
            "processor_ms_per_answer": round(sum(took) / len(seen.seconds) * 1000),
            "processors_used": [round(one / elapsed, 2) for one in took], "slow_client_bytes": seen.slow_bytes,
            "private_mb": [[round(one) for one in each] for each in seen.memory]}


def shares(name: str, seconds: Sequence[float]) -> dict[str, int]:
    """Return the median and the 95th percentile of times in milliseconds, by their names in the report."""
    return {f"{name}_p{share}_ms": round(float(np.percentile(seconds, share)) * 1000) for share in (50, 95)}


@contextmanager
def model(seconds: float | None, clients: int) -> Iterator[dict[str, str]]:
    """Start a model that takes this many seconds for each answer, or none, and yield a server's settings for it.

    The model may be called for as many clients at once, so the server's usual limit is not measured.
    """
    if seconds is None:
        yield {}
        return
    with subprocess.Popen([sys.executable, "-m", "tests.llm_server", "--seconds", str(seconds)], cwd=PROJECT,
                          stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield {"BANYAN_LLM_BASE_URL": process.stdout.readline().strip(), "BANYAN_LLM_MODEL": "scripted",
                   "BANYAN_LLM_CONCURRENCY": str(clients)}
        finally:
            process.terminate()


def compare(folder: Path, chosen: argparse.Namespace, settings: dict[str, str]) -> None:
    """Measure one process and several in turn, twice each for half the time; then several for the whole time."""
    rates: dict[int, list[float]] = {1: [], chosen.workers: []}
    for workers, seconds in [*((number, chosen.seconds / 2) for number in (*rates, *rates)),
                             (chosen.workers, chosen.seconds)]:
        with serving.served(folder, "--workers", str(workers), **settings) as server:
            # Not counted: the first questions open the knowledge base in each process.
            asyncio.run(load(server, chosen.clients, 5, streamed=False, slow=False, distinct=bool(settings)))
            one = asyncio.run(load(server, chosen.clients, seconds, streamed=chosen.streamed, slow=False,
                                   distinct=bool(settings)))
        print(json.dumps(one), flush=True)
        if seconds < chosen.seconds:
            rates[workers].append(one["per_second"])
    print(f"{chosen.workers} processes give {sum(rates[chosen.workers]) / sum(rates[1]):.2f} times the answers of one")


def main() -> None:
    """Print a line of JSON for each round.

    One client alone; all of them without and with a slow one, in turn and equally long; all for the whole time with it.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--streamed", action="store_true", help="have answers streamed")
    parser.add_argument("--workers", type=int, default=1, help="compare so many processes with one")
    parser.add_argument("--llm", type=float, metavar="SECONDS", help="ask a model that takes so long for an answer")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, model(chosen.llm, chosen.clients) as settings:
        serving.build_demo(Path(folder), _KB)
        if chosen.workers > 1:
            compare(Path(folder), chosen, settings)
            return
        with serving.served(Path(folder), **settings) as server:
            httpx.post(f"{server.url}/api/knowledge-bases/{_KB}/ask", json={"question": questions()[0]},
                       timeout=_TIMEOUT).raise_for_status()  # the first one opens the knowledge base
            compared = [(chosen.clients, chosen.seconds / 3, slow) for slow in (False, True, False, True)]
            rounds = [(1, 5.0, False), *compared, (chosen.clients, chosen.seconds, True)]
            for clients, seconds, slow in rounds:
                print(json.dumps(asyncio.run(load(server, clients, seconds, streamed=chosen.streamed, slow=slow,
                                                  distinct=bool(settings)))), flush=True)


if __name__ == "__main__":
    main()
