"""Connections without a request do not stay, and keep nobody out: a server on a port, with few of them."""

import contextlib
import http.client
import socket
import threading
import time

import httpx
import pytest
import uvicorn
from banyan.cli.commands.serve import Connection
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from ..ports import free_port

pytestmark = pytest.mark.integration
MOST = 5
HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"


def slow_answer(_):
    time.sleep(1.5)
    return PlainTextResponse("late")


@contextlib.contextmanager
def listening(seconds: float):
    """The port of a server that closes connections after so many seconds without a request's head."""
    port = free_port()
    app = Starlette(routes=[Route("/", lambda _: PlainTextResponse("here")), Route("/slow", slow_answer)])
    server = uvicorn.Server(uvicorn.Config(
        app, port=port, http=Connection, timeout_keep_alive=seconds, limit_concurrency=MOST, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield port
    server.should_exit = True
    thread.join(60)


def connected(port: int, data: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    connection.sendall(data)
    return connection


def answer(connection: socket.socket) -> bytes:
    """The body of a response, in however many segments it comes."""
    response = http.client.HTTPResponse(connection)
    response.begin()
    return response.read()


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:  # it was closed before what it had sent was read
        return True


@pytest.mark.parametrize("answers", [0, 1])
def test_a_head_that_never_ends_ends_its_connection(answers):
    with listening(0.5) as port, connected(port) as connection:
        for _ in range(answers):
            connection.sendall(HEAD + b"\r\n")
            assert answer(connection) == b"here"
        connection.sendall(HEAD)
        with contextlib.suppress(ConnectionError):
            for _ in range(100):  # each byte would have started uvicorn's timer again, or stopped it
                connection.sendall(b"X")
                time.sleep(0.1)
            pytest.fail("it was held for ten seconds")


def test_connections_without_a_request_make_room_for_others():
    with listening(60) as port, contextlib.ExitStack() as held:
        waiting = []
        for _ in range(2 * MOST):  # after an answer each: event loops count milliseconds
            waiting.append(held.enter_context(connected(port, HEAD + b"\r\n")))
            assert answer(waiting[-1]) == b"here"
            waiting[-1].sendall(HEAD)
        assert httpx.get(f"http://127.0.0.1:{port}/", timeout=60).text == "here"
        waiting[-1].sendall(b"\r\n")
        assert answer(waiting[-1]) == b"here", "those that waited longest were closed, not the last ones"
        assert is_closed(waiting[0])


def test_an_answer_may_take_longer_than_a_head():
    with listening(0.5) as port:
        assert httpx.get(f"http://127.0.0.1:{port}/slow", timeout=60).text == "late"
