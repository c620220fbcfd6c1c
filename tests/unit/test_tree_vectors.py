"""Vectors that the tree is made from: read from Chroma once, kept in the ledger, never trusted unseen."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.ledger.communities import Community
from banyan.graph_store.ledger.database import Database
from banyan.graph_store.tree.detection import CommunitySettings
from banyan.graph_store.tree.tree_vectors import TreeVectors
from banyan.models.embedding.embedder import Vectors
from banyan.schemas.graph_schema import open_schema

from ..conftest import load_test_module
from ..hashed_embedding import HashedEmbedder

small_base = load_test_module("small_base")
IDS = ["ada", "bob", "cy"]


class Counting:
    """A store of vectors that notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def get(self, kind: str, ids: Sequence[str]) -> Vectors:
        """See `VectorStore.get`."""
        self.asked += [f"{kind} {one}" for one in ids]
        return HashedEmbedder().encode(list(ids))


def asked(path: Path, ids: Sequence[str], embedder: Any = None, *, keep: bool = True) -> list[str]:
    """What is asked of the store where a process of its own reads some entities' vectors."""
    store, database = Counting(), Database(path)
    kept = TreeVectors(database, store, embedder or HashedEmbedder())  # type: ignore[arg-type]
    assert (kept.get("entities", ids) == HashedEmbedder().encode(list(ids))).all()
    if keep:
        kept.keep()
    database.close()
    return [one.removeprefix("entities ") for one in store.asked]


def rows(path: Path) -> list[str]:
    """The ids that are kept, by block."""
    database = Database(path)
    found = [str(row[0]) for row in database.rows("SELECT text FROM kept_vectors ORDER BY rowid")]
    database.close()
    return found


def test_a_vector_is_read_from_the_store_once(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    assert asked(path, IDS, keep=False) == IDS
    assert asked(path, IDS) == IDS
    assert asked(path, ["bo", *reversed(IDS)]) == ["bo"]
    assert asked(path, [*IDS, "bo"]) == []
    assert rows(path) == ["ada\nbob\ncy", "bo"]


def test_what_is_gone_is_let_go_when_it_is_most_of_what_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    asked(path, IDS)
    assert asked(path, ["ada", "bob"]) == []
    assert rows(path) == ["ada\nbob\ncy"]
    assert asked(path, ["bob"]) == []
    assert rows(path) == ["bob"]
    assert asked(path, IDS) == ["ada", "cy"]


def test_vectors_of_another_model_are_none(tmp_path: Path) -> None:
    path, other = tmp_path / "l.sqlite", HashedEmbedder()
    other.fingerprint = "another"  # type: ignore[misc]
    asked(path, IDS)
    assert asked(path, IDS, other) == IDS


@pytest.mark.parametrize("damage", ["zeroblob(length(vector))", "substr(vector, 2)", "'text'",
                                    "CAST(substr(vector, 1, length(vector) - 4) || x'0000c07f' AS BLOB)"])
def test_damaged_ones_are_read_from_the_store_again(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "l.sqlite"
    asked(path, IDS)
    database = Database(path)
    database.execute(f"UPDATE kept_vectors SET vector = {damage}")
    database.close()
    found = asked(path, IDS)
    assert set(found) <= set(IDS)
    assert "cy" in found
    assert asked(path, IDS) == []


def grown(tmp_path: Path, name: str, embedder: Any, *, keeping: bool) -> tuple[list[Community], list[int]]:
    """A tree that followed three additions, and how many entities' vectors each build read from Chroma."""
    settings, read = CommunitySettings(update_above=0, drift=0.9), list[int]()
    with KnowledgeBase.create(tmp_path, name, embedder) as kb:
        kb.schemas.append(open_schema(), (), "seed")
        for number in range(12):
            friends(kb, f"A{number}", f"A{(number + 1) % 12}")
        kb.build_tree(small_base.summarise, settings)
        for number in range(3):
            friends(kb, f"N{number}", "A5")
            if not keeping:
                kb.database.execute("DELETE FROM kept_vectors WHERE purpose = 'tree'")
            with patch.object(kb.vectors, "get", side_effect=kb.vectors.get) as get:
                kb.build_tree(small_base.summarise, settings)
            read += [len(call.args[1]) for call in get.call_args_list if call.args[0] == "entities"]
        found = kb.communities.all(level=None)
        assert verify(kb) == []
        kb.reindex(small_base.summarise)
        assert kb.database.count("SELECT count(*) FROM kept_vectors WHERE purpose = 'tree'") == 0
    return found, read


def friends(kb: KnowledgeBase, first: str, second: str) -> None:
    """A document of its own that says that two are friends."""
    small_base.put(kb, f"{first} {second}", f"{first} knows {second}.", triples=[(first, "knows", second)])
    kb.sync_vectors()


def test_a_tree_that_follows_its_graph_reads_few_vectors_and_is_the_same(tmp_path: Path, hashed_embedder) -> None:
    kept, few = grown(tmp_path, "kept", hashed_embedder, keeping=True)
    asked_again, all_of_them = grown(tmp_path, "again", hashed_embedder, keeping=False)
    assert kept == asked_again
    assert few == [13, 1, 1]
    assert all_of_them == [13, 14, 15]
