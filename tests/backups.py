"""A built knowledge base with its backup, for tests of either.

A test module takes the fixtures as its own: `base, stored = backups.base, backups.stored`.
"""

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from banyan.graph_store.integrity.backup import back_up
from banyan.graph_store.layout import Layout
from banyan.runtime import audit

from . import scripted

TEXTS = scripted.TEXTS


@pytest.fixture(scope="module")
def base(tmp_path_factory, hashed_embedder):
    """A built base `kb`, and its backup in `kb.zip`."""
    shop = scripted.Workshop(tmp_path_factory.mktemp("built"), hashed_embedder)
    shop.copy_built()
    back_up(Layout.of(shop.settings.home, "kb"), shop.folder / "kb.zip", hashed_embedder)
    return shop


@pytest.fixture
def stored(shell, base):
    """The same in a shell, to be changed."""
    shell.write(TEXTS)
    shutil.copytree(base.settings.home, shell.folder / "home")
    shutil.copy(base.folder / "kb.zip", shell.folder)
    shell.scripted.extracted.update(base.scripted.extracted)
    return shell


def tables(home: Path, name: str) -> dict[str, Any]:
    """All that a ledger holds, but for where its vectors are."""
    with closing(sqlite3.connect(home / name / "ledger.sqlite")) as ledger:
        names = [row[0] for row in ledger.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
        found = {name: sorted(map(repr, ledger.execute(f"SELECT * FROM {name}"))) for name in names}
    found["meta"] = [re.sub(r'"(?:epoch|runs)": \d+', "", row) for row in found["meta"]]
    return found


def changed(shell):
    """Goes on with `kb` after its backup; returns what it was then."""
    before = tables(shell.folder / "home", "kb"), shell.dump()
    shell.write({"e.txt": "Eve:Person --knows--> Ada:Person. Eve:Person --employer--> Acme:Organization."})
    assert shell.run_build().code == 0
    assert shell("delete", "a.txt", "--kb", "kb").code == 0
    assert shell.dump() != before[1]
    return before


def left(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith(audit.FILE))
