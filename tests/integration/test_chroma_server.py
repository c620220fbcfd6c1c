"""Vectors on a Chroma server in a process of its own; the way to it by a token, to what is none, to one that hangs."""

import threading
from contextlib import contextmanager

import httpx
import pytest
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.layout import Layout
from banyan.graph_store.store_errors import StoreError
from banyan.graph_store.vectors import vector_store
from banyan.schemas.graph_schema import open_schema
from banyan.schemas.services import ChromaServer

from .. import chroma_process, scripted, small_base
from ..http_servers import Handler, listening

pytestmark = pytest.mark.integration

chroma, fresh_connections = chroma_process.chroma, chroma_process.fresh_connections


@pytest.fixture
def shell(chroma, tmp_path, hashed_embedder, monkeypatch, capsys):
    (tmp_path / "shell").mkdir()
    made = scripted.Shell(tmp_path / "shell", hashed_embedder, monkeypatch, capsys)
    made.settings = made.settings.model_copy(update={"chroma_url": chroma.url})
    monkeypatch.setenv("BANYAN_CHROMA_URL", chroma.url)
    return made


def on_it(chroma):
    listed = httpx.get(f"{chroma.url}/api/v2/tenants/default_tenant/databases/default_database/collections")
    return sorted(one["name"] for one in listed.json())


def test_build_add_delete_reindex_verify_backup_and_restore(chroma, shell, tmp_path):
    plain = scripted.Workshop(tmp_path / "embedded", shell.embedder)
    plain.build(plain.write(scripted.TEXTS))
    shell.write(scripted.TEXTS)
    assert shell.report()["documents"] == 4
    assert shell.vectors() == plain.vectors()
    assert shell.sound()
    for shop in (shell, plain):
        shop.build(shop.write({"e.txt": "Eva:Person --employer--> Birch:Organization."}))
    assert shell.vectors() == plain.vectors()
    assert shell("delete", "a.txt", "--kb", "kb").code == 0
    plain.delete("a.txt")
    assert shell.vectors() == plain.vectors()
    before = on_it(chroma)
    assert shell("reindex", "--kb", "kb").code == 0
    assert set(before) >= set(on_it(chroma))
    assert shell.vectors() == plain.vectors()
    assert shell.sound()
    assert shell("backup", "--kb", "kb", "-o", shell.folder / "kb.zip").code == 0
    assert shell("delete", "b.txt", "--kb", "kb").code == 0
    assert shell("restore", shell.folder / "kb.zip", "--kb", "kb", "--force").code == 0
    assert shell("restore", shell.folder / "kb.zip", "--kb", "other").code == 0
    assert shell.vectors() == plain.vectors()
    assert shell.sound()
    assert shell("verify", "--kb", "other").code == 0
    assert not list(shell.folder.rglob("chroma*"))


@pytest.mark.slow
def test_a_server_that_is_down_is_named_and_nothing_is_lost(chroma, shell):
    stops, stop = iter([1]), lambda _: next(stops, None) and chroma.stop()
    shell.write(scripted.TEXTS)
    shell.scripted.before = stop
    broken_off = shell.run_build()
    assert broken_off.code == 1
    assert chroma.url in broken_off.err
    said = shell.scripted.extracted.copy()
    assert said
    shell.run_build().refused(f"the Chroma server at {chroma.url} does not answer", "BANYAN_CHROMA_URL")
    assert shell.scripted.extracted == said, "before anything was paid"
    chroma.start()
    shell.report()
    assert shell.sound()
    assert set(shell.scripted.extracted.values()) == {1}
    assert said <= shell.scripted.extracted


@contextmanager
def proxy(target, admit):
    """A proxy before a server; `admit` gives the status with which a request is refused, or 0."""
    class Proxy(Handler):
        def respond(self):
            body = self.body()
            if refused := admit(self):
                self.answer(refused, b"not today")
                return
            answer = client.request(self.command, target + self.path, content=body,
                                    headers={"Content-Type": "application/json"})
            self.answer(answer.status_code, answer.content, Content_Type="application/json")

    with httpx.Client(timeout=60) as client, listening(Proxy) as url:
        yield url


def test_a_token_is_sent_in_the_header_that_is_set(chroma, tmp_path, hashed_embedder):
    header, sent, shown = "X-Pass", "sesame", set()

    def admit(request):
        shown.add(request.headers.get(header))
        return 0 if request.headers.get(header) == sent else 403

    with proxy(chroma.url, admit) as url:
        with pytest.raises(StoreError, match=rf"{url} refuses us.* \(403\): see .* BANYAN_CHROMA_TOKEN"):
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
          pytest.raises(StoreError, match=rf"{url} .* no Chroma server of version 1 or later \({status}\)")):
        KnowledgeBase(Layout.of(tmp_path, "kb", ChromaServer(url=url)), hashed_embedder, create=True)


@pytest.mark.parametrize("hangs", ["GET", "POST"])
def test_a_server_that_hangs_is_not_waited_for_for_ever(chroma, tmp_path, hashed_embedder, monkeypatch, hangs):
    """At once, or only when it is to write."""
    monkeypatch.setattr(vector_store, "_CONNECT_SECONDS", 0.1 if hangs == "GET" else 30)
    monkeypatch.setattr(vector_store, "_ANSWER_SECONDS", 0.1)
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
