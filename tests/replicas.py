"""Servers that share a PostgreSQL database, each with a home of its own, and clients that ask them all."""

import asyncio
import math
import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from . import rest, serving
from .waiting import wait_in_loop_for

ASKED = "chess"
"""The knowledge base that clients ask."""
BUILT = "growing"
"""The one that is built meanwhile."""
_TIMEOUT = 60.0
_QUESTIONS = ("Who is Ada Blum?", "Where was Otto Kern born?", "Whom did Ada Blum defeat?")


@contextmanager
def replicas(folder: Path, database: str, number: int = 2, **settings: str) -> Iterator[list[serving.Served]]:
    """So many servers on one database, ended at the end of the block as far as they still run."""
    with ExitStack() as stack:
        servers = []
        for one in range(number):
            home = folder / f"replica-{one}"
            home.mkdir(parents=True, exist_ok=True)
            servers.append(stack.enter_context(serving.served(home, BANYAN_DATABASE_URL=database, **settings)))
        yield servers


def documents(number: int) -> dict[str, str]:
    """Documents of one chunk each, by their names."""
    return {f"player-{one}.md": f"# Player {one}\n\nPlayer {one} was a chess player. She was born in Warsaw in "
                                f"{1700 + one}.\n" for one in range(number)}


@dataclass
class Seen:
    """What clients saw, and what became of a build."""

    answers: int = 0
    seconds: list[float] = field(default_factory=list)
    open_when_killed: int = 0
    broken: list[str] = field(default_factory=list)
    """Requests that were open when the server was killed, and ended without an answer."""
    errors: list[str] = field(default_factory=list)
    """All others that failed."""
    lost_turns: list[str] = field(default_factory=list)
    """Conversations that do not have what was answered."""
    went_on: int = 0
    """Conversations that were begun at the server which was killed, and went on at the other."""
    build: dict[str, object] = field(default_factory=dict)


class Load:
    """Clients with a conversation each, spread over two servers; the first of these builds, and is killed meanwhile."""

    def __init__(self, servers: list[serving.Served], clients: int, seconds: float, documents: int) -> None:
        self._servers = servers
        self._clients = clients
        self._seconds = seconds
        self._documents = documents
        self._open = [0] * len(servers)
        self._killed = False
        self._end = math.inf
        self._answered = [0] * clients
        self.seen = Seen()

    async def run(self) -> Seen:
        """Ask for so long, a third of it before a server is killed; returns what was seen when the build is over, too.
        """
        async with asyncio.TaskGroup() as tasks:
            building = tasks.create_task(self._build())
            for number in range(self._clients):
                tasks.create_task(self._client(number))
            tasks.create_task(self._kill(building))
        return self.seen

    async def _build(self) -> None:
        """Have the first server build, and follow that at the last one."""
        async with _connection(self._servers[0].url) as first:
            said = await first.post(f"{rest.KB}/{BUILT}/builds", files=rest.sent(documents(self._documents)))
            assert said.status_code == httpx.codes.ACCEPTED, said.text
        async with _connection(self._servers[-1].url) as last:
            build = said.json()
            while build["state"] in {"queued", "running"}:
                await asyncio.sleep(0.2)
                build = (await last.get(f"/api/builds/{build['id']}")).raise_for_status().json()
                self.seen.build = build

    async def _kill(self, building: "asyncio.Task[None]") -> None:
        await asyncio.sleep(self._seconds / 3)
        await wait_in_loop_for(lambda: all(self._answered))  # a conversation that goes on has begun
        assert not building.done(), "the build is over before the server is killed: give it more documents"
        self.seen.open_when_killed = self._open[0]
        os.kill(self._servers[0].process.pid, signal.SIGKILL)
        self._killed = True
        self._end = time.monotonic() + self._seconds * 2 / 3

    async def _client(self, number: int) -> None:
        """Ask one question after another in one conversation; where the server is gone, ask the other one again."""
        thread, server, broken = f"client-{number}", number % len(self._servers), 0
        moved = False
        while time.monotonic() < self._end:
            question = self._question(number)
            async with _connection(self._servers[server].url) as http:
                while time.monotonic() < self._end:
                    began = time.monotonic()
                    self._open[server] += 1
                    try:
                        said = await http.post(f"{rest.KB}/{ASKED}/ask", json={"question": question, "thread": thread})
                    except httpx.HTTPError as error:
                        if server or not self._killed:
                            self.seen.errors.append(repr(error))
                            continue
                        if not isinstance(error, httpx.ConnectError):
                            self.seen.broken.append(repr(error))
                            broken += 1
                        server, moved = len(self._servers) - 1, True
                        break
                    finally:
                        self._open[server] -= 1
                    if moved and said.status_code == httpx.codes.CONFLICT:  # its question counts as being answered
                        await asyncio.sleep(0.5)
                        continue
                    if said.status_code != httpx.codes.OK:
                        self.seen.errors.append(f"{said.status_code} {said.text[:300]}")
                        continue
                    self._answered[number] += 1
                    self.seen.answers += 1
                    self.seen.seconds.append(time.monotonic() - began)
                    if moved:
                        self.seen.went_on, moved = self.seen.went_on + 1, False
                    question = self._question(number)
        async with _connection(self._servers[-1].url) as http:
            kept = (await http.get(f"/api/threads/{thread}", params={"kb": ASKED})).raise_for_status().json()["turns"]
        # One that broke may have been answered, and nobody heard of it.
        answered = self._answered[number]
        if not answered <= len(kept) <= answered + broken:
            self.seen.lost_turns.append(f"{thread}: {answered} answered, {broken} broken, {len(kept)} kept")

    def _question(self, number: int) -> str:
        answered = self._answered[number]
        return f"{_QUESTIONS[answered % len(_QUESTIONS)]} ({number}, {answered})"


def _connection(url: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=url, timeout=_TIMEOUT, verify=False)
