"""A full disk: vectors that cannot be written are made later."""

from banyan.graph_store.store_errors import StoreError
from banyan.graph_store.vectors.chroma_collections import FolderCollections

from ...scripted import Shell


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
