"""A restore that is killed: what stood before it stands, or what it restores."""

import os
import random
import shutil
import signal
import sys

from banyan.graph_store.integrity.verify import verify

from .. import backups, warm_start
from ..backups import changed, left, tables
from ..conftest import TESTS
from ..newest import newest

base, stored, shell = backups.base, backups.stored, backups.shell

KILLED = """
import os, runpy, signal, sqlite3, sys
from pathlib import Path
from banyan.graph_store.integrity import restore as module
from banyan.graph_store.layout import Layout
file, home, at = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
embedder = runpy.run_path(sys.argv[4])["HashedEmbedder"]()
steps = 0
def step(frame, event, arg):
    global steps
    if frame.f_code.co_filename.endswith(("restore.py", "version.py")):
        if event == "line":
            steps += 1
            if steps == at:
                os.kill(os.getpid(), signal.SIGKILL)
        return step
sys.settrace(step)
module.restore(file, Layout.of(home, "kb"), embedder, lambda *_: None, force=True)
sys.settrace(None)
print(steps)
"""


def run_killed(shell, at):
    return warm_start.run([sys.executable, "-c", KILLED, "kb.zip", str(shell.folder / "home"), str(at),
                           str(TESTS / "hashed_embedding.py")],
                          cwd=shell.folder, env=os.environ, timeout=120)


def test_killed_anywhere_the_old_one_stands_or_the_new_one(stored):
    """Killed before a line, of all lines that a restore runs: every fourth from the lock on, and some before."""
    ledger, graph = changed(stored)
    home = stored.folder / "home"
    later = tables(home, "kb"), stored.dump()
    shutil.copytree(home, stored.folder / "later")
    whole = run_killed(stored, -1)
    assert whole.returncode == 0, whole.stderr
    steps = int(whole.stdout)
    seen = set()
    for at in sorted({*range(steps - 45, steps + 1, 4), steps, *random.Random(5).sample(range(1, steps - 45), 2)}):
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
