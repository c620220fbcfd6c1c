"""An OpenAI-compatible chat server on loopback, for tests: protocol and faults are real, answers scripted.

In a test: `with LlmServer() as server: ... server.base_url ... server.stats`. For other processes:
`python tests/llm_server.py --port 0 [--key KEY] [--faults 429,fenced,...]` prints its base URL.
"""

import argparse
import asyncio
import importlib.util
import json
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self, get_args

import uvicorn
from banyan.ingest.tokens import estimate_tokens
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

Kind = Literal["status", "truncated", "cut", "fenced", "think", "text", "empty", "html", "reset", "stall",
               "no_usage", "filtered"]


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one answer.

    status: `status` instead of an answer, with `headers`; truncated: half the answer as if it were
    whole; cut: the same, and the server says so (finish_reason "length"); fenced, think: the answer
    wrapped; text, empty: no JSON; html: another server's page; reset: the connection is lost in the
    body; stall: `seconds` of silence; no_usage: token counts are missing; filtered: stopped by a
    content filter.
    """

    kind: Kind
    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 60.0


Script = Callable[[dict[str, Any]], str | Fault]


def scripted_brain() -> Script:
    """The demo's script: `tests/llm_brain.py`, which answers every step by simple rules."""
    spec = importlib.util.spec_from_file_location("banyan_tests_llm_brain",
                                                  Path(__file__).with_name("llm_brain.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    script: Script = module.reply
    return script


@dataclass
class Stats:
    """What the server was asked and what it answered in full."""

    requests: int = 0
    answers: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    steps: Counter[str] = field(default_factory=Counter)


class LlmServer:
    """The server; a context manager that runs it in a thread.

    Args:
        script: from the request's JSON to the answer's text, or to a fault.
        faults: what goes wrong with the first answers, in order; more can be appended to `faults`.
        key: the only key accepted; none: every key. A wrong one is repeated in the error, as some do.
        model: the only model known; none: every model.
        json_schema: whether `response_format` json_schema is accepted.
        port: 0 for any free one.
    """

    def __init__(self, script: Script | None = None, faults: Iterable[Fault] = (), *, key: str | None = None,
                 model: str | None = None, json_schema: bool = True, port: int = 0) -> None:
        self.script = script or scripted_brain()
        self.faults = deque(faults)
        self.key = key
        self.model = model
        self.json_schema = json_schema
        self.stats = Stats()
        self.requests: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        config = uvicorn.Config(self._app(), host="127.0.0.1", port=port, log_level="critical", ws="none",
                                lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    @property
    def base_url(self) -> str:
        """What BANYAN_LLM_BASE_URL is to be."""
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
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join(timeout=30)

    def _app(self) -> FastAPI:
        app = FastAPI()
        app.get("/stats")(lambda: JSONResponse(self.stats.__dict__))

        @app.post("/v1/chat/completions")
        async def complete(request: Request) -> Response:
            return await self._complete(request)

        return app

    async def _complete(self, request: Request) -> Response:
        body = await request.json()
        with self._lock:
            self.stats.requests += 1
            self.requests.append(body)
            fault = self.faults.popleft() if self.faults else None
        refusal = self._refusal(body, request.headers.get("authorization", ""))
        if refusal is not None:
            return refusal
        answer = self.script(body)
        if isinstance(answer, Fault):
            fault, answer = answer, ""
        return await self._answer(body, answer, fault)

    def _refusal(self, body: dict[str, Any], authorization: str) -> Response | None:
        if self.key is not None and authorization != f"Bearer {self.key}":
            return _error(401, f"Incorrect API key provided: {authorization.removeprefix('Bearer ')}")
        if self.model is not None and body["model"] != self.model:
            return _error(404, f"The model `{body['model']}` does not exist")
        if not self.json_schema and body.get("response_format", {}).get("type") == "json_schema":
            return _error(400, "This response_format type is unavailable now")
        return None

    async def _answer(self, body: dict[str, Any], answer: str, fault: Fault | None) -> Response:
        match fault:
            case Fault(kind="status"):
                return _error(fault.status, "scripted fault", fault.headers)
            case Fault(kind="html"):
                return PlainTextResponse("<html><body>Welcome to nginx!</body></html>", media_type="text/html")
            case Fault(kind="stall"):
                await asyncio.sleep(fault.seconds)
            case Fault(kind="reset"):
                return StreamingResponse(_lost(), headers={"content-length": "1000"},
                                         media_type="application/json")
        text = _spoilt(answer, fault.kind if fault else None)
        finish = {"cut": "length", "filtered": "content_filter"}.get(fault.kind if fault else "", "stop")
        usage = self._account(body, text)
        if body.get("stream"):
            return StreamingResponse(_stream(body, text, finish, usage), media_type="text/event-stream")
        completion = {"id": "chatcmpl-test", "object": "chat.completion", "created": 0, "model": body["model"],
                      "choices": [{"index": 0, "finish_reason": finish,
                                   "message": {"role": "assistant", "content": text}}]}
        if fault is None or fault.kind != "no_usage":
            completion["usage"] = usage
        return JSONResponse(completion)

    def _account(self, body: dict[str, Any], text: str) -> dict[str, int]:
        prompt = sum(estimate_tokens(message["content"]) for message in body["messages"])
        completion = estimate_tokens(text)
        name = body.get("response_format", {}).get("json_schema", {}).get("name", "text")
        with self._lock:
            self.stats.answers += 1
            self.stats.prompt_tokens += prompt
            self.stats.completion_tokens += completion
            self.stats.steps[name] += 1
        return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _error(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": {"message": message, "type": "error", "code": None}}, status, headers)


def _spoilt(answer: str, kind: Kind | None) -> str:
    match kind:
        case "truncated" | "cut":
            return answer[:len(answer) // 2]
        case "fenced":
            return f"Here is the result:\n```json\n{answer}\n```\nLet me know if {{more}} is needed."
        case "think":
            return f'<think>The form is {{"entities": []}}, so I\nwrite {{that}}.</think>\n\n{answer}'
        case "text":
            return "I could not find anything to extract."
        case "empty":
            return ""
        case _:
            return answer


async def _lost() -> AsyncIterator[bytes]:
    yield b'{"id": '
    raise ConnectionResetError("scripted fault")


async def _stream(body: dict[str, Any], text: str, finish: str, usage: dict[str, int]) -> AsyncIterator[str]:
    def event(choices: list[dict[str, Any]], **more: Any) -> str:
        chunk = {"id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 0,
                 "model": body["model"], "choices": choices, **more}
        return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n"

    yield event([{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}])
    for start in range(0, len(text), 20):
        yield event([{"index": 0, "delta": {"content": text[start:start + 20]}, "finish_reason": None}])
    yield event([{"index": 0, "delta": {}, "finish_reason": finish}])
    if body.get("stream_options", {}).get("include_usage"):
        yield event([], usage=usage)
    yield "data: [DONE]\n\n"


def _fault(name: str) -> Fault:
    if name.isdigit():
        return Fault("status", int(name), {"retry-after-ms": "10"})
    if name not in get_args(Kind):
        raise SystemExit(f"no fault {name!r}: give a status such as 429, or one of {', '.join(get_args(Kind))}")
    return Fault(name)  # type: ignore[arg-type]  # checked above


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--key", default=None)
    parser.add_argument("--faults", default="", help="for the first answers, in order: 429,fenced,...")
    arguments = parser.parse_args()
    faults = [_fault(name) for name in arguments.faults.split(",") if name]
    with LlmServer(faults=faults, key=arguments.key, port=arguments.port) as server:
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        threading.Event().wait()


if __name__ == "__main__":
    main()
