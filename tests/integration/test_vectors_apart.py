"""Vectors that a process of its own writes: the same as written here, and nothing is lost when either end dies."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from banyan.agents import construction
from banyan.graph_store import vectors_apart
from banyan.graph_store.chroma_folder import ChromaFolder
from banyan.graph_store.errors import StoreError
from banyan.graph_store.vectors import VectorStore

from ..conftest import load_test_module

pytestmark = pytest.mark.integration

scripted = load_test_module("scripted")
command_line = load_test_module("command_line")
TEXTS = {f"{number}.txt": f"Ada{number}:Person --employer--> Acme{number % 3}:Organization." for number in range(12)}

ORPHAN = """
import os, signal, sys
from pathlib import Path
import numpy as np
from banyan.graph_store.vectors_apart import VectorsApart
apart = VectorsApart(Path(sys.argv[1]))
assert apart.present("chunks", ["0"]) == []
for page in range(4):
    apart.upsert("chunks", [f"{page} {n}" for n in range(500)], np.random.default_rng(page).normal(size=(500, 384)))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture()
def folder(tmp_path):
    return tmp_path / "kb" / "chroma"


@pytest.fixture()
def store(folder, hashed_embedder):
    folder.parent.mkdir()
    made = VectorStore(ChromaFolder(folder), hashed_embedder)
    yield made
    made.close()


def test_it_writes_what_would_be_written_here(store, hashed_embedder):
    names = [f"name {number}" for number in range(1500)]
    store.put("entities", names[:10], names[:10])
    store.write_apart()
    assert store.put_all([("entities", names, names), ("chunks", names[:3], names[:3])]) == 1493
    store.drop("entities", [*names[5:8], "stranger"])
    left = names[:5] + names[8:]
    assert store.ids("entities") == set(left)
    assert np.allclose(store.get("entities", left), hashed_embedder.encode(left), atol=1e-6)
    assert [found[0][0] for found in store.nearest("chunks", hashed_embedder.encode(names[:3]), 1)] == names[:3]


def test_a_build_apart_comes_to_the_same(tmp_path, hashed_embedder, monkeypatch):
    shop = scripted.Workshop(tmp_path / "here", hashed_embedder, batch_chunks=3)
    shop.build(shop.write(TEXTS))
    started = []
    inner = vectors_apart.VectorsApart.__init__
    monkeypatch.setattr(vectors_apart.VectorsApart, "__init__",
                        lambda self, folder: started.append(folder) or inner(self, folder))
    monkeypatch.setattr(construction, "_APART_FROM", 1)
    apart = scripted.Workshop(tmp_path / "apart", hashed_embedder, batch_chunks=3)
    apart.build(apart.write(TEXTS))
    assert started
    assert apart.dump() == shop.dump()
    assert apart.vectors() == shop.vectors()


def test_what_it_cannot_write_is_told(store, folder):
    folder.mkdir()
    (folder / "chroma.sqlite3").write_bytes(b"no database" * 1000)
    store.write_apart()
    with pytest.raises(StoreError, match="cannot be read or written"):
        store.put("chunks", ["a"], ["a"])


def test_killed_it_is_missed_and_the_next_attempt_goes_on(store, folder):
    store.write_apart()
    store.put("chunks", ["a"], ["a"])
    (process,) = _processes(folder)
    os.kill(process, signal.SIGKILL)
    with pytest.raises(StoreError, match=r"the process that writes the vectors in .* ended \(exit code -9\)"):
        store.put("chunks", ["b"], ["b"])
    store.write_here()
    store.put("chunks", ["a", "b"], ["a", "b"])
    assert store.ids("chunks") == {"a", "b"}


def test_it_ends_with_who_started_it_and_is_waited_for(store, folder):
    done = subprocess.run([sys.executable, "-c", ORPHAN, str(folder)], check=False, timeout=60,
                          env=command_line.clean_environment())
    assert done.returncode == -signal.SIGKILL
    vectors_apart.wait_until_written(folder)
    # Some of what it was sent may have been cut off; what it began is whole.
    written = store.ids("chunks")
    assert written in [{f"{page} {n}" for page in range(pages) for n in range(500)} for pages in range(2, 5)]
    deadline = time.monotonic() + 30
    while _processes(folder):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_one_that_does_not_end_is_named(folder, monkeypatch):
    folder.parent.mkdir()
    monkeypatch.setattr(vectors_apart, "_ENDING_SECONDS", 0.1)
    with (vectors_apart.FileLock(folder.with_name("vectors.lock")),
          pytest.raises(StoreError, match="does not come to an end")):
        vectors_apart.wait_until_written(folder)


def _processes(folder):
    """The processes that write vectors in a folder."""
    wanted = [b"banyan.graph_store.vectors_apart", os.fsencode(folder)]
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has just ended
            if all(part in (process / "cmdline").read_bytes().split(b"\0") for part in wanted):
                found.append(int(process.name))
    return found
