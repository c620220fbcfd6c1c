"""Server-sent events, for all streams of the API."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from sse_starlette import EventSourceResponse, ServerSentEvent

_SEND_TIMEOUT = 60.0
"""Seconds after which a client that reads nothing is disconnected."""
_FAREWELL = 3.0
"""Seconds that a stream has to end when the server stops; fewer than open requests have (cli/commands/serve.py)."""


def event(name: str, data: Any) -> ServerSentEvent:
    """Return an event with JSON data."""
    return ServerSentEvent(json.dumps(data, ensure_ascii=False), event=name)


@asynccontextmanager
async def stopping_with(server: anyio.Event, stop: Callable[[], None]) -> AsyncIterator[None]:
    """Call `stop` if the server ends while the block runs.

    Args:
        server: set when the server ends.
        stop: ends what the block waits for.
    """
    async def wait() -> None:
        await server.wait()
        stop()

    waiting = asyncio.create_task(wait())
    try:
        yield
    finally:
        waiting.cancel()


def event_stream(events: AsyncIterator[ServerSentEvent], stopping: anyio.Event | None = None) -> EventSourceResponse:
    """Return a response that sends events as they occur.

    Args:
        events: the events; the iterator is closed when the client disconnects.
        stopping: set when the server stops, so the events end soon by themselves; None means they are cut off.
    """
    return EventSourceResponse(events, send_timeout=_SEND_TIMEOUT, shutdown_event=stopping,
                               shutdown_grace_period=_FAREWELL if stopping else 0)
