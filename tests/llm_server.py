"""An OpenAI-compatible chat server on loopback, for tests: protocol and faults are real, answers scripted.

In a test: `with LlmServer() as server: ... server.base_url ... server.stats`. For other processes:
`python -m tests.llm_server [--seconds S]` prints its base URL.
"""

import argparse
import asyncio
import hashlib
import json
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import uvicorn
from banyan.text.scripts import estimate_tokens
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from . import llm_brain as brain
from . import llm_wire as wire
from .llm_batches import Batches

Kind = Literal["status", "truncated", "fenced", "types", "empty", "reset", "stall", "filtered", "packed", "endless"]

_BLANKS = 1 << 10
"""Megabytes."""


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one answer.

    status: `status` instead of an answer, with `headers`; truncated: half the answer as if it were whole; fenced: the
    answer wrapped; empty: no text; types: every value of another type; reset: the connection is lost in the
    body; stall: `seconds` of silence; filtered: stopped by a content filter; packed: 1 GB of blanks, compressed, before
    the answer; endless: the same as it is.
    """

    kind: Kind
    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 60.0


@dataclass(frozen=True)
class Odds:
    """A fault for a share of the requests, the same ones in whatever order they come.

    It hits the `steps` by the names in `tests/llm_brain.py`, or all, and at `least` so many first ones of each.
    """

    fault: Fault
    probability: float
    steps: frozenset[str] = frozenset()
    least: int = 0

    def hits(self, body: dict[str, Any], step: str, time_asked: int, before: int) -> bool:
        if self.steps and step not in self.steps:
            return False
        if before < self.least:
            return True
        asked = json.dumps([0, time_asked, self.fault.kind, self.fault.status, body["messages"]])
        draw = int.from_bytes(hashlib.blake2b(asked.encode(), digest_size=8).digest(), "big") / 2**64
        return draw < self.probability


Turn = wire.Turn
Script = Callable[[dict[str, Any]], str | Fault | Turn]


def scripted_brain() -> Script:
    script: Script = brain.reply
    return script


@dataclass
class Stats:
    requests: int = 0
    answers: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    steps: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    """How often each step's requests met one of `odds`."""
    in_flight: int = 0
    most_in_flight: int = 0
    hung_up: int = 0
    """Streams whose reader went before their end."""


