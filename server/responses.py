"""The responses, streams and shared parameters of the REST API, from whose models its description is generated."""

import json
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Annotated, Any, Generic, TypeVar, cast

import anyio
from fastapi import Path, Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from ..schemas.delta import Decision
from ..text.times import read_day

_T = TypeVar("_T")
_SEND_TIMEOUT = 60.0
"""Seconds after which a client that reads nothing is disconnected."""
_FAREWELL = 3.0
"""Seconds that a stream has to end when the server stops; fewer than open requests have (cli/commands/serve.py)."""


class Body(BaseModel):
    """The body of a request; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Items(BaseModel, Generic[_T]):
    """A complete list."""

    items: list[_T]


class Page(Items[_T], Generic[_T]):
    """A part of the `total` matching items."""

    total: int


class ErrorDetail(BaseModel):
    """The kind of error and its message."""

    type: str
    message: str
    request_id: str = ""


class ErrorBody(BaseModel):
    """The body of every response with a status of 400 or more."""

    error: ErrorDetail


class Decisions(Body):
    """A person's decisions."""

    decisions: list[Decision] = Field(max_length=1000, description="empty: all candidates stay pending")
    who: str = Field(min_length=1, max_length=100)


# Checked again, more strictly, where it becomes a folder's name (graph_store/layout.py).
KbName = Annotated[str, Path(pattern=r"^[^\W_]([\w-]{0,62}[^\W_])?$", description="the knowledge base's name")]
KbNames = Annotated[str, Path(pattern=r"^[^\W_][\w,-]*$", max_length=400, description="the knowledge base's name, or "
                              "several with commas between, which are read as one")]
BuildId = Annotated[str, Path(pattern=r"^[A-Za-z0-9.-]{1,64}$", description="the build's id")]
Limit = Annotated[int, Query(ge=1, le=500, description="the maximum number of items")]
Offset = Annotated[int, Query(ge=0, le=2**31, description="the number of items to skip")]
DocumentId = Annotated[str, Query(alias="id", min_length=1, max_length=1000, description="the document's id")]
NodeId = Annotated[str, Query(alias="id", min_length=1, max_length=100)]
TypeName = Annotated[str, Query(alias="type", max_length=200, description="only of this type")]


def _check_date(text: str) -> str:
    if text:
        read_day(text)
    return text


At = Annotated[str, Query(max_length=50, description="only facts that hold at this date: a year, a month or a day"),
               AfterValidator(_check_date)]
_MEANING = {400: "the request cannot be read", 401: "no key, or an unknown one", 403: "the key lacks the scope",
            404: "there is nothing of that name", 409: "not possible in this state", 413: "too large",
            422: "a value is not allowed", 429: "too many requests", 503: "not ready, or too busy",
            504: "not answered in time"}
_ALWAYS = (400, 401, 403, 422, 429, 503)


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe a route's errors, by HTTP status: these, and those that every route has."""
    return {status: {"model": ErrorBody, "description": _MEANING[status]} for status in sorted({*_ALWAYS, *statuses})}


def event(name: str, data: Any) -> ServerSentEvent:
    """Return a server-sent event whose data is a value as JSON."""
    return ServerSentEvent(json.dumps(data, ensure_ascii=False), event=name)


def event_stream(events: AsyncIterator[ServerSentEvent], stop: Callable[[], None] | None = None) -> EventSourceResponse:
    """Return a response that sends events as they occur, and closes the iterator when the client disconnects.

    When the server stops, `stop` is called, to make the events end by themselves within `_FAREWELL` seconds; without
    it the stream is cut off at once.
    """
    # The library sets an event when the server stops; an object whose `set` calls `stop` takes the event's place.
    shutdown_event = cast("anyio.Event", SimpleNamespace(set=stop)) if stop else None
    return EventSourceResponse(events, send_timeout=_SEND_TIMEOUT, shutdown_event=shutdown_event,
                               shutdown_grace_period=_FAREWELL if stop else 0)
