"""What is left half done by a process that was killed is done by the next one; a writer ends when its run does."""

import signal
import sqlite3
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from banyan.graph_store.evolution.control import SchemaControl
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.layout import Layout
from banyan.graph_store.ledger.document_rows import Documents
from banyan.graph_store.store_errors import UnknownDocumentError, WriterBusyError
from banyan.graph_store.tree.tree_levels import TreeSynchroniser
from banyan.graph_store.vectors.vector_synchroniser import VectorSynchroniser
from filelock import FileLock, Timeout

from .. import command_line, scripted, warm_start
from ..newest import newest
from ..waiting import wait_for

shop, TEXTS = scripted.built_shop, scripted.TEXTS


class KilledError(Exception):
    """Stands for the end of the process: nothing after it runs."""


def killed(monkeypatch, owner, name, work):
    """Do some work that ends where a method would begin, and never comes back to it."""
    def end(*_, **__):
        raise KilledError

    with monkeypatch.context() as patch, pytest.raises(KilledError):
        patch.setattr(owner, name, end)
        work()


def sound(shop):
    with KnowledgeBase.open(shop.settings.home, "kb", shop.embedder) as kb:
        assert verify(kb) == []
        assert not kb.tree.is_behind()
        assert kb.communities.find_undescribed() == []
    return True


def reindex(shop):
    with shop.resources() as resources:
        resources.reindex("kb")


@pytest.mark.parametrize(("owner", "name"), [
    (SchemaControl, "grow"), (TreeSynchroniser, "describe"), (Documents, "finish_deletion")])
def test_a_deletion_that_was_killed_is_taken_up_by_the_same_command(shop, tmp_path, monkeypatch, owner, name):
    killed(monkeypatch, owner, name, lambda: shop.delete("c.txt"))
    shop.delete("c.txt")
    other = scripted.Workshop(tmp_path / "other", shop.embedder)
    other.copy_built({name: text for name, text in TEXTS.items() if name != "c.txt"})
    assert shop.dump() == other.dump()
    assert shop.vectors() == other.vectors()
    assert sound(shop)
    with pytest.raises(UnknownDocumentError):
        shop.delete("c.txt")


def test_a_build_finishes_a_deletion_that_was_killed(shop, monkeypatch):
    killed(monkeypatch, VectorSynchroniser, "sync", lambda: shop.delete("c.txt"))
    shop.build()
    assert sound(shop)
    with pytest.raises(UnknownDocumentError):
        shop.delete("c.txt")


def test_a_relation_s_vector_goes_with_its_last_triple(shop):
    def relations():
        with KnowledgeBase.open(shop.settings.home, "kb", shop.embedder) as kb:
            return kb.vectors.ids("relations")

    before = relations()
    shop.build(shop.write({"e.txt": "Eva:Person --knows--> Bob:Person.", "f.txt": "Fay:Person --knows--> Bob:Person."}))
    both = relations()
    shop.delete("e.txt")
    assert relations() == both > before
    shop.delete("f.txt")
    assert relations() == before


def test_a_run_that_failed_keeps_the_lock_until_its_last_step_has_ended(shop):
    with shop.resources() as resources:
        with resources.writers.step("kb", "run"):
            with pytest.raises(KilledError), resources.writers.step("kb", "run"):
                raise KilledError
            with pytest.raises(WriterBusyError):
                shop.build()
            with pytest.raises(WriterBusyError):
                resources.delete_documents("kb", ["a.txt"])
        shop.build()


