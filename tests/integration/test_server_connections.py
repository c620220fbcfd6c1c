"""`banyan serve` against connections that bring no request, or one without an end."""

import socket
import time

import httpx
import pytest

from ..conftest import load_test_module

pytestmark = pytest.mark.integration
serving, warm_start = map(load_test_module, ("serving", "warm_start"))
MANY = 400


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with few descriptors, for 200 connections."""
    with serving.served(tmp_path_factory.mktemp("connections"),
                        **{warm_start.HASHED: "1", warm_start.DESCRIPTORS: "600"}) as server:
        yield server
        assert "Traceback" not in server.said


def connected(server):
    host, port = server.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=30)


def test_connections_without_a_request_keep_nobody_out(server):
    halves = [connected(server) for _ in range(MANY)]
    for half in halves:
        half.sendall(b"GET /api/health HTTP/1.1\r\n")
    try:
        with httpx.Client(base_url=server.url, timeout=30) as client:
            assert [client.get("/api/health").status_code for _ in range(5)] == [200] * 5
        oldest = halves[0]
        assert oldest.recv(1) == b"", "the one that waited longest was closed"
    finally:
        for half in halves:
            half.close()


def test_a_request_that_does_not_come_is_not_waited_for(server):
    with connected(server) as silent, connected(server) as dribbling:
        dribbling.sendall(b"GET /api/health HTTP/1.1\r\nX: ")
        started = time.monotonic()
        while time.monotonic() < started + 60:
            time.sleep(0.5)
            try:
                dribbling.sendall(b"x")
            except OSError:
                break
        assert silent.recv(1) == b""
        assert time.monotonic() < started + 40


def test_a_head_without_an_end_is_not_read(server):
    sent = 0
    with connected(server) as endless:
        endless.sendall(b"GET /api/health HTTP/1.1\r\nX: ")
        with pytest.raises(OSError):
            for _ in range(1000):
                endless.sendall(b"x" * 65_536)
                sent += 65_536
    assert sent < 20_000_000, "what the system keeps for a connection"
