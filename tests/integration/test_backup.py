"""Backup and restore: the same base comes back without a call, whatever a build, a kill or a full disk does."""

import json
import os
import random
import shutil
import signal
import sys
from contextlib import closing

import pytest
from banyan.graph_store.integrity.backup import back_up
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.layout import Layout
from banyan.graph_store.ledger.database import FORMAT, Database
from banyan.graph_store.ledger.tables import DOCUMENTS

from .. import backups, warm_start
from ..backups import TEXTS, changed, left, tables
from ..conftest import EXAMPLES, TESTS
from ..newest import dump_graph, newest

pytestmark = pytest.mark.sqlite  # files with ledgers are copied and broken

base, stored = backups.base, backups.stored


def test_a_base_comes_back_under_another_name_without_a_call(stored):
    home = stored.folder / "home"
    calls = stored.scripted.extracted.total(), stored.scripted.summarised.total()
    result = stored("restore", "kb.zip", "--kb", "other", "--json")
    assert result.code == 0, result.err
    report = json.loads(result.out)
    assert report | {"created": "", "sha256": "", "size": 0} == {
        "kb": "other", "format": "banyan-backup-1", "created": "", "ledger_format": FORMAT, "size": 0, "sha256": "",
        "documents": 4, "chunks": 4, "extractions": 4, "embedding": "hashed-trigrams", "derived": True}
    assert tables(home, "other") == tables(home, "kb")
    assert stored("verify", "--kb", "other").out == "all is well\n"
    with stored.resources() as resources:
        one, other = newest(resources).kb, newest(resources, "other").kb
        assert dump_graph(one.graph) == dump_graph(other.graph)
        for kind in ("entities", "triples", "relations", "chunks"):
            ids = sorted(one.vectors.ids(kind))
            assert sorted(other.vectors.ids(kind)) == ids
            assert (one.vectors.get(kind, ids) == other.vectors.get(kind, ids)).all()
    assert (stored.scripted.extracted.total(), stored.scripted.summarised.total()) == calls
    assert left(home) == ["kb", "other"]
    assert left(stored.folder) == ["documents", "home", "kb.zip", "schema.json"]


def test_files_that_stand_are_not_written_over(stored):
    before = (stored.folder / "kb.zip").read_bytes()
    stored("backup", "--kb", "kb", "-o", "kb.zip").refused(
        "kb.zip is there already: name another file, or replace it with --force")
    assert (stored.folder / "kb.zip").read_bytes() == before
    assert stored("backup", "--kb", "kb", "-o", "kb.zip", "--force").code == 0
    stored("restore", "kb.zip", "--kb", "kb").refused("there is a knowledge base 'kb'", "--force")
    assert stored.sound()


def test_a_backup_during_a_transaction_is_the_state_before_it(stored, hashed_embedder):
    home = stored.folder / "home"
    before = tables(home, "kb")
    with closing(Database(home / "kb" / "ledger.sqlite")) as building, building.transaction():
        building.insert(DOCUMENTS, [("new", "", "word " * 500, "test", "{}", "[]", "[]", "")])
        back_up(Layout.of(home, "kb"), stored.folder / "during.zip", hashed_embedder)
    assert stored("restore", "during.zip", "--kb", "other").code == 0
    assert tables(home, "other") == before
    assert len(tables(home, "kb")["documents"]) == len(TEXTS) + 1


def test_a_damaged_ledger_is_not_backed_up(stored):
    ledger = stored.folder / "home" / "kb" / "ledger.sqlite"
    data = bytearray(ledger.read_bytes())
    data[4096 * 3:4096 * 4] = bytes(4096)
    ledger.write_bytes(data)
    stored("backup", "--kb", "kb", "-o", "new.zip").refused("is damaged", "banyan restore FILE --kb NAME --force")
    assert left(stored.folder) == ["documents", "home", "kb.zip", "schema.json"]


def test_an_earlier_state_replaces_a_later_one_and_readers_notice(stored):
    ledger, graph = changed(stored)
    with (stored.resources() as resources, stored.resources() as building,
          resources.snapshot("kb") as snapshot):
        reader = snapshot.kb
        later = dump_graph(reader.graph)
        newest(building)
        building.update_tree("kb")
        assert stored("restore", "kb.zip", "--kb", "kb", "--force").code == 0
        assert dump_graph(reader.graph) == later
        assert reader.written_index() is not None, "its index stays mapped"
        assert dump_graph(newest(resources).kb.graph) == graph
        # A process that wrote before goes on with what was restored.
        building.update_tree("kb")
        building.delete_documents("kb", ["b.txt"])
        assert verify(newest(building).kb) == []
        assert stored("restore", "kb.zip", "--kb", "kb", "--force").code == 0
    assert tables(stored.folder / "home", "kb") == ledger
    assert stored.sound()
    assert left(stored.folder / "home") == ["kb"]


KILLED = """
import os, runpy, signal, sqlite3, sys
from pathlib import Path
from banyan.graph_store.integrity import backup as module
from banyan.graph_store.layout import Layout
file, home, at = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
embedder = runpy.run_path(sys.argv[4])["HashedEmbedder"]()
steps = 0
def step(frame, event, arg):
    global steps
    if frame.f_code.co_filename.endswith(("backup.py", "notes.py")):
        if event == "line":
            steps += 1
            if steps == at:
                os.kill(os.getpid(), signal.SIGKILL)
        return step
sys.settrace(step)
module.restore(file, Layout.of(home, "kb"), embedder, force=True)
sys.settrace(None)
print(steps)
"""


def run_killed(shell, at):
    return warm_start.run([sys.executable, "-c", KILLED, "kb.zip", str(shell.folder / "home"), str(at),
                           str(TESTS / "hashed_embedding.py")],
                          cwd=shell.folder, env=os.environ, timeout=120)


def test_killed_anywhere_the_old_one_stands_or_the_new_one(stored):
    """Killed before its last line, and before the lock; the long look has every fourth line from the lock on, too."""
    ledger, graph = changed(stored)
    home = stored.folder / "home"
    later = tables(home, "kb"), stored.dump()
    shutil.copytree(home, stored.folder / "later")
    whole = run_killed(stored, -1)
    assert whole.returncode == 0, whole.stderr
    steps = int(whole.stdout)
    seen = set()
    from_lock = range(steps - 45, steps + 1, 4) if EXAMPLES > 1 else ()
    for at in sorted({*from_lock, steps, *random.Random(5).sample(range(1, steps - 45), 1)}):
        shutil.rmtree(home)
        shutil.copytree(stored.folder / "later", home)
        assert run_killed(stored, at).returncode == -signal.SIGKILL
        found = tables(home, "kb"), stored.dump()
        assert found in (later, (ledger, graph)), at
        seen.add(found == later)
        with stored.resources() as resources:
            assert verify(newest(resources).kb) == [], at
    assert seen == {True, False}, "both sides of the commit were met"
    assert stored("restore", "kb.zip", "--kb", "kb", "--force").code == 0
    assert [name for name in left(home) if name.endswith(".restore")] == [], "what a killed one left is cleared away"
