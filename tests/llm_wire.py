"""What the tests' LLM server says, in the words of OpenAI's protocol."""

import asyncio
import json
import threading
import time
import zlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

from fastapi.responses import JSONResponse, Response, StreamingResponse

TOKEN = 4
"""Characters."""


@dataclass(frozen=True)
class Turn:
    """What an agent's model says: text, or a call of a tool of its choice as (name, arguments)."""

    text: str = ""
    call: tuple[str, dict[str, Any]] | None = None


def completion(body: dict[str, Any], choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "chatcmpl-test", "object": "chat.completion", "created": 0, "model": body["model"],
            "choices": choices}


def choice(turn: Turn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text}
    if turn.call is None:
        return {"index": 0, "finish_reason": "stop", "message": message}
    name, arguments = turn.call
    call = {"id": "call_0", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return {"index": 0, "finish_reason": "tool_calls", "message": message | {"tool_calls": [call]}}


def error(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": {"message": message, "type": "error", "code": None}}, status, headers)


async def lost() -> AsyncIterator[bytes]:
    yield b'{"id": '
    raise ConnectionResetError("scripted fault")


async def stream(body: dict[str, Any], text: str, finish: str, usage: dict[str, int] | None,
                 rate: float | None, may_end: threading.Event) -> AsyncIterator[str]:
    """Send a text in pieces, of a token each where there is a rate of them in a second; its end when it may end."""
    def event(choices: list[dict[str, Any]], **more: Any) -> str:
        chunk = completion(body, choices) | {"object": "chat.completion.chunk", **more}
        return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n"

    def delta(part: dict[str, Any], finish: str | None = None) -> str:
        return event([{"index": 0, "delta": part, "finish_reason": finish}])

    yield delta({"role": "assistant", "content": ""})
    size, began = TOKEN if rate else 20, time.monotonic()
    for start in range(0, len(text), size):
        if rate:  # by the clock, so that delays do not add up
            await asyncio.sleep(began + (start + size) / size / rate - time.monotonic())
        yield delta({"content": text[start:start + size]})
    while not may_end.is_set():
        await asyncio.sleep(0.01)
    yield delta({}, finish)
    if usage:
        yield event([], usage=usage)
    yield "data: [DONE]\n\n"


def blanks(megabytes: int, *, packed: bool) -> Response:
    packer = zlib.compressobj(wbits=31)

    def parts() -> Iterator[bytes]:
        for _ in range(megabytes):
            part = b" " * (1 << 20)
            yield packer.compress(part) if packed else part
        yield packer.flush() if packed else b""

    return StreamingResponse(parts(), headers={"content-encoding": "gzip"} if packed else {},
                             media_type="application/json")
