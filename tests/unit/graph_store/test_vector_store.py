"""Stored vectors: written, found, dropped; not read while a writer is at work or was killed."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from banyan.graph_store.store_errors import StoreError
from banyan.graph_store.vectors.vector_store import FolderVectors, VectorStore

from ...hashed_embedding import HashedEmbedder
from ...scripted import Shell, Workshop

KEYS = [f"key {number:03}" for number in range(60)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[VectorStore]:
    opened = _open(tmp_path)
    for kind, keys in (("entities", KEYS), ("chunks", KEYS[:3])):
        opened.put(kind, keys, HashedEmbedder().encode(keys))
    yield opened
    opened.close()


def _open(folder: Path) -> VectorStore:
    return FolderVectors(folder / "chroma", "model")


def test_vectors_are_read_as_they_were_put(store, tmp_path):
    some = [*KEYS[::-7], KEYS[3], KEYS[3]]
    store.mark_complete()
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


class NotingEmbedder(HashedEmbedder):
    """Notes every text that is encoded."""

    def __init__(self) -> None:
        self.encoded = set[str]()

    def encode(self, texts: Sequence[str]) -> Any:
        self.encoded.update(texts)
        return super().encode(texts)


def test_rows_of_hundreds_of_columns_are_embedded_as_one_text(tmp_path):
    """Each is cut into lines at other columns, so that their columns would be a text of its own for each chunk."""
    shop = Workshop(tmp_path, NotingEmbedder())
    rows = [[f"row {row}", *(str(10 ** (row * at % 9)) for at in range(300))] for row in range(80)]
    header = ["id", *(f"column {at}" for at in range(300))]
    report = shop.build(shop.write({"wide.csv": "\n".join(",".join(cells) for cells in (header, *rows))}))
    assert report["chunks"] > 80
    assert len(shop.vectors()["chunks"]) == report["chunks"]
    assert len([text for text in shop.embedder.encoded if "wide" in text]) < 10
    with shop.resources() as resources, resources.snapshot("kb") as snapshot:
        (found,) = snapshot.index.sql.run("SELECT count(*), sum(column_299) FROM wide").rows
    assert found == (80, sum(int(row[-1]) for row in rows))


def test_a_restored_base_is_there_if_its_vectors_do_not_fit(tmp_path, hashed_embedder, monkeypatch, capsys):
    shell = Shell(tmp_path, hashed_embedder, monkeypatch, capsys)
    shell("build", *shell.write({"a.txt": "Ada:Person --employer--> Acme:Organization."}), "--kb", "kb", "--schema",
          shell.schema)
    assert shell("backup", "--kb", "kb", "-o", "b.zip").code == 0

    def write(*_: object) -> None:
        raise StoreError("the disk is full")

    with monkeypatch.context() as full:
        full.setattr(FolderVectors, "write", write)
        restored = shell("restore", "b.zip", "--kb", "copy")
    assert (restored.code, "not built yet: the disk is full" in restored.err) == (0, True)
    assert shell("verify", "--kb", "copy").code == 0
