"""Clients that ask for much and read little of it, beside one that is to be answered all the same."""

import random
import socket
import time
from urllib.parse import urlsplit

import httpx

from ..serving import Served

_PATHS = ("/assets/vendor/cytoscape.esm.min.js", "/", "/api/openapi.json", "/api/knowledge-bases/demo/backup",
          "/assets/main.js")
_MOST_OPEN = 1500
_ANSWERED_WITHIN = 5.0


class SlowReaders:
    """Opens connections that read nothing, a little, or break off; the server has to close them, and goes on."""

    name = "slow"

    def __init__(self, server: Served) -> None:
        """Open none yet."""
        parts = urlsplit(server.url)
        self._place = parts.hostname or "", parts.port or 0
        self._honest = httpx.Client(base_url=server.url, timeout=30, transport=httpx.HTTPTransport(retries=3))
        self._open: list[socket.socket] = []

    def round(self, draw: random.Random) -> int:
        """Open some more; returns how many."""
        for _ in range(50):
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, draw.choice((1024, 4096, 65_536)))
            connection.settimeout(0.5)
            try:
                connection.connect(self._place)
                request = f"GET {draw.choice(_PATHS)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
                connection.sendall(request[:draw.randint(1, len(request))] if draw.random() < 0.2
                                   else request * draw.randint(1, 30))
                if draw.random() < 0.3:
                    connection.recv(draw.randint(1, 5000))
            except OSError:
                connection.close()
            else:
                self._open.append(connection)
        draw.shuffle(self._open)
        while len(self._open) > _MOST_OPEN:
            self._open.pop().close()
        started = time.monotonic()
        self._honest.close()
        self._honest = httpx.Client(base_url=self._honest.base_url, timeout=30)
        assert self._honest.get("/api/health").status_code == 200
        assert time.monotonic() - started < _ANSWERED_WITHIN, f"{time.monotonic() - started:.1f} s"
        return 50

    def close(self) -> None:
        """Close all."""
        for connection in self._open:
            connection.close()
        self._honest.close()
