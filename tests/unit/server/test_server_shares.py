"""One client cannot keep others waiting: what takes threads, processors or memory has a share for each client."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from banyan.agents.resources import Resources
from banyan.runtime import audit
from banyan.server.runs import turns
from banyan.server.security.keys import Keys

from ... import in_process, rest

BASE = "/api/knowledge-bases/people"
MANY = 44
"""More than there are threads."""


@pytest.fixture
def key_of(resources):
    keys = Keys.of(resources.settings)
    return {name: {"X-API-Key": keys.make(name, ["read", "write", "review"])} for name in ("hostile", "other")}


@pytest.fixture
def blocked(monkeypatch):
    """Let whatever the client "hostile" reads or deletes wait for an event, in its thread."""
    class Blocked:
        end, begun = threading.Event(), threading.Semaphore(0)

    def wait(*_):
        if audit.client() == "hostile":
            Blocked.begun.release()
            Blocked.end.wait()

    snapshot = Resources.snapshot

    @contextmanager
    def slow_snapshot(*arguments):
        wait()
        with snapshot(*arguments) as opened:
            yield opened

    monkeypatch.setattr(Resources, "snapshot", slow_snapshot)
    monkeypatch.setattr(Resources, "delete_documents", wait)
    yield Blocked
    Blocked.end.set()


@pytest.mark.parametrize("path", ["/documents", "/export?format=html", "mcp"])
def test_many_slow_requests_of_one_client_leave_others_an_answer(app, key_of, blocked, path):
    def ask(client, name):
        if path == "mcp":
            return rest.mcp(client, "tools/call", key_of[name], name="list_documents",
                            arguments={"knowledge_base": "people"})
        return client.get(BASE + path, headers=key_of[name]).status_code

    with in_process.client(app) as client, ThreadPoolExecutor(MANY) as threads, ThreadPoolExecutor(2) as others:
        asked = [threads.submit(ask, client, "hostile") for _ in range(MANY)]
        try:
            assert blocked.begun.acquire(timeout=60)
            answer = others.submit(ask, client, "other")
            light = others.submit(lambda: client.get(f"{BASE}/documents", headers=key_of["other"]).status_code)
            assert light.result(timeout=60) == 200
            first = answer.result(timeout=60)
        finally:
            blocked.end.set()
        assert first == asked[0].result()


def test_a_client_reads_while_its_changes_wait_and_waits_for_its_share_only_so_long(app, key_of, blocked, monkeypatch):
    hostile = key_of["hostile"]
    with in_process.client(app) as client, ThreadPoolExecutor(MANY) as threads:
        for _ in range(MANY // 2):
            threads.submit(client.delete, f"{BASE}/document?id=x", headers=hostile)
        try:
            assert all(blocked.begun.acquire(timeout=60) for _ in range(turns._MOST_THREADS))
            reads = [threads.submit(client.get, f"{BASE}/documents", headers=hostile)
                     for _ in range(turns._MOST_THREADS)]
            assert all(blocked.begun.acquire(timeout=60) for _ in reads), "the reads have begun"
            monkeypatch.setattr(turns, "_SECONDS", 0.2)  # only now: on a busy machine the others need longer
            refused = threads.submit(client.get, f"{BASE}/documents", headers=hostile).result(timeout=60)
        finally:
            blocked.end.set()
        assert (refused.status_code, "send fewer at once" in refused.json()["error"]["message"]) == (504, True)
        assert {read.result().status_code for read in reads} == {200}
