"""Server-sent events, for all streams of the API."""

import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
from sse_starlette import EventSourceResponse, ServerSentEvent

_SEND_TIMEOUT = 60.0
"""Seconds after which a client that reads nothing is disconnected."""
_FAREWELL = 3.0
"""Seconds that a stream has to end in when the server ends; less than open requests have (cli/serve.py)."""


def event(name: str, data: Any) -> ServerSentEvent:
    """An event with JSON data."""
    return ServerSentEvent(json.dumps(data, ensure_ascii=False), event=name)


def event_stream(events: AsyncIterator[ServerSentEvent], stopping: anyio.Event | None = None) -> EventSourceResponse:
    """The response that sends events as they come.

    Args:
        events: closed when the client goes away.
        stopping: set when the server ends: the events should end soon by themselves; none: they are cut off.
    """
    return EventSourceResponse(events, send_timeout=_SEND_TIMEOUT, shutdown_event=stopping,
                               shutdown_grace_period=_FAREWELL if stopping else 0)
