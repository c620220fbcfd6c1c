"""Measure how `banyan serve` treats 45 clients beside five hostile ones, against 45 clients alone.

Run `python benchmarks/load.py [--clients 45] [--seconds 60] [--asks-at-once N]`. The English examples are built by the
rules and served by a separate process, with an API key for each client. The clients ask one of the examples'
questions after another. The hostile ones:

- one has ten answers streamed and reads a byte a second,
- one keeps 300 connections open that never send a whole request,
- one sends bodies a byte a second, twenty at once,
- one asks questions that were made to be slow, as long as a question may be,
- one uploads documents that were made to be slow, build after build.

Required: no error for the 45, and a p50 of at most twice that without the others. Otherwise it exits with 1.
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

PROJECT = Path(__file__).resolve().parent.parent
sys.path.append(str(PROJECT))

from banyan.server.security.keys import KEYS_FILE, Keys  # noqa: E402

from benchmarks.serve_load import Seen, processor_seconds, questions, resident, shares  # noqa: E402
from tests import serving  # noqa: E402
from tests.fuzz.serving_requests import question  # noqa: E402

_KB = "english"
_ASK = f"/api/knowledge-bases/{_KB}/ask"
_TIMEOUT = 120.0
_MOST_SLOWER = 2.0
_SLOW_READERS, _HALF_OPEN, _SLOW_BODIES = 10, 300, 20
_SLOW_QUESTIONS = (
    "Which is longer, " + "A or " * 2_400 + "B?", "the river of " * 700 + "Ulm?", "是否比" * 3_000,
    "谁和" * 1_500 + "？",
    "Was " + "born before " * 800 + "Ada?", " " * 9_000 + "Who?", "(" * 9_000, "the capital which " * 500,
    "Who " + "is the mother of " * 550 + "Ada?", "1,000 km " * 1_000)
_SLOW_DOCUMENTS = {
    "spaces.txt": "Ada " + " " * 4_000_000 + "Blum", "tags.html": "<table><tr><td>" * 3_000,
    "marks.md": "[1" * 500_000,
    "wide.csv": ",".join(f"c{n}" for n in range(900)) + "\n" + ("1," * 899 + "1\n") * 300,
    "lines.jsonl": "{\n" * 100_000, "words.txt": "Ada Blum, born in Warsaw, and " * 8_000}


def _connection(url: str, key: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=url, timeout=_TIMEOUT, verify=False, headers={"X-API-Key": key})


async def client(url: str, key: str, number: int, end: float, seen: Seen) -> None:
    """Ask one question after another until the time is over."""
    drawn, asked = random.Random(number), questions()
    async with _connection(url, key) as http:
        while time.monotonic() < end:
            began = time.monotonic()
            try:
                said = await http.post(_ASK, json={"question": drawn.choice(asked)})
            except httpx.HTTPError as error:
                seen.errors.append(repr(error))
                continue
            seen.seconds.append(time.monotonic() - began)
            if said.status_code != httpx.codes.OK:
                seen.errors.append(f"{said.status_code} {said.text[:200]}")


async def _raw(url: str, sent: bytes, end: float, *, reads: bool = False, dribbles: bool = False) -> None:
    """Open connections that send these bytes, and then read or send a byte a second."""
    host, port = url.removeprefix("http://").split(":")
    while time.monotonic() < end:
        with suppress(OSError):
            reader, writer = await asyncio.open_connection(host, int(port), limit=1024)
            writer.write(sent)
            while time.monotonic() < end and not writer.is_closing():
                if dribbles:
                    writer.write(b" ")
                    await writer.drain()
                elif not await reader.read(1) and not reads:
                    break
                await asyncio.sleep(1)
            writer.close()
        await asyncio.sleep(0.1)


def _head(url: str, path: str, key: str, length: int) -> bytes:
    return (f"POST {path} HTTP/1.1\r\nHost: {url.removeprefix('http://')}\r\nX-API-Key: {key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n").encode()


async def slow_questions(url: str, key: str, end: float, done: dict[str, int]) -> None:
    """Ask questions that are made to be slow, one after another."""
    drawn = random.Random(0)
    async with _connection(url, key) as http:
        while time.monotonic() < end:
            text = drawn.choice(_SLOW_QUESTIONS) if drawn.random() < 0.7 else question(drawn)
            with suppress(httpx.HTTPError):
                await http.post(_ASK, content=json.dumps({"question": text}).encode(),
                                headers={"Content-Type": "application/json"})
            done["attack questions"] += 1


async def slow_uploads(url: str, key: str, end: float, done: dict[str, int]) -> None:
    """Upload documents that are slow to build, one build after another."""
    async with _connection(url, key) as http:
        while time.monotonic() < end:
            for name, text in _SLOW_DOCUMENTS.items():
                with suppress(httpx.HTTPError):
                    said = await http.post("/api/knowledge-bases/attack/builds",
                                           files=[("files", (name, text.encode()))])
                    state = said.json()
                    while state.get("state") in {"queued", "running"} and time.monotonic() < end:
                        await asyncio.sleep(0.2)
                        state = (await http.get(f"/api/builds/{state['id']}")).json()
                done["attack uploads"] += 1
                if time.monotonic() >= end:
                    return


async def watch(server: serving.Served, key: str, end: float, seen: Seen) -> None:
    """Ask whether the server is alive."""
    async with _connection(server.url, key) as http:
        while time.monotonic() < end:
            began = time.monotonic()
            (await http.get("/api/health")).raise_for_status()
            seen.alive.append(time.monotonic() - began)
            seen.memory.append([resident(server.process.pid)])
            await asyncio.sleep(0.5)


async def load(server: serving.Served, keys: list[str], hostile: list[str], seconds: float) -> dict[str, Any]:
    """Let clients ask for some seconds, beside hostile ones with their keys, if any, and return what they saw."""
    seen, end, done = Seen(), time.monotonic() + seconds, {"attack questions": 0, "attack uploads": 0}
    began, took = time.monotonic(), processor_seconds(server.process.pid)
    async with asyncio.TaskGroup() as tasks:
        for number, key in enumerate(keys):
            tasks.create_task(client(server.url, key, number, end, seen))
        if hostile:
            body = json.dumps({"question": questions()[0], "trace": True}).encode()
            url, raw = server.url, []
            raw += [(_head(url, f"{_ASK}/stream", hostile[0], len(body)) + body, {"reads": True})] * _SLOW_READERS
            raw += [(f"POST {_ASK} HTTP/1.1\r\nHost: x".encode(), {})] * _HALF_OPEN
            raw += [(_head(url, _ASK, hostile[2], 100_000), {"dribbles": True})] * _SLOW_BODIES
            for sent, how in raw:
                tasks.create_task(_raw(url, sent, end, **how))
            tasks.create_task(slow_questions(url, hostile[3], end, done))
            tasks.create_task(slow_uploads(url, hostile[4], end, done))
        tasks.create_task(watch(server, keys[0], end, seen))
    elapsed, took = time.monotonic() - began, processor_seconds(server.process.pid) - took
    return {"clients": len(keys), "hostile": len(hostile), "seconds": round(elapsed, 1), "answers": len(seen.seconds),
            "errors": len(seen.errors), "first_error": seen.errors[0] if seen.errors else "",
            **shares("answer", seen.seconds), **shares("alive", seen.alive), **done,
            "processors_used": round(took / elapsed, 2),
            "memory_mb": [round(one) for (one,) in (seen.memory[0], max(seen.memory), seen.memory[-1])]}


def main() -> int:
    """Print a line of JSON for each round: without the hostile ones, with them, without."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=45)
    parser.add_argument("--seconds", type=float, default=60.0)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        serving.build_demo(folder, _KB)
        stored = Keys(folder / "home" / KEYS_FILE)
        keys = [stored.make(f"client-{number}", ["read", "ask"]) for number in range(chosen.clients)]
        hostile = [stored.make(f"hostile-{number}", ["read", "ask", "write"]) for number in range(5)]
        with serving.served(folder) as server:
            httpx.post(f"{server.url}{_ASK}", json={"question": questions()[0]}, timeout=_TIMEOUT,
                       headers={"X-API-Key": keys[0]}).raise_for_status()  # the first one opens the knowledge base
            rounds = []
            for attackers, seconds in ((list[str](), chosen.seconds / 2), (hostile, chosen.seconds),
                                       (list[str](), chosen.seconds / 2)):
                rounds.append(asyncio.run(load(server, keys, attackers, seconds)))
                print(json.dumps(rounds[-1]), flush=True)
    alone = (rounds[0]["answer_p50_ms"] + rounds[2]["answer_p50_ms"]) / 2  # what else the machine does changes
    times = rounds[1]["answer_p50_ms"] / alone
    errors = sum(one["errors"] for one in rounds)
    print(f"{errors} errors; p50 with the hostile ones {times:.2f} times that without (at most {_MOST_SLOWER:g})")
    return 1 if errors or times > _MOST_SLOWER else 0


if __name__ == "__main__":
    sys.exit(main())
