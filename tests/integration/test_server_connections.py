"""`banyan serve` against connections that bring no request, one without an end, or read no response."""

import socket
import time

import httpx
import pytest

from .. import serving, warm_start

pytestmark = pytest.mark.integration
MANY = 400
LARGE = "/assets/vendor/cytoscape.esm.min.js"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with few descriptors, for 200 connections."""
    with serving.served(tmp_path_factory.mktemp("connections"),
                        **{warm_start.HASHED: "1", warm_start.DESCRIPTORS: "600"}) as server:
        yield server
        assert "Traceback" not in server.said


def connected(server, room=None):
    """A connection; `room`: bytes that the client's system keeps for what it has not read."""
    host, port = server.url.removeprefix("http://").split(":")
    connection = socket.socket()
    if room:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    connection.settimeout(30)
    connection.connect((host, int(port)))
    return connection


def unread(server):
    """A connection whose client asks for more than what systems keep, and reads nothing of it."""
    connection = connected(server, room=4096)
    connection.sendall(f"GET {LARGE} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode() * 20)
    return connection


def is_closed(connection):
    """Whether the server has closed a connection; what it had not read by then makes the system reset it."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_connections_without_a_request_keep_nobody_out(server):
    halves = [connected(server) for _ in range(MANY)]
    for half in halves:
        half.sendall(b"GET /api/health HTTP/1.1\r\n")
    try:
        with httpx.Client(base_url=server.url, timeout=30) as client:
            assert [client.get("/api/health").status_code for _ in range(5)] == [200] * 5
        assert is_closed(halves[0]), "the one that waited longest"
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
        assert is_closed(silent)
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


def test_responses_that_nobody_reads_keep_nobody_out(server):
    readers = [unread(server) for _ in range(MANY)]
    try:
        with httpx.Client(base_url=server.url, timeout=30) as client:
            for _ in range(5):
                assert client.get("/api/health").status_code == 200
                readers += [unread(server) for _ in range(20)]
    finally:
        for reader in readers:
            reader.close()


def test_a_response_is_not_kept_for_a_client_that_reads_too_slowly(server):
    with unread(server) as silent, unread(server) as dribbling:
        started = time.monotonic()
        with pytest.raises(ConnectionResetError):
            while time.monotonic() < started + 45:
                dribbling.recv(100)
                time.sleep(0.2)
        with pytest.raises(ConnectionResetError):
            for _ in range(50):
                silent.recv(65_536)


def test_a_client_that_reads_at_a_slow_line_s_rate_gets_the_whole_file(server):
    whole = httpx.get(server.url + LARGE).content
    with connected(server, room=4096) as slow:
        slow.sendall(f"GET {LARGE} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        got, started = b"", time.monotonic()
        while part := slow.recv(4096):
            got += part
            time.sleep(max(0.0, len(got) / 30_000 - (time.monotonic() - started)))
    assert got.endswith(whole)