@pytest.mark.sqlite  # a file with the ledger is put back
def test_an_older_ledger_that_is_put_back_alone_is_not_read_with_the_later_index(shop):
    ledger = shop.settings.home / "kb" / "ledger.sqlite"
    with closing(sqlite3.connect(ledger)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    older = ledger.read_bytes()
    shop.delete("c.txt")
    for log in ledger.parent.glob("ledger.sqlite-*"):
        log.unlink()
    ledger.write_bytes(older)
    shop.delete("a.txt")
    with shop.resources() as resources:
        assert {entry.id for entry in newest(resources).kb.documents.entries()} == set(TEXTS) - {"a.txt"}
        assert newest(resources).kb.written_index() is not None
        kb = newest(resources).kb
        assert not kb.index_store.differs(kb.index_contents())
    assert sound(shop)


MORE = {f"n{number}.txt": f"Nia{number}:Person --employer--> Acme:Organization." for number in range(4)}


def is_held(lock):
    try:
        with FileLock(lock, timeout=0):
            return False
    except Timeout:
        return True


def wait_until_held(lock, process):
    """Wait until a process holds a lock file, or has ended without it."""
    wait_for(lambda: is_held(lock) or process.poll() is not None)
    assert process.poll() is None, process.communicate()


def locks(shop):
    layout = Layout.by(shop.settings, "kb")
    return layout.lock, layout.build_lock, layout.turn_lock


def start(shop, *arguments):
    """Start a command in a process of its own."""
    environment = command_line.clean_environment(
        BANYAN_HOME=str(shop.settings.home), BANYAN_SCHEMA_SUPPORT="2", BANYAN_BATCH_CHUNKS="1",
        **{warm_start.HASHED: "1"})
    return warm_start.WarmProcess([warm_start.BANYAN, *arguments], cwd=shop.folder, env=environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def kill(process):
    process.kill()
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL


def build_beside(shop, texts, meanwhile):
    """Build a document a batch, and call a function once while the third one is extracted."""
    seen = []

    def before(text):
        seen.append(text)
        if len(seen) == 3:
            meanwhile()

    shop.scripted.before = before
    report = shop.build(shop.write(texts))
    assert len(seen) >= 3
    assert not any(map(is_held, locks(shop)))
    return report


@pytest.fixture
def batched_shop(tmp_path, hashed_embedder):
    shop = scripted.Workshop(tmp_path, hashed_embedder, batch_chunks=1)
    shop.copy_built()
    return shop


@pytest.mark.sqlite  # a command that is started has no database's address
def test_another_process_deletes_documents_between_the_batches_of_a_build(batched_shop, tmp_path):
    shop, deletions = batched_shop, []

    def delete_meanwhile():
        # One document is in the graph, one is being extracted, and one waits to be.
        deletions.append(start(shop, "delete", "c.txt", "n2.txt", "n3.txt", "--kb", "kb"))
        wait_until_held(locks(shop)[2], deletions[0])

    report = build_beside(shop, TEXTS | MORE, delete_meanwhile)
    assert deletions[0].communicate(timeout=60)[1] == ""
    assert (deletions[0].returncode, report["stopped"], report["chunks_failed"]) == (0, "", 0)
    assert not any("Nia3" in text for text in shop.scripted.extracted), "it did not wait for the end of the build"
    other = scripted.Workshop(tmp_path / "other", shop.embedder)
    left = {name: text for name, text in (TEXTS | MORE).items() if name not in {"c.txt", "n2.txt", "n3.txt"}}
    other.build(other.write(left))
    assert shop.dump() == other.dump()
    assert shop.vectors() == other.vectors()
    assert sound(shop)


@pytest.mark.sqlite  # a command that is started has no database's address
def test_who_is_killed_while_it_waits_for_its_turn_leaves_no_lock(batched_shop):
    shop = batched_shop

    def kill_meanwhile():
        deletion = start(shop, "delete", "c.txt", "--kb", "kb")
        wait_until_held(locks(shop)[2], deletion)
        kill(deletion)

    assert build_beside(shop, TEXTS | MORE, kill_meanwhile)["stopped"] == ""
    assert sound(shop)
    shop.delete("c.txt")


@pytest.mark.sqlite  # a command that is started has no database's address
def test_a_build_that_is_killed_leaves_no_lock(batched_shop):
    shop = batched_shop
    shop.write(TEXTS | MORE)
    build = start(shop, "build", shop.documents, "--kb", "kb", "--schema", shop.schema)
    wait_until_held(locks(shop)[1], build)
    kill(build)
    assert not any(map(is_held, locks(shop)))
    shop.delete("c.txt")
    shop.build(shop.write(MORE))
    assert sound(shop)


@pytest.mark.parametrize("attempt", [lambda shop: shop.build(shop.write(MORE)), reindex])
def test_what_excludes_builds_does_not_begin_between_the_batches_of_one(batched_shop, attempt):
    shop = batched_shop
    turn, attempted = FileLock(locks(shop)[2], thread_local=False), []

    def attempt_in_turn():
        while is_held(locks(shop)[0]):
            time.sleep(0.01)
        with pytest.raises(WriterBusyError, match="another process is writing to 'kb'; wait until it has"):
            attempt(shop)
        turn.release()

    def begin_to_wait():
        turn.acquire()
        attempted.append(thread.submit(attempt_in_turn))

    with ThreadPoolExecutor(1) as thread:
        assert build_beside(shop, MORE, begin_to_wait)["chunks_failed"] == 0
        attempted[0].result()
    assert sound(shop)
