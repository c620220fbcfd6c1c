"""Stored vectors: written, found, dropped; not read while a writer is at work or was killed."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from banyan.graph_store.store_errors import StoreError
from banyan.graph_store.vectors.chroma_collections import FolderCollections
from banyan.graph_store.vectors.vector_store import VectorStore

from ...hashed_embedding import HashedEmbedder

KEYS = [f"key {number:03}" for number in range(60)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[VectorStore]:
    opened = _open(tmp_path)
    for kind, keys in (("entities", KEYS), ("chunks", KEYS[:3])):
        opened.put(kind, keys, HashedEmbedder().encode(keys))
    yield opened
    opened.close()


def _open(folder: Path) -> VectorStore:
    return VectorStore(FolderCollections(folder / "chroma", "model"), HashedEmbedder())


def test_vectors_are_read_as_they_were_put(store, tmp_path):
    some = [*KEYS[::-7], KEYS[3], KEYS[3]]
    store.collections.mark_complete()
    store.close()
    for opened in (store, _open(tmp_path)):
        assert opened.ids("entities") == set(KEYS)
        assert opened.missing("entities", ["new", *KEYS]) == ["new"]
        assert np.allclose(opened.get("entities", some), HashedEmbedder().encode(some), atol=1e-6)
        assert opened.found("entities", ["new", KEYS[50]]).keys() == {KEYS[50]}
        assert opened.ids("chunks") == set(KEYS[:3])
        opened.close()
    with pytest.raises(StoreError, match="1 of the entities have no vector"):
        store.get("entities", ["new", "new", *KEYS])
    store.drop("entities", KEYS[:20])
    assert store.ids("entities") == set(KEYS[20:])


def test_the_index_finds_the_nearest_vectors(store):
    vectors = np.random.default_rng(1).standard_normal((len(KEYS), 48)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    store.put("triples", KEYS, vectors)
    exact = np.argsort(-(vectors @ vectors.T), axis=1)[:, :10]
    found = store.collections.read("triples", lambda collection: collection.query(
        query_embeddings=vectors, n_results=10, include=[]))["ids"]
    shared = [len({KEYS[row] for row in rows} & set(ids)) / 10 for rows, ids in zip(exact, found, strict=True)]
    assert np.mean(shared) > 0.9


def test_what_a_killed_writer_left_is_not_read(store, tmp_path):
    store.close()  # without `mark_complete`
    other = _open(tmp_path)
    assert other.collections.was_interrupted()
    with pytest.raises(StoreError, match="their writer was killed"):
        other.ids("entities")
    other.clear()
    other.put("entities", KEYS[:1], HashedEmbedder().encode(KEYS[:1]))
    other.collections.mark_complete()
    assert not other.collections.was_interrupted()
    assert other.ids("entities") == set(KEYS[:1])
    other.close()
