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

With `--heavy [NAME ...]` one client with the scopes `read` and `ask` instead keeps 80 requests under way, for one thing
after another that costs much: a page of a PDF file that takes twelve seconds to draw, exports and lists of a knowledge
base of 2,000 passages, SQL, and the same lists over MCP. Another client asks a question, searches, and asks for the
state meanwhile. Required: each of its answers within a second, or within three times what it takes alone on a machine
with other load.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

PROJECT = Path(__file__).resolve().parent.parent
sys.path.append(str(PROJECT))

from banyan.ingest.chunking import chunk_document  # noqa: E402
from banyan.schemas.documents import Document  # noqa: E402
from banyan.server.security.keys import KEYS_FILE, Keys  # noqa: E402

from benchmarks.serve_load import Seen, processor_seconds, questions, resident, shares  # noqa: E402
from tests import command_line, serving, small_base, warm_start  # noqa: E402
from tests.fuzz.serving_requests import question  # noqa: E402
from tests.hashed_embedding import HashedEmbedder  # noqa: E402

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


_AT_ONCE, _PASSAGES, _MOST_SECONDS, _MOST_TIMES = 80, 2_000, 1.0, 3.0
_LARGE = "/api/knowledge-bases/large"
HEAVY: dict[str, tuple[str, str, Any]] = {
    "page": ("GET", "/api/knowledge-bases/drawn/document/page?id=slow.pdf&page=1", None),
    "html": ("GET", f"{_LARGE}/export?format=html", None),
    "graphml": ("GET", f"{_LARGE}/export?format=graphml", None),
    "introduction": ("GET", f"{_LARGE}/introduction", None),
    "overview": ("GET", f"{_LARGE}/graph/overview", None),
    "documents": ("GET", f"{_LARGE}/documents?limit=500", None),
    "summaries": ("GET", f"{_LARGE}/summaries?limit=500", None),
    "search": ("GET", f"{_LARGE}/graph/search?q=a&limit=500", None),
    "tree": ("GET", f"{_LARGE}/tree?limit=500", None),
    "sql": ("POST", f"{_LARGE}/sql", {"sql": "SELECT * FROM facts ORDER BY tail, head", "limit": 10_000}),
    "sum": ("POST", f"{_LARGE}/sql", {"sql": "SELECT count(*) FROM facts a, facts b WHERE a.tail < b.head"}),
    **{f"mcp {tool}": ("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": tool, "arguments": {"knowledge_base": "large", **arguments}}})
       for tool, arguments in {"list_documents": {"limit": 200}, "search": {"query": "Who was born in City7?"},
                               "schema": {}, "entity_search": {"query": "City7"}}.items()}}
"""Requests that cost much, by name: method, path and body."""
_LIGHT: dict[str, tuple[str, str, Any]] = {
    "question": ("POST", f"/api/knowledge-bases/{_KB}/ask", {"question": "When was Marie Curie born?"}),
    "search": ("GET", f"/api/knowledge-bases/{_KB}/graph/search?q=Curie", None),
    "state": ("GET", f"/api/knowledge-bases/{_KB}", None)}


def slow_pdf(levels: int = 3, calls: int = 17, squares: int = 10) -> bytes:
    """Return a PDF file with a page that takes some twelve seconds to draw: its form draws another `calls` times."""
    page = b"BT /F 12 Tf 50 750 Td (Ada Blum was born in Warsaw in 1890.) Tj ET /X Do"
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
               (b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << "
                b"/Font << /F 5 0 R >> /XObject << /X 6 0 R >> >> >>"), _stream(b"", page),
               b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    for level in range(levels):
        inner = b"/Resources << /XObject << /X %d 0 R >> >>" % (7 + level)
        form = b"/Type /XObject /Subtype /Form /BBox [0 0 600 800] "
        objects.append(_stream(form + inner, b"/X Do " * calls) if level < levels - 1 else
                       _stream(form, b"0 0 600 800 re f " * squares))
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % pair for pair in enumerate(objects, 1))
    return b"%%PDF-1.4\n%strailer << /Size %d /Root 1 0 R >>\n%%%%EOF\n" % (body, len(objects) + 1)


def _stream(head: bytes, content: bytes) -> bytes:
    return b"<< %s /Length %d >>\nstream\n%s\nendstream" % (head, len(content), content)


