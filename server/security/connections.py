"""What a connection may do before it has sent a request: little, so that clients who send none keep nobody out."""

import asyncio
from typing import cast

from uvicorn.protocols.http.h11_impl import H11Protocol


class Connection(H11Protocol):
    """A connection that is closed unless the whole head of a request arrives within `timeout_keep_alive` seconds.

    If a process has as many connections as it may have, a new one takes the place of the one that has waited longest
    for a head.
    """

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the timer, which uvicorn starts only after an answer, and make room for this connection."""
        super().connection_made(cast("asyncio.Transport", transport))
        excess = len(self.connections) + 1 - (self.limit_concurrency or len(self.connections) + 1)
        if excess > 0:
            self._close_waiting(excess)
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def _close_waiting(self, excess: int) -> None:
        """Close so many of the connections that have waited longest for a head."""
        waiting = {one: one.timeout_keep_alive_task.when() for one in self.connections
                   if isinstance(one, Connection) and one.timeout_keep_alive_task}
        for one in sorted(waiting, key=lambda one: waiting[one])[:excess]:
            one.timeout_keep_alive_handler()
            # uvicorn does this when the transport has closed; a request that is handled before would be refused.
            self.connections.discard(one)

    def data_received(self, data: bytes) -> None:
        """Handle what has arrived; uvicorn's own method stops the timer at the first byte of a head."""
        self.conn.receive_data(data)
        self.handle_events()
