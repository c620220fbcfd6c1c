"""Limits on idle and slow connections of `banyan serve`, so they cannot keep others out.

uvicorn limits the size of a request's head (h11, `h11_max_incomplete_event_size`) and the number of connections
(`limit_concurrency`), but not the time that a connection takes to send a request or to read its response. httptools,
which uvicorn prefers, does not even limit the head.
"""

import asyncio
import socket
import struct
import sys

from uvicorn.protocols.http.h11_impl import H11Protocol

if sys.platform != "win32":
    import resource

HEAD_WITHIN = 10.0
"""Seconds for a request's head, counted from the connection or the previous response."""
MAX_HEAD = 32 * 1024
"""Most bytes of a request's line and headers."""
READ_WITHIN = 10.0
"""Seconds for which a client may leave parts of a response unread, plus one per SLOWEST_READER bytes of them."""
SLOWEST_READER = 10_000
_IN_SYSTEM = 128 * 1024
"""The system's send buffer in bytes; the process cannot tell whether its contents were read."""
_RESET = struct.pack("ii", 1, 0)
_MOST_CONNECTIONS = 1000


class Connection(H11Protocol):
    """A connection that is closed if it sends no request in time or reads its response too slowly.

    If there are too many connections, the one that has waited longest for its client is closed.
    """

    waits_since: float
    """When the connection began to wait for a request."""
    _unread_since: float | None = None
    """When the client stopped reading fast enough; None while it reads."""
    _unread: int = 0
    """The number of unsent bytes at that time."""
    _behind: float = 0.0
    """Seconds by which the client is behind the slowest allowed rate in this response."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See asyncio."""
        if self.limit_concurrency is not None and not self._make_room(transport, self.limit_concurrency):
            self.transport = transport
            self.abort()
            return
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _IN_SYSTEM)
        super().connection_made(transport)
        self._expect_request()

    def _make_room(self, transport: asyncio.Transport, most: int) -> bool:
        """Close a connection if there are too many of this address or in total; return False if none can be closed."""
        if len(self.connections) < most // 2:
            return True
        others = [other for other in self.connections if isinstance(other, Connection)]
        address = _address(transport)
        same = [other for other in others if _address(other.transport) == address]
        if len(same) >= most // 2:
            return _close_idle(same)
        if len(others) >= most - 1:
            _close_idle(others)  # without an idle one, uvicorn refuses the request
        return True

    def on_response_complete(self) -> None:
        """See uvicorn."""
        self._behind = 0.0
        super().on_response_complete()
        if self.waits:
            self._expect_request()

    def pause_writing(self) -> None:
        """See asyncio."""
        super().pause_writing()
        self._unread_since, self._unread = self.loop.time(), self.transport.get_write_buffer_size()
        within = READ_WITHIN + self._unread / SLOWEST_READER - self._behind
        self.loop.call_later(max(0.0, within), self._close_unread, self._unread_since)

    def resume_writing(self) -> None:
        """See asyncio."""
        super().resume_writing()
        if self._unread_since is not None:
            read = self._unread - self.transport.get_write_buffer_size()
            taken = self.loop.time() - self._unread_since
            self._behind = max(0.0, self._behind + taken - read / SLOWEST_READER)
            self._unread_since = None

    @property
    def waits(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def idle_since(self) -> float | None:
        """When the connection began to wait for its client; None while a request is being answered."""
        return self.waits_since if self.waits else self._unread_since

    def abort(self) -> None:
        """Close the connection at once, and drop the unread data from the system's buffer."""
        if self.transport.get_write_buffer_size():
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.transport.abort()

    def _expect_request(self) -> None:
        self.waits_since = self.loop.time()
        within = HEAD_WITHIN + self.transport.get_write_buffer_size() / SLOWEST_READER
        self.loop.call_later(within, self._close_late, self.cycle)

    def _close_late(self, last: object) -> None:
        # Closing connections as well: otherwise they would wait until the client has read the rest.
        if self.cycle is last:
            self.abort()

    def _close_unread(self, since: float) -> None:
        if self._unread_since == since:
            self.abort()


def _close_idle(connections: list[Connection]) -> bool:
    """Close the connection that has waited longest for its client; return False if no connection waits."""
    idle = [(since, number) for number, connection in enumerate(connections)
            if (since := connection.idle_since) is not None]
    if not idle:
        return False
    oldest = connections[min(idle)[1]]
    oldest.connections.discard(oldest)
    oldest.abort()
    return True


def _address(transport: asyncio.Transport) -> str:
    peer = transport.get_extra_info("peername")
    return str(peer[0]) if peer else ""


def most_connections() -> int:
    """Return how many connections the process has file descriptors for, after raising its limit."""
    if sys.platform == "win32":
        return _MOST_CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return _MOST_CONNECTIONS if hard == resource.RLIM_INFINITY else min(_MOST_CONNECTIONS, hard // 3)
