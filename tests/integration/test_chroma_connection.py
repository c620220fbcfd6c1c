"""The way to a Chroma server: through a proxy that wants a token, to what is none, to one that hangs."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.layout import Layout
from banyan.graph_store.store_errors import StoreError
from banyan.graph_store.vectors import server_store
from banyan.schemas.graph_schema import open_schema
from banyan.schemas.service_addresses import ChromaServer

from .. import chroma_process, small_base

pytestmark = pytest.mark.integration

chroma, fresh_connections = chroma_process.chroma, chroma_process.fresh_connections


@contextmanager
def proxy(target, admit):
    """A proxy before a server; `admit` gives the status with which a request is refused, or 0."""
    class Proxy(BaseHTTPRequestHandler):
        def _pass_on(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            refused = admit(self)
            if refused:
                self._answer(refused, b"not today")
                return
            answer = httpx.request(self.command, target + self.path, content=body,
                                   headers={"Content-Type": "application/json"}, timeout=60)
            self._answer(answer.status_code, answer.content)

        def _answer(self, code, body):
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_DELETE = _pass_on  # noqa: N815

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(("header", "sent"), [("X-Pass", "sesame"), ("Authorization", "Bearer sesame")])
def test_a_token_is_sent_in_the_header_that_is_set(chroma, tmp_path, hashed_embedder, header, sent):
    shown = set()

    def admit(request):
        shown.add(request.headers.get(header))
        return 0 if request.headers.get(header) == sent else 403

    with proxy(chroma.url, admit) as url:
        with pytest.raises(StoreError, match=rf"{url} refuses us \(403\): set BANYAN_CHROMA_TOKEN"):
            KnowledgeBase(Layout.of(tmp_path, "kb", ChromaServer(url=f"{url}/")), hashed_embedder, create=True)
        server = ChromaServer(url=url, token="sesame", token_header=header)
        with KnowledgeBase(Layout.of(tmp_path, "kb", server), hashed_embedder, create=True) as kb, kb.writing():
            kb.schemas.append(open_schema(), (), "seed")
            small_base.put(kb, "ulm", small_base.PEOPLE["ulm"], entities={"Ulm": "City", "Danube": "River"},
                           triples=[("Ulm", "lies_on", "Danube")])
            small_base.finish(kb)
            assert verify(kb) == []
    assert shown == {None, sent}


@pytest.mark.parametrize("status", [404, 502])
def test_what_is_no_chroma_server_is_named(tmp_path, hashed_embedder, status):
    with (proxy("", lambda _: status) as url,
          pytest.raises(StoreError, match=rf"{url} is no Chroma server of version 1 or later \({status}\)")):
        KnowledgeBase(Layout.of(tmp_path, "kb", ChromaServer(url=url)), hashed_embedder, create=True)


@pytest.mark.parametrize("hangs", ["GET", "POST"])
def test_a_server_that_hangs_is_not_waited_for_for_ever(chroma, tmp_path, hashed_embedder, monkeypatch, hangs):
    """At once, or only when it is to write."""
    monkeypatch.setattr(server_store, "_CONNECT_SECONDS", 0.1 if hangs == "GET" else 30)
    monkeypatch.setattr(server_store, "_ANSWER_SECONDS", 0.1)
    over = threading.Event()

    def admit(request):
        if request.command == hangs:
            over.wait(60)
            return 503
        return 0

    with proxy(chroma.url, admit) as url:
        try:
            with pytest.raises(StoreError, match=f"{url} does not answer"):
                KnowledgeBase(Layout.of(tmp_path, "kb", ChromaServer(url=url)), hashed_embedder, create=True)
        finally:
            over.set()
