"""Connections of `banyan serve` that bring no request, or read no response: bounded, so that they keep nobody out.

uvicorn bounds a request's head (h11, `h11_max_incomplete_event_size`) and connections in all (`limit_concurrency`),
not how long a connection may take to bring a request or to read its response. httptools, which it prefers, bounds no
head.
"""

import asyncio
import socket
import struct
import sys

from uvicorn.protocols.http.h11_impl import H11Protocol

if sys.platform != "win32":
    import resource

HEAD_WITHIN = 10.0
"""Seconds that a request's head may take, from the connection or the response before it."""
MAX_HEAD = 32 * 1024
"""Bytes of a request's line and headers."""
READ_WITHIN = 10.0
"""Seconds in which a client may leave parts of a response unread, and one more for each so many bytes of them:"""
SLOWEST_READER = 10_000
_IN_SYSTEM = 128 * 1024
"""Bytes of a response that the system takes over from the process, of which it does not say whether they are read."""
_RESET = struct.pack("ii", 1, 0)
_MOST_CONNECTIONS = 1000


class Connection(H11Protocol):
    """A connection that is closed if it brings no request in time or reads its response too slowly.

    When there are too many, the one whose client has kept the server waiting longest is closed.
    """

    waits_since: float
    """When it began to wait for a request."""
    _unread_since: float | None = None
    """Since when the client has read too little for more to be sent; None: it reads."""
    _unread: int = 0
    """Bytes that waited to be sent then."""
    _behind: float = 0.0
    """Seconds that the client is behind the slowest rate in this response."""

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
        """Close a connection where there are too many, of this address or of all; return False if none can be."""
        if len(self.connections) < most // 2:
            return True
        others = [other for other in self.connections if isinstance(other, Connection)]
        address = _address(transport)
        same = [other for other in others if _address(other.transport) == address]
        if len(same) >= most // 2:
            return _close_idle(same)
        if len(others) >= most - 1:
            _close_idle(others)  # where none is, uvicorn answers that there are too many
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
        """When it began to wait for its client; None: its request is being answered."""
        return self.waits_since if self.waits else self._unread_since

    def abort(self) -> None:
        """Close at once, and let the system forget what was not read."""
        if self.transport.get_write_buffer_size():
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.transport.abort()

    def _expect_request(self) -> None:
        self.waits_since = self.loop.time()
        within = HEAD_WITHIN + self.transport.get_write_buffer_size() / SLOWEST_READER
        self.loop.call_later(within, self._close_late, self.cycle)

    def _close_late(self, last: object) -> None:
        # Also where it is closing: that waits until the client has read the rest.
        if self.cycle is last:
            self.abort()

    def _close_unread(self, since: float) -> None:
        if self._unread_since == since:
            self.abort()


def _close_idle(connections: list[Connection]) -> bool:
    """Close the connection that has waited longest for its client; return False if none waits."""
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
    """How many connections the process has descriptors for, beside its knowledge bases; its limit is raised first."""
    if sys.platform == "win32":
        return _MOST_CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return _MOST_CONNECTIONS if hard == resource.RLIM_INFINITY else min(_MOST_CONNECTIONS, hard // 3)
