"""A full disk or Ctrl-C in the middle of a build: a clear message, and the next build goes on from there."""

import _thread
import errno
import sqlite3
import threading

import pytest
from banyan.graph_store.ledger.database import Database

from .. import scripted

shell = scripted.shell
TEXTS = scripted.TEXTS


def after(shell, not_stored=0):
    """The build that follows a broken one, compared with one that never broke; what was stored is not asked again."""
    report = shell.report()
    assert report["stopped"] == ""
    assert shell.scripted.extracted.keys() == set(TEXTS.values())
    assert shell.scripted.extracted.total() == len(TEXTS) + not_stored
    whole = scripted.Workshop(shell.folder / "whole", shell.embedder)
    whole.copy_built()
    assert shell.dump() == whole.dump()
    assert shell.vectors() == whole.vectors()
    assert shell.sound()


def begun(shell):
    """Build the first of the documents; returns the others."""
    shell.copy_built(dict([*TEXTS.items()][:1]))
    _, *rest = shell.write(TEXTS)
    return rest


OS, SQLITE = OSError(errno.ENOSPC, "No space left on device"), sqlite3.OperationalError("database or disk is full")


@pytest.mark.sqlite
def test_a_ledger_that_really_cannot_grow(shell, monkeypatch):
    """SQLite's own failure, at a size that it may not exceed."""
    rest = begun(shell)
    stood = shell.dump()
    big = shell.documents / "big.txt"
    big.write_text("Filler sentence. " * 40_000, "utf-8")
    prepare = Database._prepare

    def small(self, *given):
        prepare(self, *given)
        self.execute("PRAGMA max_page_count=60")

    with monkeypatch.context() as patch:
        patch.setattr(Database, "_prepare", small)
        result = shell.run_build(big, *rest)
        assert result.code == 1
        assert "database or disk is full" in result.err
        assert shell.dump() == stood
    big.unlink()
    after(shell)


def test_ctrl_c_in_the_middle_of_a_build(shell):
    paths = shell.write(TEXTS)
    seen = iter(range(3))
    lock = threading.Lock()

    def interrupt(_):
        with lock:
            if next(seen, None) == 2:
                _thread.interrupt_main()

    shell.scripted.before = interrupt
    result = shell.run_build(*paths)
    assert result.code == 130
    shell.scripted.before = lambda _: None
    after(shell)
