"""Vectors that the ledger keeps: made once, let go when nobody asks for them, never trusted unseen."""

from pathlib import Path

import numpy as np
import pytest
from banyan.graph_store.ledger.database import Database
from banyan.graph_store.ledger.vector_cache import VectorCache
from banyan.models.embedding.embedder import RememberingEmbedder, Vectors

from ..hashed_embedding import HashedEmbedder


class Counting(HashedEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.made: list[str] = []

    def encode(self, texts: list[str]) -> Vectors:
        self.made += texts
        return super().encode(texts)


def asked(path: Path, *texts: str, purpose: str = "growth", embedder: Counting | None = None) -> list[str]:
    """What is embedded where a process of its own asks for some texts."""
    counting = embedder or Counting()
    database = Database(path)
    with VectorCache(database, purpose, RememberingEmbedder(counting, 200)).embedder() as kept:  # type: ignore[arg-type]
        found = kept.encode(texts)
    assert np.allclose(found, HashedEmbedder().encode(list(texts)))
    database.close()
    return counting.made


def test_a_text_is_embedded_once_as_long_as_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    assert asked(path, "works for", "knows") == ["works for", "knows"]
    assert asked(path, "knows", "works for", "met") == ["met"]
    assert asked(path, "met") == []
    assert asked(path, "saw") == ["saw"], "three others are more than one: they are let go"
    assert asked(path, "saw", "knows") == ["knows"]


def test_a_few_new_ones_are_not_written(tmp_path: Path) -> None:
    path, many = tmp_path / "l.sqlite", [f"label {number}" for number in range(128)]
    asked(path, *many)
    for _ in range(2):
        assert asked(path, *many, "one", "two") == ["one", "two"]
    assert asked(path, *many, "one", "two", "three") == ["one", "two", "three"]
    assert asked(path, *many, "one", "two", "three") == []


def test_purposes_do_not_let_go_what_another_one_keeps(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    asked(path, "knows")
    assert asked(path, "A sentence.", purpose="reliability") == ["A sentence."]
    assert asked(path, "knows") == []


def test_another_model_makes_its_own(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    asked(path, "knows")
    other = Counting()
    other.fingerprint = "another"
    assert asked(path, "knows", embedder=other) == ["knows"]
    assert asked(path, "knows") == ["knows"], "the first model's are gone"


@pytest.mark.parametrize("damage", ["'text'", "x'00'", "zeroblob(length(vector))"])
def test_what_is_no_vector_is_made_again(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "l.sqlite"
    asked(path, "knows", "met")
    database = Database(path)
    database.execute(f"UPDATE cached_vectors SET vector = {damage} WHERE text = 'met'")
    database.close()
    assert asked(path, "knows", "met") == ["met"]
    assert asked(path, "knows", "met") == []


def test_a_block_that_fails_keeps_nothing(tmp_path: Path) -> None:
    database = Database(tmp_path / "l.sqlite")
    kept = VectorCache(database, "growth", RememberingEmbedder(HashedEmbedder(), 100))
    with pytest.raises(RuntimeError), kept.embedder() as embedder:
        embedder.encode(["knows"])
        raise RuntimeError
    assert database.count("SELECT count(*) FROM cached_vectors") == 0
    database.close()
