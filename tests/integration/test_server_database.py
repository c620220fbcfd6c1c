"""What a server keeps for all its processes, in SQLite and in PostgreSQL alike."""

import asyncio
import hashlib
import signal
from contextlib import closing

import pytest
from banyan.agents.construction.state import BuildContext
from banyan.config import Settings
from banyan.graph_store.layout import knowledge_bases
from banyan.graph_store.store_errors import DatabaseError
from banyan.server.checkpoints import delete_checkpoints, saver_in
from banyan.server.error_responses import StateError
from banyan.server.responses import Build, BuildProgress
from banyan.server.runs.build_records import KEPT, BuildOptions, BuildRecord, BuildRecords
from banyan.server.runs.conversations import KEPT_TURNS, Conversations, Thread
from banyan.server.runs.process_lock import FileProcessLock, SessionProcessLock, kb_lock
from banyan.server.server_database import ServerDatabase
from langgraph.checkpoint.base import empty_checkpoint
from pydantic import SecretStr

from ..waiting import wait_for

pytestmark = pytest.mark.integration
ONE, OTHERS = Thread("", "kb", "one"), Thread("bob", "kb", "one")
ANSWER = {"answer": "Radom [1]", "abstained": False, "confidence": 0.9, "short": "Radom", "sub_queries": [],
          "iterations": 1, "trace": [{"step": "fuse"}], "citations": []}


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    if request.param == "sqlite":
        return tmp_path / "server.sqlite"
    name = hashlib.sha1(request.node.name.encode()).hexdigest()
    return SecretStr(request.getfixturevalue("postgresql").database(f"server-{name}"))


@pytest.fixture
def database(place):
    with closing(ServerDatabase(place)) as database:
        yield database


@pytest.fixture
def locks(place, tmp_path):
    both = [SessionProcessLock(place) if isinstance(place, SecretStr) else FileProcessLock(tmp_path) for _ in range(2)]
    for lock in both:
        lock.acquire()
    yield both
    for lock in both:
        lock.release()


def record(number=1, state="queued", **more):
    build = Build(id=f"2026{number:04}", kb="people", state=state, created_at="2026-01-01", files=[],
                  progress=BuildProgress(step="", done=0, total=None))
    return BuildRecord(build=build, options=BuildOptions(context=BuildContext()), **more)


def test_conversations(database, tmp_path):
    kept = Conversations(database, FileProcessLock(tmp_path))
    for thread in (ONE, OTHERS, ONE):
        kept.add(thread, "Where was  Zofia born?", ANSWER)
    assert [message.text for message in kept.messages(ONE)] == ["Where was  Zofia born?", "Radom [1]"] * 2
    assert [turn.number for turn in kept.turns(ONE)] == [1, 2]
    link = kept.share(ONE, shared=True)
    assert kept.by_link(link).title == "Where was Zofia born?"
    kept.rate(ONE, 2, -1)
    kept.rename(ONE, "Radom")
    kept.rename_base("kb", "new")
    moved = ONE._replace(knowledge_base="new")
    assert (kept.all("", "new")[0].title, kept.turns(moved)[1].rating) == ("Radom", -1)
    with kept.turn(moved), pytest.raises(StateError, match="is being answered"), kept.turn(moved):
        pass
    for number in range(KEPT_TURNS):
        kept.add(moved, f"{number}?", ANSWER)
    assert len(kept.turns(moved)) == KEPT_TURNS
    kept.delete(moved)
    assert kept.turns(moved) == kept.all("", "new") == []
    kept.forget_base("new")
    assert kept.all("bob", "new") == []


def add(database, *records):
    with database.transaction() as connection:
        for one in records:
            BuildRecords(database).add(connection, one)


def test_builds(database):
    records = BuildRecords(database)
    add(database, *(record(number, "done") for number in range(KEPT + 2)), record(500, process="ours"))
    records.forget_old()
    assert len(records.all()) == KEPT + 1
    assert records.all()[0] == record(2, "done")
    records.order_cancel("20260500")
    records.order_cancel("20260007")
    assert records.to_cancel() == {"20260500"}
    queued, running = record(500, process="ours"), record(500, "running", process="theirs", taken_up=1)
    assert records.take(queued, running)
    assert not records.take(queued, record(500, "running", process="others"))
    with database.transaction() as connection:
        assert not records.keep(connection, record(500, "failed", process="ours")), "it is another one's"
    assert records.list_unfinished() == [running]
    with database.transaction() as connection:
        assert records.keep(connection, running)
    assert records.to_cancel() == {"20260500"}, "another process and progress leave the order"
    done = record(500, "done", process="theirs")
    with database.transaction() as connection:
        assert records.keep(connection, done)
    assert (records.to_cancel(), records.list_unfinished(), records.one("20260500")) == (set(), [], done)


