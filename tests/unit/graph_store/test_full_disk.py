"""A full disk: Chroma's client may never return after a failed write, and nothing waits for it without an end."""

import asyncio
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from banyan.graph_store.store_errors import StoreError
from banyan.graph_store.vectors import chroma_collections, chroma_folder
from banyan.graph_store.vectors.chroma_folder import FolderCollections
from banyan.runtime import libraries
from banyan.runtime.event_loop import run
from banyan.runtime.threads import in_thread

from ...scripted import Shell

VECTORS = np.zeros((1, 4), np.float32)


class FullDisk:
    """Stands in for Chroma: while the disk is full writes fail, and a client whose write failed hangs at the next."""

    def __init__(self, *, hangs_at_once: bool = False) -> None:
        self.full = True
        self.hangs_at_once = hangs_at_once
        self.closed: list[int] = []
        self.written: list[str] = []
        self.released = threading.Event()

    def client(self, _path: str, _settings: Any) -> Any:
        number, failed = len(self.closed), list[bool]([self.hangs_at_once])

        def upsert(ids: list[str], **_: object) -> None:
            if failed[0]:
                self.released.wait()
            if self.full:
                failed[0] = True
                raise chroma_collections.chroma().errors.ChromaError("database or disk is full")
            self.written.extend(ids)

        collection = SimpleNamespace(upsert=upsert, count=lambda: 0)
        return SimpleNamespace(close=lambda: self.closed.append(number), list_collections=list,
                               get_collection=lambda *_, **__: collection)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Any:
    made = FullDisk(hangs_at_once=getattr(request, "param", False))
    monkeypatch.setattr(chroma_collections.chroma(), "PersistentClient", made.client)
    monkeypatch.setattr(chroma_collections, "_WAITS", (0.0, 0.0))
    monkeypatch.setattr(libraries, "_POLL", 0.02)
    yield made
    made.released.set()


def _put(store: FolderCollections, key: str) -> None:
    store.upsert("entities", [key], VECTORS)


def test_a_failed_write_is_repeated_with_another_client(disk, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(chroma_folder, "_ANSWER_SECONDS", 60.0)
    store = FolderCollections(tmp_path / "chroma", "model")
    before = time.monotonic()
    for _ in range(2):  # the second writes after one that failed for good
        with pytest.raises(StoreError, match="disk is full"):
            _put(store, "lost")
    assert time.monotonic() - before < 60, "a client was used after its write had failed"
    assert len(disk.closed) == 6
    disk.full = False
    _put(store, "found")
    store.close()
    assert disk.written == ["found"]


@pytest.mark.parametrize("disk", [True], indirect=True)
def test_a_call_that_never_returns_is_given_up(disk, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(chroma_folder, "_ANSWER_SECONDS", 0.1)
    store = FolderCollections(tmp_path / "chroma", "model")
    with pytest.raises(StoreError, match="did not answer within"):
        _put(store, "lost")
    disk.full = disk.hangs_at_once = False
    _put(store, "found")  # does not wait for the thread that was left behind
    store.close()
    assert disk.written == ["found"]


@pytest.mark.parametrize("disk", [True], indirect=True)
def test_cancelling_ends_a_call_that_never_returns(disk, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(libraries, "GRACE", 0.1)
    store = FolderCollections(tmp_path / "chroma", "model")
    with pytest.raises(TimeoutError):
        run(asyncio.wait_for, in_thread(_put, store, "lost"), 0.2)


def test_a_restored_base_is_there_if_its_vectors_do_not_fit(tmp_path, hashed_embedder, monkeypatch, capsys):
    shell = Shell(tmp_path, hashed_embedder, monkeypatch, capsys)
    shell("build", *shell.write({"a.txt": "Ada:Person --employer--> Acme:Organization."}), "--kb", "kb", "--schema",
          shell.schema)
    assert shell("backup", "--kb", "kb", "-o", "b.zip").code == 0

    def write(*_: object) -> None:
        raise StoreError("the disk is full")

    with monkeypatch.context() as full:
        full.setattr(FolderCollections, "write", write)
        restored = shell("restore", "b.zip", "--kb", "copy")
    assert (restored.code, "not built yet: the disk is full" in restored.err) == (0, True)
    assert shell("verify", "--kb", "copy").code == 0
