"""What a server keeps for all its processes, in SQLite and in PostgreSQL alike; keys in a shared database."""

import json
import signal
from contextlib import closing
from uuid import uuid4

import httpx
import pytest
from banyan.config import Settings
from banyan.graph_store.layout import knowledge_bases
from banyan.graph_store.store_errors import DatabaseError
from banyan.runtime import audit
from banyan.server.responses import NotFoundError, StateError
from banyan.server.runs.conversations import KEPT_TURNS, Conversations, Thread
from banyan.server.runs.jobs import BuildProgress, Jobs, new_job
from banyan.server.security import keys as server_keys
from banyan.server.security.clients import Clients
from banyan.server.security.gate import Envelope, Gate
from banyan.server.security.keys import READ_EVERY, Keys, KeysError, SharedKeys
from banyan.server.server_database import ServerDatabase
from pydantic import SecretStr
from sqlalchemy import text
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from ..rest import ANSWER
from ..waiting import Clock

pytestmark = pytest.mark.integration
ONE, OTHERS = Thread("", "kb", "one"), Thread("bob", "kb", "one")


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    place = tmp_path / "server.sqlite"
    if request.param == "postgresql":
        place = SecretStr(request.getfixturevalue("postgresql").database(f"server-{uuid4().hex}"))
    with closing(ServerDatabase(place)) as database:
        yield database


def test_conversations(database):
    kept = Conversations(database)
    for thread in (ONE, OTHERS, ONE):
        kept.add(thread, "Where was  Zofia born?", ANSWER)
    assert [message.text for message in kept.messages(ONE)] == ["Where was  Zofia born?", "In Ulm [1]"] * 2
    assert [turn.number for turn in kept.turns(ONE.key)] == [1, 2]
    link = kept.change(ONE, shared=True).link
    assert kept.change(ONE, shared=True).link == link
    assert (kept.by_link(link).title, len(kept.by_link(link).turns)) == ("Where was Zofia born?", 2)
    assert kept.change(ONE, shared=False).link is None
    with pytest.raises(NotFoundError, match="not shared any more"):
        kept.by_link(link)
    kept.rate(ONE, 2, -1)
    kept.change(ONE, title="Radom")
    kept.rename_base("kb", "new")
    moved = ONE._replace(knowledge_base="new")
    assert (kept.all("", "new")[0].title, kept.turns(moved.key)[1].rating) == ("Radom", -1)
    for number in range(KEPT_TURNS):
        kept.add(moved, f"{number}?", ANSWER)
    assert len(kept.turns(moved.key)) == KEPT_TURNS
    kept.delete(moved)
    assert kept.turns(moved.key) == kept.all("", "new") == []
    kept.forget_bases(lambda name: name == "new")
    assert kept.all("bob", "new") == []


def job(number, kb="", **fields):
    return new_job(kb or f"kb{number}", **fields).having(id=f"2026{number:04}")


def ids(jobs):
    return [one.build.id for one in jobs]


def test_jobs_are_taken_in_turn_saved_and_cancelled(database):
    ours, theirs = (Jobs(database, 2) for _ in range(2))
    for number in range(4):
        ours.add(job(number, kb="kb0") if number == 1 else job(number))
    first, third = ours.exchange()[0]
    assert ids([first, third]) == ["20260000", "20260002"], "one of each knowledge base, two in all"
    assert theirs.exchange()[0] == []
    seen = first.having(progress=BuildProgress(step="read", done=1, total=2))
    ours.exchange([seen, third])
    assert theirs.one(first.build.id) == seen
    assert theirs.cancel(first.build.id).build.state == "running"
    assert ours.exchange([seen, third])[1] == {first.build.id}, "progress leaves the order"
    theirs.exchange([seen.having(state="done")])
    assert ours.one(first.build.id) == seen, "it is another one's"
    (second,) = ours.exchange([seen.having(state="cancelled"), third])[0]
    assert second.build.id == "20260001", "the knowledge base is free again"
    ours.exchange([second.having(state="done"), third.having(state="waiting")])
    assert ids(ours.all(unfinished=True)) == ["20260002", "20260003"]
    theirs.resume(third.build.id, {"who": "Ann"})
    with pytest.raises(StateError, match="waits for no decision"):
        theirs.resume(third.build.id, {"who": "Bob"})
    assert ours.exchange()[0][0].resume == {"who": "Ann"}
    ours.add(job(4))
    assert theirs.cancel("20260004").build.state == "cancelled", "it was only queued"
    with pytest.raises(StateError, match="nothing to cancel"):
        theirs.cancel("20260004")


