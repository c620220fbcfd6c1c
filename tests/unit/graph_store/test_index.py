"""What retrieval reads, in files: mapped as it was written, never as it was damaged, and made again when it is old."""

from operator import itemgetter

import numpy as np
import pytest
from banyan.graph_store.index import index_file
from banyan.graph_store.index.index_file import IndexDamagedError
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.schemas.documents import Document
from banyan.tools.ranking.fusion import best_rows
from banyan.tools.retriever import Retriever

from ... import small_base

ARRAYS = {"numbers": np.arange(12, dtype=np.int32).reshape(4, 3), "empty": np.zeros((0, 2), np.float32),
          "ids": np.array([b"a1", b"b2"], "S2")}
QUESTION = "Where was Ada Byron born?"


@pytest.mark.parametrize("spoil", [
    *(itemgetter(slice(at)) for at in (0, 5, 30, 100, -70, -1)), lambda data: data.replace(b'"<i4"', b'"|O8"')])
def test_a_file_that_is_cut_short_is_damaged_and_objects_are_never_read(tmp_path, spoil):
    index_file.write(tmp_path / "x", {}, ARRAYS)
    (tmp_path / "x").write_bytes(spoil((tmp_path / "x").read_bytes()))
    with pytest.raises(IndexDamagedError):
        index_file.load(tmp_path / "x")


@pytest.fixture
def home(tmp_path, hashed_embedder):
    small_base.people(tmp_path, "kb", hashed_embedder)
    return tmp_path


@pytest.fixture
def opened(home, hashed_embedder):
    return lambda: KnowledgeBase.open(home, "kb", hashed_embedder)


def found(kb):
    retriever = Retriever(kb)
    query = retriever.compare(QUESTION)
    near = [(retriever.index.edge(row), query.triples[row]) for row in best_rows(query.triples, 10).tolist()]
    ranking = retriever.rank_passages(QUESTION, 10)
    return near, ranking, [retriever.passage(*item) for item in ranking]


def grown(kb):
    with kb.writing():
        kb.documents.delete("carl")
        small_base.put(kb, "eve", "Eve Byron was born in Ulm.", entities={"Eve Byron": "Person", "Ulm": "City"},
                       triples=[("Eve Byron", "born_in", "Ulm")], attributes=[("Eve Byron", "name", "Eve")])
        small_base.finish(kb)
        kb.save_index()


def test_an_index_that_followed_the_changes_is_that_of_a_new_one(opened, home):
    with opened() as kb:
        grown(kb)
        expected = found(kb)
        for path in home.glob("kb/index*"):
            path.unlink()
    with opened() as kb:
        assert found(kb) == expected
        assert verify(kb) == []


def test_verify_reads_an_index_with_chunks_that_failed_or_wait(opened):
    with opened() as kb, kb.writing():
        for key in ("a failed one", "one that waits"):
            small_base.store(kb, Document(id=key, title="", text=f"The text of {key}.", source="test"))
        kb.extractions.fail(kb.documents.next_batch(1)[0], "the model's reply was of no use")
        small_base.finish(kb)
    with opened() as kb:
        chunks = {chunk.document_id for chunk in Retriever(kb).index.chunks}
        assert chunks > {"a failed one", "one that waits"}
        assert verify(kb) == []
