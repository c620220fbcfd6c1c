"""What a user gets wrong, and what the machine does: a clear error or recovery, and nothing stored is lost."""

import errno

import orjson
import pytest
from banyan.graph_store.ledger.database import Database
from banyan.graph_store.vectors.vector_store import VectorStore

from .. import scripted

TEXTS = scripted.TEXTS


def test_an_empty_folder(shell):
    shell.run_build().refused("there is nothing to read in", ".docx")
    assert shell.kbs() == [], "no empty knowledge base is left behind"
    shell.copy_built()
    assert shell.run_build(shell.folder / "home" / "nothing").code == 1
    empty = shell.folder / "empty"
    empty.mkdir()
    assert shell.run_build(empty).code == 1
    assert shell.sound()
    assert len(shell.dump()["nodes"]) == 5


UNREADABLE = {
    "empty.txt": (b"", "no text in it: add text or remove it"),
    "blank.md": (b" \n\t\n", "no text in it: add text or remove it"),
    "program.txt": (bytes(range(256)) * 40, "convert"),
    "picture.xyz": (bytes(range(256)), ".xyz is not a known format: convert it to one of"),
    "broken.pdf": (b"%PDF-1.4 nothing more", "PDF"),
}


def test_files_that_cannot_be_read_are_named_and_the_others_are_stored(shell):
    shell.write(TEXTS)
    for name, (data, _) in UNREADABLE.items():
        (shell.documents / name).write_bytes(data)
    result = shell.run_build()
    assert result.code == 0
    for name, (_, why) in UNREADABLE.items():
        told = result.err.partition(f"not read: {shell.documents / name}: ")[2].partition("not read: ")[0]
        assert why in told, name
    report = orjson.loads(result.out)
    assert (report["documents"], len(report["files_failed"])) == (len(TEXTS), len(UNREADABLE))
    assert shell("build", shell.documents, "--kb", "kb", "--strict").code == 1
    assert shell.run_build(shell.documents / "empty.txt").code == 1, "nothing of it could be read"
    assert shell.sound()


class OtherEmbedder:
    """Another model: the same vectors turned round."""

    name = "another-model"
    fingerprint = "another-128"

    def __init__(self, embedder):
        self._embedder = embedder
        self.dimension = embedder.dimension

    def encode(self, texts):
        return self._embedder.encode(texts)[:, ::-1]


def test_a_store_of_another_embedding_model(shell):
    report = shell.run_build(*shell.write(TEXTS))
    shell.embedder = OtherEmbedder(shell.embedder)
    for command in (["ask", "Who?"], ["status"], ["verify"], ["build", shell.documents]):
        shell(*command, "--kb", "kb").refused(
            "'kb' was built with the embedding model 'hashed-trigrams' and 'another-model' is in use",
            "`banyan reindex`")
    assert shell("reindex", "--kb", "kb").code == 0
    assert shell.sound()
    assert shell("ask", "Who employs Ada?", "--kb", "kb").code == 0
    assert orjson.loads(shell.run_build().out)["triples"] == orjson.loads(report.out)["triples"]
    assert set(shell.scripted.extracted.values()) == {1}


def test_a_reindex_that_ended_in_the_middle_is_taken_up(shell, monkeypatch):
    shell.copy_built()
    before, put = shell.vectors(), VectorStore.put

    def full(self, kind, ids, embed):
        put(self, kind, ids, embed)
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(VectorStore, "put", full)
        result = shell("reindex", "--kb", "kb")
    assert result.code == 1
    assert "No space left on device" in result.err
    assert shell("ask", "Who employs Ada?", "--kb", "kb").code == 0
    assert shell.vectors() == before
    assert shell.sound()


@pytest.mark.sqlite
def test_a_ledger_that_really_cannot_grow_ends_the_build_and_the_next_goes_on(shell, monkeypatch):
    """SQLite's own failure, at a size that it may not exceed."""
    shell.copy_built(dict([*TEXTS.items()][:1]))
    _, *rest = shell.write(TEXTS)
    stood = shell.dump()
    big = shell.documents / "big.txt"
    big.write_text("Filler sentence. " * 40_000, "utf-8")
    opened = Database.__init__

    def small(self, *given, **more):
        opened(self, *given, **more)
        self.execute("PRAGMA max_page_count=60")

    with monkeypatch.context() as patch:
        patch.setattr(Database, "__init__", small)
        shell.run_build(big, *rest).refused("database or disk is full")
        assert shell.dump() == stood
    big.unlink()
    assert shell.report()["stopped"] == ""
    assert shell.scripted.extracted == dict.fromkeys(TEXTS.values(), 1), "what was stored is not asked again"
    whole = scripted.Workshop(shell.folder / "whole", shell.embedder)
    whole.copy_built()
    assert shell.dump() == whole.dump()
    assert shell.vectors() == whole.vectors()
    assert shell.sound()
