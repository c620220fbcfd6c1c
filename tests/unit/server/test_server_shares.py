"""One client cannot keep others waiting: what takes threads, processors or memory has a share for each client."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

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
    """Let whatever the client "hostile" reads or changes wait for an event, in its thread."""
    class Blocked:
        end, begun = threading.Event(), threading.Semaphore(0)

    def wait_if_hostile(method):
        @contextmanager
        def snapshot(*arguments):
            if audit.client() == "hostile":
                Blocked.begun.release()
                Blocked.end.wait()
            with method(*arguments) as opened:
                yield opened
        return snapshot

    monkeypatch.setattr(Resources, "snapshot", wait_if_hostile(Resources.snapshot))
    return Blocked


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
            answers = [others.submit(ask, client, "other"),
                       others.submit(lambda: client.get(f"{BASE}/documents", headers=key_of["other"]).status_code)]
            first, light = (answer.result(timeout=60) for answer in answers)
        finally:
            blocked.end.set()
        assert light == 200
        assert first == asked[0].result()


def test_a_client_reads_while_its_changes_wait(app, key_of, monkeypatch):
    end, begun, hostile = threading.Event(), threading.Semaphore(0), key_of["hostile"]

    def wait(*_):
        begun.release()
        end.wait()

    monkeypatch.setattr(Resources, "delete_documents", wait)
    with in_process.client(app) as client, ThreadPoolExecutor(MANY) as threads:
        for _ in range(MANY - 1):
            threads.submit(client.delete, f"{BASE}/document?id=x", headers=hostile)
        try:
            assert all(begun.acquire(timeout=60) for _ in range(turns._MOST_THREADS))
            read = threads.submit(client.get, f"{BASE}/documents", headers=hostile)
            assert read.result(timeout=30).status_code == 200
        finally:
            end.set()


def test_a_request_that_waits_too_long_for_its_share_gets_an_error_that_says_so(app, key_of, blocked, monkeypatch):
    with in_process.client(app) as client, ThreadPoolExecutor(MANY) as threads:
        ask = partial(client.get, f"{BASE}/documents", headers=key_of["hostile"])
        served = [threads.submit(ask) for _ in range(turns._MOST_THREADS)]
        try:
            assert all(blocked.begun.acquire(timeout=60) for _ in served)
            monkeypatch.setattr(turns, "_SECONDS", 0.2)  # only now: on a busy machine the others need longer
            refused = threads.submit(ask).result(timeout=60)
        finally:
            blocked.end.set()
        assert refused.status_code == 504
        assert "send fewer at once" in refused.json()["error"]["message"]
        assert {answer.result().status_code for answer in served} == {200}
