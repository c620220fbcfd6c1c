"""Two replicas of a server under load while a build runs and one of them is killed: what fails, and what goes on.

Run `python benchmarks/replicas.py [--clients 50] [--seconds 60] [--chroma]`. A PostgreSQL server of its own holds
ledgers, conversations and builds; each replica has a home folder of its own, with vectors of its own or, with
`--chroma`, on one Chroma server. The model is the tests' protocol server. Each client has a conversation and asks one
question after another at one of the replicas. The first replica builds; after a third of the time it is killed with
SIGKILL. Its clients go to the other one, which has to take the build up.

Exits 1 if anything fails but requests that were open at the killed replica, if a conversation lacks an answer, or if
the build does not end with all its documents.
"""

import argparse
import asyncio
import json
import math
import os
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np

PROJECT = Path(__file__).resolve().parent.parent
sys.path.append(str(PROJECT))

from tests import chroma_process, llm_server, postgresql, rest, serving  # noqa: E402  (tests' servers)
from tests.waiting import wait_in_loop_for  # noqa: E402

_DOCUMENTS_A_SECOND = 12
"""Of the build, so that it lasts longer than half of the time."""
_CALLS_AT_ONCE = "16"
_ASKED = "chess"
"""The knowledge base that clients ask."""
_BUILT = "growing"
"""The one that is built meanwhile."""
_TIMEOUT = 60.0
_QUESTIONS = ("Who is Ada Blum?", "Where was Otto Kern born?", "Whom did Ada Blum defeat?")


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
        """Ask for so long, a third of it before a server is killed; return what was seen once the build is over too."""
        async with asyncio.TaskGroup() as tasks:
            building = tasks.create_task(self._build())
            for number in range(self._clients):
                tasks.create_task(self._client(number))
            tasks.create_task(self._kill(building))
        return self.seen

    async def _build(self) -> None:
        """Have the first server build, and follow that at the last one."""
        async with _connection(self._servers[0].url) as first:
            said = await first.post(f"{rest.KB}/{_BUILT}/builds", files=rest.sent(rest.players(self._documents)))
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
                        said = await http.post(f"{rest.KB}/{_ASKED}/ask", json={"question": question, "thread": thread})
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
            kept = (await http.get(f"/api/threads/{thread}", params={"kb": _ASKED})).raise_for_status().json()["turns"]
        # One that broke may have been answered, and nobody heard of it.
        answered = self._answered[number]
        if not answered <= len(kept) <= answered + broken:
            self.seen.lost_turns.append(f"{thread}: {answered} answered, {broken} broken, {len(kept)} kept")

    def _question(self, number: int) -> str:
        answered = self._answered[number]
        return f"{_QUESTIONS[answered % len(_QUESTIONS)]} ({number}, {answered})"


def _connection(url: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=url, timeout=_TIMEOUT, verify=False)


def main() -> None:
    """Print what was seen as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--chroma", action="store_true", help="vectors on one Chroma server")
    chosen = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        endpoint = stack.enter_context(llm_server.LlmServer())
        database = stack.enter_context(postgresql.cluster()).url()
        settings = {"BANYAN_LLM_BASE_URL": endpoint.base_url, "BANYAN_LLM_MODEL": "scripted",
                    "BANYAN_LLM_CONCURRENCY": _CALLS_AT_ONCE, "BANYAN_REQUESTS_PER_MINUTE": "1000000"}
        if chosen.chroma:
            settings["BANYAN_CHROMA_URL"] = stack.enter_context(chroma_process.running(folder)).url
        servers = stack.enter_context(serving.replicas(folder, database, **settings))
        with httpx.Client(base_url=servers[0].url, timeout=120) as client:
            assert rest.built(client, _ASKED, rest.CHESS)["state"] == "done"
        endpoint.seconds = 0.3
        documents = int(chosen.seconds * _DOCUMENTS_A_SECOND)
        seen = asyncio.run(Load(servers, chosen.clients, chosen.seconds, documents).run())
    report = seen.build.get("report") or {}
    assert isinstance(report, dict)
    print(json.dumps({
        "clients": chosen.clients, "answers": seen.answers,
        **{f"answer_p{share}_ms": round(float(np.percentile(seen.seconds, share)) * 1000) for share in (50, 95)},
        "open_when_killed": seen.open_when_killed, "broken": len(seen.broken), "errors": len(seen.errors),
        "first_error": seen.errors[0] if seen.errors else "", "conversations_that_went_on": seen.went_on,
        "conversations_that_lack_answers": seen.lost_turns, "build": seen.build.get("state"),
        "build_error": seen.build.get("error"), "documents": report.get("documents"), "of": documents}, indent=1))
    whole = seen.build.get("state") == "done" and report.get("documents") == documents and not seen.lost_turns
    sys.exit(0 if whole and not seen.errors and len(seen.broken) <= seen.open_when_killed else 1)


if __name__ == "__main__":
    main()
