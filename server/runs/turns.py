"""Turns of clients at what takes threads, processors or memory, so that one client cannot keep the others waiting."""

import asyncio
import inspect
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from typing import Any, TypeVar

import anyio
from cachetools import LRUCache
from fastapi import Depends, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from ...runtime.audit import LOCAL
from ..responses import DeadlineError, UnavailableError

_T = TypeVar("_T")
_READING = {"GET", "HEAD"}  # methods that change nothing and have no body
_MOST_CLIENTS = 10_000  # clients whose shares are cached
# One thread of Python runs at a time, so more would make others slower, and this client no faster.
_MOST_THREADS = 2  # the most threads that read, and the most that write, for one client at once
_MOST_CALLS = 4  # the most MCP requests of a client at once: each has a session of its own, which takes time
# How long such a turn rests after a request, as a multiple of the time that this took, and the most seconds: one
# request of a client is then under way on average, and questions that wait for a model still run side by side.
_PAUSE, _LONGEST_PAUSE = 3, 1.0
# The most heavy tasks at once, of which one client may have one: each takes a processor, or as much memory as a graph.
_HEAVY_AT_ONCE = 2
_SECONDS = 60.0  # the time limit of a heavy task, or of a request that waits for a thread, from its arrival


class Turns:
    """Turns at one kind of work. Whoever waits for one holds no thread."""

    def __init__(self, at_once: float, most_per_client: int) -> None:
        """Limit how many turns there are at once, in total and for one client."""
        self._limiter = anyio.CapacityLimiter(at_once)
        self._most_per_client = most_per_client
        self._shares: LRUCache[str, anyio.CapacityLimiter] = LRUCache(_MOST_CLIENTS)

    @property
    def waiting(self) -> int:
        """The number of turns that are waited for, without those of clients that have used up their own share."""
        return self._limiter.statistics().tasks_waiting

    @asynccontextmanager
    async def take(self, client: str) -> AsyncGenerator[None]:
        """Hold a turn within the block; `LOCAL`, who is everybody without a key, has no share of its own."""
        own_limiter = self._shares.setdefault(client, anyio.CapacityLimiter(self._most_per_client))
        # The own limit comes first, so whoever waits for it holds no turn of the others.
        async with nullcontext() if client == LOCAL else own_limiter, self._limiter:
            yield


@asynccontextmanager
async def time_limit(seconds: float, message: str) -> AsyncGenerator[None]:
    """End the block with a DeadlineError of this message if it takes longer."""
    try:
        async with asyncio.timeout(seconds) as deadline:
            yield
    except TimeoutError:
        if deadline.expired():
            raise DeadlineError(message) from None
        raise  # an error of the block itself, such as an endpoint that does not answer


class Shares:
    """The turns of a server's routes and MCP tools."""

    def __init__(self) -> None:
        self._reads = Turns(float("inf"), _MOST_THREADS)
        # Changes wait for each other and for builds, so they have a share of their own: a client can read meanwhile.
        self._changes = Turns(float("inf"), _MOST_THREADS)
        self._calls = Turns(float("inf"), _MOST_CALLS)  # of MCP
        self._heavy = Turns(_HEAVY_AT_ONCE, 1)

    def limit_calls(self, app: ASGIApp) -> ASGIApp:
        """Return the app of MCP with a limit on a client's requests; further ones wait."""
        async def limited(scope: Scope, receive: Receive, send: Send) -> None:
            client = scope["state"]["client"]
            if scope["method"] != "POST" or client == LOCAL:  # a GET is a stream that stays open
                await app(scope, receive, send)
                return
            async with self._calls.take(client):
                began = time.monotonic()
                await app(scope, receive, send)
                # The client has its answer. A client that keeps all its turns busy pauses between them, as otherwise
                # its searches would make another one's wait eleven times as long (three times with it).
                await asyncio.sleep(min(_PAUSE * (time.monotonic() - began), _LONGEST_PAUSE))

        return limited

    @asynccontextmanager
    async def take_thread(self, request: Request, *, changes: bool) -> AsyncGenerator[None]:
        """Wait until a request's client has fewer threads than its share, and count one more within the block."""
        turns = self._changes if changes else self._reads
        async with AsyncExitStack() as turn:
            async with time_limit(_SECONDS, f"{_MOST_THREADS} other requests of this client have not ended within "
                                            f"{_SECONDS:g} s: wait for them, and send fewer at once"):
                await turn.enter_async_context(turns.take(request.state.client))
            await check_connected(request)
            yield

    async def run_heavy(self, request: Request, task: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        """Run a task in its client's turn until its end or the time limit, unless the client has left meanwhile."""
        async with time_limit(_SECONDS, f"this was not done within {_SECONDS:g} s: try again when the server is less "
                                        "busy"), self._heavy.take(request.state.client):
            await check_connected(request)
            return await task()


async def check_connected(request: Request) -> None:
    """Raise UnavailableError if the client of a request whose body is read has left."""
    if await request.is_disconnected():
        raise UnavailableError("the client disconnected before this was done: ask again")


async def _take_thread(request: Request) -> AsyncIterator[None]:
    if inspect.iscoroutinefunction(request.scope["endpoint"]):
        yield
        return
    async with request.app.state.service.shares.take_thread(request, changes=request.method not in _READING):
        yield


FAIR = Depends(_take_thread)  # a route's dependency: it takes a thread of its client's share, unless it is asynchronous
