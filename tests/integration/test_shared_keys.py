"""Keys in the PostgreSQL database that servers share: known to all, also to a command, and while it is away."""

import json
from uuid import uuid4

import httpx
import pytest
from banyan.config import Settings
from banyan.runtime import audit
from banyan.server.security import keys as server_keys
from banyan.server.security.clients import Clients
from banyan.server.security.gate import Envelope, Gate
from banyan.server.security.keys import EVERY, OLDEST, Keys, KeysError, SharedKeys
from sqlalchemy import text
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from ..waiting import Clock

pytestmark = pytest.mark.integration


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(server_keys, "time", type("Time", (), {"monotonic": clock}))
    return clock


@pytest.fixture
def settings(tmp_path, postgresql):
    return Settings(_env_file=None, home=tmp_path, database_url=postgresql.database(f"keys_{uuid4().hex}"))


def test_after_a_long_silence_keys_are_read_again(settings, clock):
    keys = Keys.of(settings)
    keys.make("ann", ["ask"])
    clock.now += OLDEST + 1
    assert [key.name for key in keys.all()] == ["ann"], "nobody asked meanwhile, and the database is there"


def test_a_key_that_one_makes_the_others_know(settings, clock):
    ours, theirs = Keys.of(settings), Keys.of(settings)
    assert isinstance(ours, SharedKeys)
    assert not theirs.needs_key()
    secret = ours.make("ann", ["ask"], ["papers"], 60)
    assert theirs.find(secret) is None, "it does not look at each request"
    clock.now += EVERY
    assert theirs.stale
    theirs.refresh()
    assert theirs.find(secret) == ours.find(secret)
    assert theirs.find(secret).knowledge_bases == ("papers",)
    with ours.database.reading() as connection:
        (record,) = connection.execute(text("SELECT record FROM banyan_keys")).scalars()
    assert secret not in record
    assert json.loads(record)["name"] == "ann"
    again = theirs.make("ann", ["read"])
    assert [theirs.find(one) is not None for one in (secret, again)] == [False, True]
    ours.refresh()
    ours.revoke("ann")
    assert ours.all() == ()
    theirs.refresh()
    assert theirs.find(again) is None
    assert Keys.of(settings).needs_key(), "the last one was revoked, not the need of one"
    with pytest.raises(KeysError, match="no key 'ann'"):
        ours.revoke("ann")
    assert [entry.action for entry in audit.entries(settings.home)] == ["make key", "make key", "revoke key"]


@pytest.mark.anyio
async def test_while_postgresql_is_away_keys_count_for_a_moment_and_health_always(settings, postgresql, clock):
    clients = Clients(settings)
    key = {"X-API-Key": clients.keys.make("ann", ["ask"])}
    app = Starlette(routes=[Route("/{path:path}", lambda _: JSONResponse({}))])
    app.add_middleware(Gate, settings=settings, clients=clients, hosts=None, needs_keys=True)
    app.add_middleware(Envelope)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8000") as client:
        async def statuses():
            return [(await client.get(path, headers=headers)).status_code
                    for path, headers in (("/x", key), ("/x", {}), ("/api/health", {}))]

        assert await statuses() == [200, 401, 200]
        postgresql.stop()
        try:
            clock.now += EVERY
            assert await statuses() == [200, 401, 200]
            clock.now += OLDEST
            assert await statuses() == [503, 503, 200], "whether a key was revoked meanwhile nobody knows"
        finally:
            postgresql.start()
        clock.now += EVERY
        assert await statuses() == [200, 401, 200]
