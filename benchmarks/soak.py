"""How long a server stays as it is: 50 clients that ask, beside 200 that ask for much and read next to nothing.

Run `python benchmarks/soak.py [--seconds 300] [--clients 50] [--slow 200] [--bases 300]` (`make soak`). Small knowledge
bases are served by a process of its own, without keys; for half a minute the clients are alone, then the slow ones
join. Each client asks, lists all knowledge bases, looks at documents or fetches a file of the page, and thinks for a
moment; it opens its connection anew now and then. A slow one asks for the page's largest file twenty times over one
connection, reads 100 bytes a second, and begins again when the server has closed it.

What is wanted: no answer but 200, a p50 of at most twice that of the clients alone, and memory that stays within a
quarter of what it was after a fifth of the time. Ends with 1 if it is not so.
"""

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx

PROJECT = Path(__file__).resolve().parent.parent
sys.path.append(str(PROJECT))

from benchmarks.serve_load import resident  # noqa: E402
from tests import serving, small_base, warm_start  # noqa: E402
from tests.hashed_embedding import HashedEmbedder  # noqa: E402

_LARGE = "/assets/vendor/cytoscape.esm.min.js"
_ALONE, _THINKS, _REQUESTS = 30.0, 1.0, 20
_MOST_SLOWER, _MOST_GROWTH, _WARM = 2.0, 1.25, 0.2
_PATHS = ("/api/health", "/", "/assets/main.js", "/api/knowledge-bases", "/api/knowledge-bases/demo/documents",
          "/api/knowledge-bases/demo")


async def client(url: str, end: float, draw: random.Random, seconds: list[float], refused: list[str]) -> None:
    """Ask for one thing after another until the time is over."""
    while time.monotonic() < end:
        async with httpx.AsyncClient(base_url=url, timeout=60, transport=httpx.AsyncHTTPTransport(retries=2)) as one:
            for _ in range(_REQUESTS):
                if time.monotonic() >= end:
                    return
                path, started = draw.choice(_PATHS), time.monotonic()
                try:
                    try:
                        status = str((await one.get(path)).status_code)
                    except (httpx.RemoteProtocolError, httpx.ReadError):  # closed as idle: browsers ask once more
                        status = str((await one.get(path)).status_code)
                except httpx.HTTPError as error:
                    status = type(error).__name__
                seconds.append(time.monotonic() - started)
                if status != "200":
                    refused.append(f"{path}: {status}")
                await asyncio.sleep(draw.expovariate(1 / _THINKS))


async def slow(url: str, end: float) -> None:
    """Ask for much and read nearly nothing of it, over one connection after the other."""
    parts = urlsplit(url)
    request = f"GET {_LARGE} HTTP/1.1\r\nHost: {parts.hostname}\r\n\r\n".encode() * _REQUESTS
    while time.monotonic() < end:
        with suppress(OSError):
            reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=100)
            try:
                writer.write(request)
                while time.monotonic() < end and await reader.read(100):
                    await asyncio.sleep(1)
            finally:
                writer.close()
        await asyncio.sleep(0.1)


async def _phase(url: str, process: int, clients: int, slow_ones: int, seconds: float,
                 ) -> tuple[list[float], list[str], list[float]]:
    """Run both for a while; the answers' seconds, what was no answer, and the server's memory in MB each second."""
    end, times, refused, memory = time.monotonic() + seconds, list[float](), list[str](), list[float]()

    async def watch() -> None:
        while time.monotonic() < end:
            memory.append(resident(process))
            await asyncio.sleep(1)

    await asyncio.gather(watch(), *(client(url, end, random.Random(number), times, refused)
                                    for number in range(clients)), *(slow(url, end) for _ in range(slow_ones)))
    return times, refused, memory


def main() -> int:
    """Measure and print; returns 1 if it is not as wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--slow", type=int, default=200)
    parser.add_argument("--bases", type=int, default=300, help="knowledge bases of the server")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        embedder = HashedEmbedder()
        for base in ("demo", *(f"base{number}" for number in range(1, chosen.bases))):
            small_base.people(Path(name) / "home", base, embedder)
        with serving.served(Path(name), BANYAN_REQUESTS_PER_MINUTE="1000000", **{warm_start.HASHED: "1"}) as server:
            alone = asyncio.run(_phase(server.url, server.process.pid, chosen.clients, 0, _ALONE))
            beside = asyncio.run(_phase(server.url, server.process.pid, chosen.clients, chosen.slow, chosen.seconds))
    before, after = statistics.median(alone[0]), statistics.median(beside[0])
    warm = beside[2][int(_WARM * len(beside[2])):]
    print(f"{chosen.bases} knowledge bases; {chosen.clients} clients alone: {len(alone[0])} answers, p50 "
          f"{1000 * before:.1f} ms; beside {chosen.slow} "
          f"slow ones for {chosen.seconds:g} s: {len(beside[0])} answers, p50 {1000 * after:.1f} ms; not answered: "
          f"{len(alone[1])} and {len(beside[1])} {beside[1][:5]}; memory {beside[2][0]:.0f} MB at first, {warm[0]:.0f} "
          f"MB after {_WARM:.0%} of the time, {max(warm):.0f} MB at most then, {warm[-1]:.0f} MB at the end")
    good = not alone[1] and not beside[1] and after <= _MOST_SLOWER * before and max(warm) <= _MOST_GROWTH * warm[0]
    print("as wanted" if good else "NOT as wanted")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
