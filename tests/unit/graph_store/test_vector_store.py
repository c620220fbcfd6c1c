"""Stored vectors: several collections of a kind act as one, and what other processes wrote is found."""

import struct
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from banyan.graph_store.store_errors import StoreError
from banyan.graph_store.vectors import chroma_collections, chroma_folder
from banyan.graph_store.vectors.chroma_folder import FolderCollections
from banyan.graph_store.vectors.vector_store import VectorStore

from ... import small_base as base
from ...hashed_embedding import HashedEmbedder

KEYS = [f"key {number:03}" for number in range(60)]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chroma_collections, "_PART_MOST", 10)
    monkeypatch.setattr(chroma_folder, "_OPEN_MOST", 2)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[VectorStore]:
    opened = _open(tmp_path)
    for start in range(0, len(KEYS), 10):
        some = KEYS[start:start + 10]
        opened.put("entities", some, HashedEmbedder().encode)
    opened.put("chunks", KEYS[:3], HashedEmbedder().encode)
    yield opened
    opened.close()


def _open(folder: Path) -> VectorStore:
    return VectorStore(FolderCollections(folder / "chroma", "model"), HashedEmbedder())


def _contents(store: VectorStore) -> list[list[str]]:
    """Return the ids in each collection."""
    return [sorted(store.collections.read(part, lambda collection: collection.get(include=[])["ids"]))
            for part in store.collections.parts("entities")]


def test_a_full_collection_is_followed_by_another_and_all_are_read_as_one(store, tmp_path):
    assert _contents(store) == [KEYS[start:start + 10] for start in range(0, len(KEYS), 10)]
    some = [*KEYS[::-7], KEYS[3], KEYS[3]]
    for opened in (store, _open(tmp_path)):
        assert opened.ids("entities") == set(KEYS)
        assert opened.missing("entities", ["new", *KEYS]) == ["new"]
        assert np.allclose(opened.get("entities", some), HashedEmbedder().encode(some), atol=1e-6)
        assert opened.found("entities", ["new", KEYS[50]]).keys() == {KEYS[50]}
        assert opened.ids("chunks") == set(KEYS[:3])
        opened.close()
    with pytest.raises(StoreError, match="1 of the entities have no vector"):
        store.get("entities", ["new", "new", *KEYS])


def test_what_another_process_stored_is_found(store, tmp_path):
    other = _open(tmp_path)
    other.put("entities", ["new"], HashedEmbedder().encode)
    other.close()
    assert store.found("entities", [KEYS[0], "new"]).keys() == {KEYS[0], "new"}


@pytest.mark.parametrize("method", ["upsert", "write"])
def test_a_change_that_failed_half_way_is_looked_for(store, monkeypatch, method):
    change = getattr(store.collections, method)

    def fail_afterwards(*given: Any) -> None:
        change(*given)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(store.collections, method, fail_afterwards)
        with pytest.raises(OSError, match="No space left"):
            store.put("entities", ["new"], HashedEmbedder().encode)
        with pytest.raises(OSError, match="No space left") if method == "write" else nullcontext():
            store.drop("entities", KEYS[:20])
    store.put("entities", ["new"], HashedEmbedder().encode)
    assert store.ids("entities") == {key for part in _contents(store) for key in part} >= {"new"}
    assert sum(map(len, _contents(store))) == len(store.ids("entities"))


def test_an_index_holds_nothing_behind_its_last_vector(tmp_path, hashed_embedder):
    with base.create(tmp_path, "kb", hashed_embedder) as kb, kb.writing():
        base.put(kb, "a.md", "Ada Byron lives in London.", entities={"Ada Byron": "Person"})
        base.finish(kb)
    files = sorted((tmp_path / "kb" / "chroma").glob("*/data_level0.bin"))
    assert files
    for file in files:
        _, _, _, count, size = struct.unpack_from("<iQQQQ", file.with_name("header.bin").read_bytes())
        assert not any(file.read_bytes()[count * size:])
        assert not any(file.with_name("length.bin").read_bytes()[count * 4:])
