"""Ports for servers of the tests' own, which stay theirs while they are stopped and started."""

import itertools
import os
import socket

# Below those that systems give to connections (from 32768) and above those of Ray's workers (to 19999), so that neither
# takes one between its choice and its use; each process begins somewhere else.
_FIRST, _COUNT = 20_000, 12_000
_next = itertools.count(os.getpid() * 97)


def free_port() -> int:
    """A port of the loopback address that nobody listens on, and that this process has not given before."""
    for number in itertools.islice(_next, _COUNT):
        port = _FIRST + number % _COUNT
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    raise OSError(f"no port from {_FIRST} to {_FIRST + _COUNT - 1} is free")
