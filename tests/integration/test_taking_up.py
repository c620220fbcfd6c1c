"""What is left half done by a process that was killed is done by the next one; a writer ends when its run does."""


import sqlite3
from contextlib import closing

import pytest
from banyan.graph_store.evolution.control import SchemaControl
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.ledger.document_rows import Documents
from banyan.graph_store.store_errors import UnknownDocumentError, WriterBusyError
from banyan.graph_store.tree.tree_levels import TreeSynchroniser
from banyan.graph_store.vectors.vector_synchroniser import VectorSynchroniser

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
