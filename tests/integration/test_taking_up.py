"""What is left half done by a process that was killed is done by the next one; a writer ends when its run does."""


import asyncio
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from banyan.agents.writers import Writers, _is_held
from banyan.graph_store.evolution.control import SchemaControl
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.ledger.document_rows import Documents
from banyan.graph_store.store_errors import UnknownDocumentError, WriterBusyError
from banyan.graph_store.tree.tree_levels import TreeSynchroniser
from banyan.graph_store.vectors.vector_synchroniser import VectorSynchroniser
from banyan.runtime.threads import in_thread
from filelock import FileLock

from .. import scripted
from ..newest import newest

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


def delete(shop, document):
    with shop.resources() as resources:
        resources.delete_documents("kb", [document])


@pytest.mark.parametrize(("owner", "name"), [
    (SchemaControl, "grow"), (TreeSynchroniser, "describe"), (Documents, "finish_deletion")])
def test_a_deletion_that_was_killed_is_taken_up_by_the_same_command(shop, tmp_path, monkeypatch, owner, name):
    killed(monkeypatch, owner, name, lambda: delete(shop, "c.txt"))
    delete(shop, "c.txt")
    other = scripted.Workshop(tmp_path / "other", shop.embedder)
    other.copy_built({name: text for name, text in TEXTS.items() if name != "c.txt"})
    assert shop.dump() == other.dump()
    assert shop.vectors() == other.vectors()
    assert sound(shop)
    with pytest.raises(UnknownDocumentError):
        delete(shop, "c.txt")


def test_a_build_finishes_a_deletion_that_was_killed(shop, monkeypatch):
    killed(monkeypatch, VectorSynchroniser, "sync", lambda: delete(shop, "c.txt"))
    shop.build()
    assert sound(shop)
    with pytest.raises(UnknownDocumentError):
        delete(shop, "c.txt")


def test_a_relation_s_vector_goes_with_its_last_triple(shop):
    def relations():
        with KnowledgeBase.open(shop.settings.home, "kb", shop.embedder) as kb:
            return kb.vectors.ids("relations")

    before = relations()
    shop.build(shop.write({"e.txt": "Eva:Person --knows--> Bob:Person.", "f.txt": "Fay:Person --knows--> Bob:Person."}))
    both = relations()
    delete(shop, "e.txt")
    assert relations() == both > before
    delete(shop, "f.txt")
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
    delete(shop, "c.txt")
    for log in ledger.parent.glob("ledger.sqlite-*"):
        log.unlink()
    ledger.write_bytes(older)
    delete(shop, "a.txt")
    with shop.resources() as resources:
        assert {entry.id for entry in newest(resources).kb.documents.entries()} == set(TEXTS) - {"a.txt"}
        assert newest(resources).kb.written_index() is not None
        kb = newest(resources).kb
        assert not kb.index_store.differs(kb.index_contents())
    assert sound(shop)


def test_others_write_between_the_batches_of_a_build(shop, tmp_path, monkeypatch):
    more = {f"n{number}.txt": f"Nia{number}:Person --employer--> Acme:Organization." for number in range(4)}
    paths, give_turn, deletions = shop.write(TEXTS | more), Writers.give_turn, []

    def delete_meanwhile(writers, name, run):
        for document in ("c.txt", "n0.txt", "n3.txt") if not deletions else ():
            deletions.append(threading.Thread(target=delete, args=(shop, document)))
            deletions[-1].start()
            while not _is_held(shop.settings.home / "kb" / "turn.lock"):
                time.sleep(0.01)
            give_turn(writers, name, run)
            deletions[-1].join(timeout=60)
            assert not deletions[-1].is_alive(), "it was not made to wait for the end of the build"
        give_turn(writers, name, run)

    monkeypatch.setattr(Writers, "give_turn", delete_meanwhile)
    shop.build(paths)
    assert len(deletions) == 3
    other = scripted.Workshop(tmp_path / "other", shop.embedder)
    other.build(other.write({name: text for name, text in (TEXTS | more).items()
                             if name not in {"c.txt", "n0.txt", "n3.txt"}}))
    assert shop.dump() == other.dump()
    assert shop.vectors() == other.vectors()
    assert sound(shop)
    assert not any(_is_held(shop.settings.home / "kb" / name) for name in ("turn.lock", "build.lock", "writer.lock"))


def test_another_build_of_this_process_does_not_begin_while_one_lets_others_write(shop):
    with shop.resources() as resources, ThreadPoolExecutor(1) as thread:
        writers = resources.writers
        with writers.step("kb", "one", is_build=True):
            pass
        with FileLock(shop.settings.home / "kb" / "turn.lock"):
            given = thread.submit(writers.give_turn, "kb", "one")
            while not given.done():
                with pytest.raises(WriterBusyError), writers.step("kb", "two", is_build=True):
                    pass
        assert given.result() is None
        writers.finish("kb", "one")
        with writers.step("kb", "two", is_build=True):
            pass
        writers.finish("kb", "two")


def test_a_build_that_lets_others_write_keeps_its_lock_where_few_bases_stay_open(shop, monkeypatch):
    with shop.resources() as resources, ThreadPoolExecutor(1) as thread:
        writers = resources.writers
        monkeypatch.setattr(writers, "_most_open", 1)
        with writers.step("kb", "one", is_build=True), writers.step("other", "two"):
            writers.finish("other", "two")
        with FileLock(shop.settings.home / "kb" / "turn.lock"):
            given = thread.submit(writers.give_turn, "kb", "one")
            while _is_held(shop.settings.home / "kb" / "writer.lock"):
                time.sleep(0.01)
            with writers.step("other", "three"):
                pass
            assert given.result() is None
            assert _is_held(shop.settings.home / "kb" / "build.lock")
        writers.finish("kb", "one")
        assert not _is_held(shop.settings.home / "kb" / "build.lock")


@pytest.mark.anyio
async def test_a_build_that_lets_others_write_can_be_cancelled_while_they_do(shop):
    with shop.resources() as resources, shop.resources() as others:
        writers = resources.writers
        with writers.step("kb", "one", is_build=True):
            pass
        with FileLock(shop.settings.home / "kb" / "turn.lock"):
            given = asyncio.ensure_future(in_thread(writers.give_turn, "kb", "one"))
            while _is_held(shop.settings.home / "kb" / "writer.lock"):
                await asyncio.sleep(0.01)
            with others.writers.step("kb", "other"):
                given.cancel()
                await asyncio.wait([given], timeout=60)
                assert given.cancelled()
            others.writers.finish("kb", "other")
        with writers.step("kb", "two", is_build=True):
            pass
        writers.finish("kb", "two")


def test_another_build_does_not_begin_between_the_batches_of_one(shop, monkeypatch):
    paths = shop.write({"e.txt": "Eve:Person --employer--> Acme:Organization."})
    give_turn, refused = Writers.give_turn, []

    def build_meanwhile(writers, name, run):
        if not refused:
            refused.append(None)
            with pytest.raises(WriterBusyError, match="another process is writing"):
                scripted.Workshop(shop.folder, shop.embedder).build(paths)
        give_turn(writers, name, run)

    monkeypatch.setattr(Writers, "give_turn", build_meanwhile)
    assert shop.build(paths)["chunks_failed"] == 0
    assert refused
