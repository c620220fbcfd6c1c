"""Stored vectors: written, found, dropped; not read while a writer is at work or was killed."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from banyan.graph_store.store_errors import StoreError
from banyan.graph_store.vectors.vector_store import VectorStore

from ...hashed_embedding import HashedEmbedder
from ...scripted import Shell

KEYS = [f"key {number:03}" for number in range(60)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[VectorStore]:
    opened = _open(tmp_path)
    for kind, keys in (("entities", KEYS), ("chunks", KEYS[:3])):
        opened.put(kind, keys, HashedEmbedder().encode(keys))
    yield opened
    opened.close()


def _open(folder: Path) -> VectorStore:
    return VectorStore(folder / "chroma", "model")


def test_vectors_are_read_as_they_were_put(store, tmp_path):
    some = [*KEYS[::-7], KEYS[3], KEYS[3]]
    store.mark_complete()
    store.close()
    for opened in (store, _open(tmp_path)):
        assert opened.ids("entities") == set(KEYS)
        assert np.allclose(opened.get("entities", some), HashedEmbedder().encode(some), atol=1e-6)
        assert opened.find("entities", ["new", KEYS[50]]).keys() == {KEYS[50]}
        assert opened.ids("chunks") == set(KEYS[:3])
        opened.close()
    with pytest.raises(StoreError, match="1 of the entities have no vector"):
        store.get("entities", ["new", "new", *KEYS])
    store.drop("entities", KEYS[:20])
    assert store.ids("entities") == set(KEYS[20:])


def test_a_restored_base_is_there_if_its_vectors_do_not_fit(tmp_path, hashed_embedder, monkeypatch, capsys):
    shell = Shell(tmp_path, hashed_embedder, monkeypatch, capsys)
    shell("build", *shell.write({"a.txt": "Ada:Person --employer--> Acme:Organization."}), "--kb", "kb", "--schema",
          shell.schema)
    assert shell("backup", "--kb", "kb", "-o", "b.zip").code == 0

    def write(*_: object) -> None:
        raise StoreError("the disk is full")

    with monkeypatch.context() as full:
        full.setattr(VectorStore, "write", write)
        restored = shell("restore", "b.zip", "--kb", "copy")
    assert (restored.code, "not built yet: the disk is full" in restored.err) == (0, True)
    assert shell("verify", "--kb", "copy").code == 0