def test_locks_end_with_their_process(locks):
    ours, theirs = locks
    assert ours.runs(ours.id)
    assert theirs.runs(ours.id)
    assert not theirs.runs("")
    assert not theirs.runs("never")
    assert ours.try_lock(kb_lock("Größe"))
    assert not ours.try_lock(kb_lock("Größe")), "another thread of this process has it"
    assert not theirs.try_lock(kb_lock("Größe"))
    ours.unlock(kb_lock("Größe"))
    assert theirs.try_lock(kb_lock("Größe"))
    ended = theirs.id
    theirs.release()
    assert not ours.runs(ended)


def test_a_session_that_is_lost_has_lost_its_locks_and_gets_another_id(postgresql):
    url = SecretStr(postgresql.database("server-sessions"))
    ours, theirs = SessionProcessLock(url), SessionProcessLock(url)
    for lock in (ours, theirs):
        lock.acquire()
    before = ours.id
    assert ours.try_lock("build-0")
    postgresql.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%try_advisory_lock%' "
                   "AND pid <> pg_backend_pid()")
    assert not ours.holds()
    with pytest.raises(DatabaseError, match="opened again as soon as the server answers"):
        ours.try_lock("build-0")
    wait_for(lambda: theirs.try_lock("build-0"))  # a session says that it ends before it gives its locks back
    ours.unlock("build-0")
    ours.acquire()
    assert (ours.holds(), before in ours.past, theirs.runs(ours.id), theirs.runs(before)) == (True, True, True, False)
    assert not ours.try_lock("build-0")
    for lock in (ours, theirs):
        lock.release()


@pytest.mark.anyio
async def test_checkpoints(database):
    open_saver = saver_in(database)
    config = {"configurable": {"thread_id": "run", "checkpoint_ns": ""}}
    async with open_saver() as saver:
        if not database.is_shared:
            await saver.setup()
        await saver.aput(config, empty_checkpoint(), {}, {})
    async with open_saver() as saver:
        assert await saver.aget_tuple(config) is not None
        await delete_checkpoints(open_saver, "run")
        assert await saver.aget_tuple(config) is None


@pytest.mark.anyio
async def test_deleted_checkpoints_leave_no_text(tmp_path):
    place = tmp_path / "server.sqlite"
    config = {"configurable": {"thread_id": "run", "checkpoint_ns": ""}}
    with closing(ServerDatabase(place)) as database:
        open_saver = saver_in(database)
        async with open_saver() as saver:
            await saver.setup()
            await saver.aput(config, {**empty_checkpoint(), "channel_values": {"text": "Secret words"}}, {}, {})
        assert any(b"Secret words" in file.read_bytes() for file in tmp_path.iterdir())
        await delete_checkpoints(open_saver, "run")
        assert not any(b"Secret words" in file.read_bytes() for file in tmp_path.iterdir())


def test_deleted_conversations_leave_no_text(tmp_path):
    with closing(ServerDatabase(tmp_path / "server.sqlite")) as database:
        kept = Conversations(database, FileProcessLock(tmp_path))
        for delete in (lambda: kept.delete(ONE), lambda: kept.forget_base(ONE.knowledge_base), lambda: kept.sweep([])):
            kept.add(ONE, "Secret words?", ANSWER)
            assert any(b"Secret words" in file.read_bytes() for file in tmp_path.iterdir())
            delete()
            assert not any(b"Secret words" in file.read_bytes() for file in tmp_path.iterdir())


def test_it_is_no_knowledge_base_and_works_again_after_postgresql_was_restarted(postgresql, tmp_path):
    url = SecretStr(postgresql.database("server-restarted"))
    settings = Settings(home=tmp_path, database_url=url, _env_file=None)
    with closing(ServerDatabase.of(settings)) as database:
        assert database.is_shared
        kept, open_saver = Conversations(database, FileProcessLock(tmp_path)), saver_in(database)
        kept.add(ONE, "Where?", ANSWER)
        assert knowledge_bases(settings) == []
        postgresql.stop(signal.SIGINT)
        for ask in (lambda: kept.turns(ONE), lambda: asyncio.run(delete_checkpoints(open_saver, "run")),
                    lambda: ServerDatabase.of(settings)):
            with pytest.raises(DatabaseError, match="PostgreSQL server"):
                ask()
        postgresql.start()
        assert len(kept.turns(ONE)) == 1
        asyncio.run(delete_checkpoints(open_saver, "run"))
