"""Server-sent events, for all streams of the API."""

import json
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any, cast

import anyio
from sse_starlette import EventSourceResponse, ServerSentEvent

_SEND_TIMEOUT = 60.0
"""Seconds after which a client that reads nothing is disconnected."""
_FAREWELL = 3.0
"""Seconds that a stream has to end when the server stops; fewer than open requests have (cli/commands/serve.py)."""


def event(name: str, data: Any) -> ServerSentEvent:
    """Return an event with JSON data."""
    return ServerSentEvent(json.dumps(data, ensure_ascii=False), event=name)


def event_stream(events: AsyncIterator[ServerSentEvent], stop: Callable[[], None] | None = None) -> EventSourceResponse:
    """Return a response that sends events as they occur.

    Args:
        events: the events; the iterator is closed when the client disconnects.
        stop: called when the server stops, so the events end soon by themselves; None means they are cut off.
    """
    return EventSourceResponse(events, send_timeout=_SEND_TIMEOUT,
                               shutdown_event=cast("anyio.Event", SimpleNamespace(set=stop)) if stop else None,
                               shutdown_grace_period=_FAREWELL if stop else 0)