class LlmServer:
    """The server; a context manager that runs it in a thread.

    `script` gives for a request an answer's text, a fault, or an agent's turn. `faults` are those of the next answers,
    `odds` those of a share. `usage` is JSON that is reported instead of the tokens. An answer begins after `seconds`
    and comes at a `rate` of tokens. With `batches` it has OpenAI's Batch interface (`tests/llm_batches.py`).
    """

    def __init__(self, script: Script | None = None, *, key: str | None = None, usage: str = "", seconds: float = 0.0,
                 rate: float | None = None, streams: bool = True, batches: bool = False) -> None:
        self.script = script or scripted_brain()
        self.faults = deque[Fault]()
        self.odds: list[Odds] = []
        self.key = key
        self.usage = usage
        self.seconds = seconds
        self.rate = rate
        self.streams = streams
        self.batches = Batches(self._answer_batched) if batches else None
        self.may_end = threading.Event()
        """Streams wait for it before their end."""
        self.may_end.set()
        self.stats = Stats()
        self.requests: list[dict[str, Any]] = []
        self._asked: Counter[str] = Counter()
        self._lock = threading.Lock()
        config = uvicorn.Config(self._app(), host="127.0.0.1", port=0, log_config=None,
                                log_level="critical", ws="none", lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    @property
    def base_url(self) -> str:
        port = self._server.servers[0].sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        deadline = time.monotonic() + 30
        while not self._server.started:
            assert self._thread.is_alive(), "the server did not start"
            assert time.monotonic() < deadline, "the server took more than 30 s to start"
            time.sleep(0.005)
        return self

    def __exit__(self, *_: object) -> None:
        # It ends within 0.2 s, which nobody has to wait for.
        self._server.should_exit = True
        self._server.force_exit = True

    def _app(self) -> FastAPI:
        app = FastAPI()
        app.get("/stats")(lambda: JSONResponse(self.stats.__dict__))

        @app.post("/v1/chat/completions")
        async def complete(request: Request) -> Response:
            return await self._complete(request)

        if self.batches:
            app.include_router(self.batches.routes())
        return app

    async def _answer_batched(self, body: dict[str, Any]) -> Response:
        """Answer a request of a batch, which no fault meets and no ordinary call counts."""
        return await self._answer(body, str(self.script(body)), None)

    async def _complete(self, request: Request) -> Response:
        body = await request.json()
        with self._lock:
            self.stats.requests += 1
            self.requests.append(body)
            fault = self.faults.popleft() if self.faults else self._drawn(body)
            self.stats.in_flight += 1
            self.stats.most_in_flight = max(self.stats.most_in_flight, self.stats.in_flight)
        try:
            await asyncio.sleep(self.seconds)
        finally:
            with self._lock:
                self.stats.in_flight -= 1
        authorization = request.headers.get("authorization", "")
        if self.key is not None and authorization != f"Bearer {self.key}":
            return wire.error(401, f"Incorrect API key provided: {authorization.removeprefix('Bearer ')}")
        answer = self.script(body)
        if isinstance(answer, Turn):
            return JSONResponse(wire.completion(body, [wire.choice(answer)]))
        if isinstance(answer, Fault):
            fault, answer = answer, ""
        return await self._answer(body, answer, fault)

    def _drawn(self, body: dict[str, Any]) -> Fault | None:
        if not self.odds:
            return None
        messages = json.dumps(body["messages"])
        times = self._asked[messages]
        self._asked[messages] += 1
        step = brain.step(body)
        before = self.stats.faults[step]
        drawn = next((odds.fault for odds in self.odds if odds.hits(body, step, times, before)), None)
        if drawn:
            self.stats.faults[step] += 1
        return drawn

    async def _answer(self, body: dict[str, Any], answer: str,
                      fault: Fault | None) -> Response:
        match fault:
            case Fault(kind="status"):
                return wire.error(fault.status, "scripted fault", fault.headers)
            case Fault(kind="stall"):
                await asyncio.sleep(fault.seconds)
            case Fault(kind="packed" | "endless"):
                return wire.blanks(_BLANKS, packed=fault.kind == "packed")
            case Fault(kind="reset"):
                return StreamingResponse(wire.lost(), headers={"content-length": "1000"}, media_type="application/json")
        kind = fault.kind if fault else None
        text = _spoilt(answer, kind)
        finish = "content_filter" if kind == "filtered" else "stop"
        usage = self._account(body, text)
        if body.get("stream") and self.streams:
            reported = usage if body.get("stream_options", {}).get("include_usage") else None
            pieces = wire.stream(body, text, finish, reported, self.rate, self.may_end)
            return StreamingResponse(self._to_the_end(pieces), media_type="text/event-stream")
        if self.rate:
            await asyncio.sleep(len(text) / wire.TOKEN / self.rate)
        completion = wire.completion(body, [{"index": 0, "finish_reason": finish,
                                             "message": {"role": "assistant", "content": text}}])
        told = f'"usage": {self.usage or json.dumps(usage)}'
        return Response(f"{json.dumps(completion)[:-1]}, {told}}}", media_type="application/json")

    async def _to_the_end(self, pieces: AsyncIterator[str]) -> AsyncIterator[str]:
        try:
            async for piece in pieces:
                yield piece
        except (asyncio.CancelledError, GeneratorExit):
            self.stats.hung_up += 1
            raise

    def _account(self, body: dict[str, Any], text: str) -> dict[str, int]:
        prompt = sum(estimate_tokens(message["content"]) for message in body["messages"])
        completion = estimate_tokens(text)
        named = body.get("response_format", {}).get("type") == "json_schema"
        with self._lock:
            self.stats.answers += 1
            self.stats.prompt_tokens += prompt
            self.stats.completion_tokens += completion
            self.stats.steps[brain.step(body) if named else "text"] += 1
        return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _spoilt(answer: str, kind: Kind | None) -> str:
    match kind:
        case "truncated" | "filtered":
            return answer[:len(answer) // 2]
        case "fenced":
            return f"Here is the result:\n```json\n{answer}\n```\nLet me know if {{more}} is needed."
        case "empty":
            return ""
        case "types":
            return json.dumps({name: [value] if isinstance(value, str) else "n/a"
                               for name, value in json.loads(answer).items()})
        case _:
            return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.0, help="how long each answer takes")
    with LlmServer(seconds=parser.parse_args().seconds) as server:
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        threading.Event().wait()


if __name__ == "__main__":
    main()