def test_jobs_of_a_process_that_is_gone_are_taken_up(database):
    def pass_seconds():  # fewer than a process may be silent for; twice as many are too many
        with database.transaction() as connection:
            connection.exec_driver_sql("UPDATE banyan_builds SET seen = seen - 12")

    ours, theirs = Jobs(database, 3), Jobs(database, 3)
    for one in (job(1), job(3)):
        theirs.add(one)
    first, _ = theirs.exchange()[0]
    theirs.cancel("20260003")
    assert ours.exchange() == ([], set())
    pass_seconds()
    assert theirs.exchange([first])[1] == set(), "it notes again that it runs this one"
    pass_seconds()
    assert ours.exchange()[0] == []
    assert ours.one("20260003").build.state == "cancelled", "nobody runs it"
    pass_seconds()
    ours.exchange()
    (taken,) = ours.exchange()[0]
    assert (taken.build.id, taken.taken_up) == ("20260001", 1)
    assert theirs.exchange([first])[1] == {"20260001"}, "it has not ended after all"
    ours.leave()
    assert ours.exchange([taken]) == ([], {"20260001"}), "what is to end is not taken up until it has ended"
    assert len(ours.exchange([taken.having(state="cancelled")])[0]) == 1
    ours.leave()
    assert (ids(theirs.exchange()[0]), theirs.one("20260001").taken_up) == (["20260001"], 1), "it was handed over"


def test_deleted_conversations_leave_no_text(tmp_path):
    with closing(ServerDatabase(tmp_path / "server.sqlite")) as database:
        kept = Conversations(database)
        for delete in (lambda: kept.delete(ONE), lambda: kept.forget_bases(lambda name: name == "kb")):
            kept.add(ONE, "Secret words?", ANSWER)
            assert any(b"Secret words" in file.read_bytes() for file in tmp_path.iterdir())
            delete()
            assert not any(b"Secret words" in file.read_bytes() for file in tmp_path.iterdir())


def test_it_is_no_knowledge_base_and_works_again_after_postgresql_was_restarted(postgresql, tmp_path):
    url = SecretStr(postgresql.database("server-restarted"))
    settings = Settings(home=tmp_path, database_url=url, _env_file=None)
    with closing(ServerDatabase.of(settings)) as database:
        assert database.is_shared
        kept = Conversations(database)
        kept.add(ONE, "Where?", ANSWER)
        assert knowledge_bases(settings) == []
        postgresql.stop(signal.SIGINT)
        for ask in (lambda: kept.turns(ONE.key), lambda: ServerDatabase.of(settings)):
            with pytest.raises(DatabaseError, match="PostgreSQL server"):
                ask()
        postgresql.start()
        assert len(kept.turns(ONE.key)) == 1


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(server_keys, "time", type("Time", (), {"monotonic": clock}))
    return clock


@pytest.fixture
def settings(tmp_path, postgresql):
    return Settings(_env_file=None, home=tmp_path, database_url=postgresql.database(f"keys_{uuid4().hex}"))


def test_a_key_that_one_makes_the_others_know(settings, clock):
    ours, theirs = Keys.of(settings), Keys.of(settings)
    assert isinstance(ours, SharedKeys)
    assert not theirs.needs_key()
    secret = ours.make("ann", ["ask"], ["papers"], 60)
    assert theirs.find(secret) is None, "it does not look at each request"
    clock.now += READ_EVERY
    theirs.refresh()
    assert theirs.find(secret) == ours.find(secret)
    assert theirs.find(secret).knowledge_bases == ("papers",)
    with ours.database.reading() as connection:
        (record,) = connection.execute(text("SELECT record FROM banyan_keys")).scalars()
    assert secret not in record
    assert json.loads(record)["name"] == "ann"
    again = theirs.make("ann", ["read"])
    assert [theirs.find(one) is not None for one in (secret, again)] == [False, True]
    clock.now += READ_EVERY
    ours.refresh()
    ours.revoke("ann")
    assert ours.all() == ()
    clock.now += READ_EVERY
    theirs.refresh()
    assert theirs.find(again) is None
    assert Keys.of(settings).needs_key(), "the last one was revoked, not the need of one"
    with pytest.raises(KeysError, match="no key 'ann'"):
        ours.revoke("ann")
    assert [entry.action for entry in audit.entries(settings.home)] == ["make key", "make key", "revoke key"]


@pytest.mark.anyio
async def test_while_postgresql_is_away_nobody_is_let_in_and_health_is_answered(settings, postgresql, clock):
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
            clock.now += READ_EVERY
            assert await statuses() == [503, 503, 200], "whether a key was revoked meanwhile nobody knows"
        finally:
            postgresql.start()
        clock.now += READ_EVERY
        assert await statuses() == [200, 401, 200]
