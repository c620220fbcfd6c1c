"""Small HTTP servers on ports of this machine, each with a handler of a test's own."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    """Logs nothing, and has one method for all requests, which reads and answers whole bodies."""

    def respond(self) -> None:
        raise NotImplementedError

    def _respond(self) -> None:
        self.respond()

    do_GET = do_POST = do_PUT = do_DELETE = _respond  # noqa: N815

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content_Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def collecting() -> Iterator[tuple[str, list[bytes]]]:
    """The address of a server that stands where LangSmith would, and the bodies that it is sent."""
    bodies: list[bytes] = []

    class Collector(Handler):
        def respond(self) -> None:
            bodies.append(self.body())
            self.answer(200, b"{}")

    with listening(Collector) as url:
        yield url, bodies