def make_large(home: Path) -> None:
    """Make a knowledge base of many passages, of which facts are given, without reading them."""
    with small_base.create(home, "large", HashedEmbedder()) as kb, kb.writing():
        chunks = []
        for number in range(_PASSAGES):
            person, city = f"Person{number} Name{number % 977}", f"City{number % 251}"
            document = Document(id=f"d{number}", title=person, source="test",
                                text=f"{person} was born in {city}. {'It was a quiet place beside a river. ' * 20}")
            (chunk,) = chunk_document(document, max_tokens=100_000, overlap_tokens=0)
            kb.documents.put(document, [chunk])
            kb.extractions.save(chunk.id, "test", small_base.said([(person, "Person"), (city, "City")],
                                                                  [(person, "born_in", city)]))
            chunks.append(chunk.id)
        kb.schema_control.put_revisions_in_service()
        kb.schema_control.write(chunks)
        kb.refresh()
        small_base.finish(kb)
        kb.save_index()


async def _send(http: httpx.AsyncClient, request: tuple[str, str, Any]) -> httpx.Response:
    method, path, body = request
    return await http.request(method, path, json=body, headers={"Accept": "application/json, text/event-stream"})


async def _repeat(http: httpx.AsyncClient, request: tuple[str, str, Any], results: Counter[str]) -> None:
    while True:
        try:
            results[str((await _send(http, request)).status_code)] += 1
        except httpx.HTTPError as error:
            results[type(error).__name__] += 1


async def beside(server: serving.Served, keys: dict[str, str], heavy: str, seconds: float) -> dict[str, Any]:
    """Let one client send heavy requests, if any, and return the times of another one's light requests."""
    took, results, end = {name: list[float]() for name in _LIGHT}, Counter[str](), time.monotonic() + seconds
    limits = httpx.Limits(max_connections=None)
    async with _connection(server.url, keys["other"]) as other, httpx.AsyncClient(
            base_url=server.url, timeout=_TIMEOUT, limits=limits, headers={"X-API-Key": keys["hostile"]}) as hostile:
        attack = [asyncio.ensure_future(_repeat(hostile, HEAVY[heavy], results))
                  for _ in range(_AT_ONCE if heavy else 0)]
        await asyncio.sleep(2 if heavy else 0)
        while time.monotonic() < end:
            for name, request in _LIGHT.items():
                began = time.monotonic()
                (await _send(other, request)).raise_for_status()
                took[name].append(time.monotonic() - began)
        for one in attack:
            one.cancel()
        await asyncio.gather(*attack, return_exceptions=True)
    return {"heavy": heavy or "none", "answers": dict(results), "memory_mb": round(resident(server.process.pid)),
            **{name: {"n": len(times), "p50_ms": round(1000 * statistics.median(times)),
                      "max_ms": round(1000 * max(times))} for name, times in took.items()}}


def measure_heavy(names: list[str], seconds: float) -> int:
    """Print a line for each heavy request; returns 1 if another client waited longer than it should."""
    with tempfile.TemporaryDirectory() as place:
        folder, settings = Path(place), {warm_start.HASHED: "1", "BANYAN_REQUESTS_PER_MINUTE": "1000000"}
        make_large(folder / "home")
        (folder / "slow.pdf").write_bytes(slow_pdf())
        build = command_line.CommandLine(folder, tuple(settings.items()))
        build("build", folder / "slow.pdf", "--kb", "drawn", "--json")
        build("build", command_line.EXAMPLES / "en", "--kb", _KB, "--json")
        stored = Keys(folder / "home" / KEYS_FILE)
        keys = {name: stored.make(name, scopes) for name, scopes in {"other": ["read", "ask"],
                                                                     "hostile": ["read", "ask"]}.items()}
        rounds = list[dict[str, Any]]()
        with serving.served(folder, **settings) as server:
            asyncio.run(beside(server, keys, "", 5))  # the first questions open the knowledge base
            for heavy in ("", *names, ""):
                rounds.append(asyncio.run(beside(server, keys, heavy, seconds)))
                print(json.dumps(rounds[-1]), flush=True)
    late = list[str]()
    for name in _LIGHT:
        alone = max(rounds[0][name]["max_ms"], rounds[-1][name]["max_ms"])
        times = {one["heavy"]: one[name]["max_ms"] / alone for one in rounds[1:-1]}
        print(f"{name}: at most {alone} ms alone; longest beside, as a multiple: "
              f"{', '.join(f'{heavy} {many:.1f}' for heavy, many in times.items())}")
        longest = max(1000 * _MOST_SECONDS, _MOST_TIMES * alone)
        late += [heavy for heavy, many in times.items() if many * alone > longest]
    print(f"another client waited too long beside: {', '.join(dict.fromkeys(late)) or 'none'}")
    return 1 if late else 0


def main() -> int:
    """Print a line of JSON for each round: without the hostile ones, with them, without."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=45)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--heavy", nargs="*", choices=list(HEAVY), help="one client's heavy requests; none named: all")
    chosen = parser.parse_args()
    if chosen.heavy is not None:
        return measure_heavy(chosen.heavy or list(HEAVY), chosen.seconds)
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
