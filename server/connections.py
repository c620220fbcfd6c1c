"""Connections of `banyan serve` that bring no request: in bounded number and time, so that they keep nobody out.

uvicorn bounds a request's head (h11, `h11_max_incomplete_event_size`) and connections in all (`limit_concurrency`),
not how long a connection may take to bring a request. httptools, which it prefers, bounds no head.
"""

import asyncio
import sys

from uvicorn.protocols.http.h11_impl import H11Protocol

if sys.platform != "win32":
    import resource

HEAD_WITHIN = 10.0
"""Seconds that a request's head may take, from the connection or the response before it."""
MAX_HEAD = 32 * 1024
"""Bytes of a request's line and headers."""
_MOST_CONNECTIONS = 1000


class Connection(H11Protocol):
    """A connection that is closed if it brings no request in time, or has waited longest when there are too many."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See asyncio."""
        if self.limit_concurrency is not None and len(self.connections) >= self.limit_concurrency - 1:
            waiting = [other for other in self.connections if isinstance(other, Connection) and other.waits]
            if waiting:
                oldest = min(waiting, key=lambda other: other.waits_until)
                self.connections.discard(oldest)
                oldest.transport.abort()
        super().connection_made(transport)
        self._expect_request()

    def on_response_complete(self) -> None:
        """See uvicorn."""
        super().on_response_complete()
        if self.waits and not self.transport.is_closing():
            self._expect_request()

    @property
    def waits(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _expect_request(self) -> None:
        self.waits_until = self.loop.time() + HEAD_WITHIN
        self.loop.call_later(HEAD_WITHIN, self._close_late, self.cycle)

    def _close_late(self, last: object) -> None:
        if self.cycle is last and not self.transport.is_closing():
            self.transport.abort()


def most_connections() -> int:
    """How many connections the process has descriptors for, beside its knowledge bases; its limit is raised first."""
    if sys.platform == "win32":
        return _MOST_CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return _MOST_CONNECTIONS if hard == resource.RLIM_INFINITY else min(_MOST_CONNECTIONS, hard // 3)
