"""Vectors that a process of its own writes: the same as written here, and nothing is lost when either end dies."""

import os
import signal
import subprocess
import sys
import time
from multiprocessing import Pipe
from pathlib import Path

import numpy as np
import pytest
from banyan.agents.construction import graph as construction
from banyan.graph_store.errors import StoreError
from banyan.graph_store.vectors import kept_process, vectors_apart
from banyan.graph_store.vectors.chroma_folder import ChromaFolder
from banyan.graph_store.vectors.store import VectorStore
from banyan.graph_store.vectors.vectors_apart import VectorsApart

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
print(apart._process._process.pid, flush=True)
assert apart.present("chunks", ["0"]) == []
for page in range(4):
    apart.upsert("chunks", [f"{page} {n}" for n in range(500)], np.random.default_rng(page).normal(size=(500, 384)))
os.kill(os.getpid(), signal.SIGKILL)
"""


IDLE = """
import sys
from banyan.graph_store import vectors_apart
vectors_apart._KEPT_SECONDS = 0.2
vectors_apart.main()
"""


@pytest.fixture(autouse=True)
def none_kept():
    """No process of another test is there, nor is one left to another."""
    kept_process._end()
    yield
    kept_process._end()


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
    os.kill(_number(store._apart), signal.SIGKILL)
    with pytest.raises(StoreError, match=r"the process that writes the vectors in .* ended \(exit code -9\)"):
        store.put("chunks", ["b"], ["b"])
    store.write_here()
    store.put("chunks", ["a", "b"], ["a", "b"])
    assert store.ids("chunks") == {"a", "b"}


def test_it_ends_with_who_started_it_and_is_waited_for(store, folder):
    done = subprocess.run([sys.executable, "-c", ORPHAN, str(folder)], check=False, timeout=60,
                          env=command_line.clean_environment(), stdout=subprocess.PIPE)
    assert done.returncode == -signal.SIGKILL
    vectors_apart.wait_until_written(folder)
    # Some of what it was sent may have been cut off; what it began is whole.
    written = store.ids("chunks")
    assert written in [{f"{page} {n}" for page in range(pages) for n in range(500)} for pages in range(2, 5)]
    deadline = time.monotonic() + 30
    while _lives(int(done.stdout)):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_it_is_kept_for_the_next_folder(tmp_path, hashed_embedder, monkeypatch):
    numbers, found = [], []
    for name in ("first", "second", "first"):
        (tmp_path / name).mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / name)  # it was started elsewhere
        store = VectorStore(ChromaFolder(Path("chroma")), hashed_embedder)
        store.write_apart()
        added = store.put("chunks", [name, f"{len(numbers)}"], ["a", "b"])
        store.flush()
        numbers.append((_number(store._apart), added))
        store.write_here()
        found.append(store.ids("chunks"))
        store.close()
    assert numbers == [(numbers[0][0], 2), (numbers[0][0], 2), (numbers[0][0], 1)]
    assert found == [{"first", "0"}, {"second", "1"}, {"first", "0", "2"}]


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system has no such setting")
def test_it_stays_on_one_core(tmp_path):
    free = sorted(os.sched_getaffinity(0))
    apart = _opened(tmp_path / "a")
    assert os.sched_getaffinity(_number(apart)) == {free[(os.getpid() + 1) % len(free)]}
    apart.close()


def test_one_that_was_forked_has_none_of_its_parents(tmp_path, monkeypatch):
    _opened(tmp_path / "a").close()
    with monkeypatch.context() as forked:
        forked.setattr(os, "getpid", lambda: 1)
        assert kept_process.kept() is None
    process = kept_process.kept()
    assert process is not None
    kept_process.keep(process)


def test_one_at_most_is_kept(tmp_path):
    two = [_opened(tmp_path / name) for name in ("a", "b")]
    assert _number(two[0]) != _number(two[1])
    for one in two:
        one.flush()
        one.close()
    assert _lives(_number(two[0]))
    assert not _lives(_number(two[1]))


def test_one_that_was_kept_and_has_ended_is_replaced(tmp_path):
    first = _opened(tmp_path / "a")
    first.close()
    os.kill(_number(first), signal.SIGKILL)
    second = _opened(tmp_path / "b")
    assert second.present("chunks", ["x"]) == []
    assert _number(second) != _number(first)
    second.close()


def test_one_that_was_kept_often_enough_is_replaced(tmp_path):
    numbers = []
    for number in range(vectors_apart._KEPT_FOLDERS + 1):
        apart = _opened(tmp_path / f"{number}")
        numbers.append(_number(apart))
        apart.close()
    assert len(set(numbers[:-1])) == 1
    assert numbers[-1] != numbers[0]


def test_one_that_may_be_at_work_is_not_kept(tmp_path):
    apart = _opened(tmp_path / "a")
    apart.upsert("chunks", ["x"], np.ones((1, 384), np.float32))
    apart.close()
    assert not _lives(_number(apart))
    again = _opened(tmp_path / "a")
    assert again.present("chunks", ["x", "y"]) == ["x"]
    again.close()


def test_one_that_waits_long_for_nothing_ends(tmp_path):
    theirs, orders = Pipe(duplex=False)
    answers, back = Pipe(duplex=False)
    with theirs, orders, answers, back:
        ends = (theirs.fileno(), back.fileno())
        done = subprocess.run([sys.executable, "-c", IDLE, *map(str, ends)], check=False, timeout=60, pass_fds=ends,
                              env=command_line.clean_environment())
    assert done.returncode == 0


def test_one_that_does_not_end_is_named(folder, monkeypatch):
    folder.parent.mkdir()
    monkeypatch.setattr(vectors_apart, "_ENDING_SECONDS", 0.1)
    with (vectors_apart.FileLock(folder.with_name("vectors.lock")),
          pytest.raises(StoreError, match="does not come to an end")):
        vectors_apart.wait_until_written(folder)


def _opened(folder):
    folder.mkdir(exist_ok=True)
    apart = VectorsApart(folder / "chroma")
    apart.present("chunks", ["nothing"])
    return apart


def _number(apart):
    return apart._process._process.pid


def _lives(number):
    """Whether there is such a process, and it has not ended unnoticed."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
