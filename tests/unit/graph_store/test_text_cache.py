"""Vectors of texts that are cached in Chroma: made once for each model, whoever asks."""

from pathlib import Path

import numpy as np
import pytest
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.vectors.vector_store import CachedEmbedder
from banyan.models.embedding.embedder import InstructedEmbedder, Vectors

from ...hashed_embedding import HashedEmbedder


class Counting(HashedEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.made: list[str] = []

    def encode(self, texts: list[str]) -> Vectors:
        self.made += texts
        return super().encode(texts)


@pytest.fixture
def asked(tmp_path: Path):
    """What is embedded where a process of its own asks for some texts."""

    def ask(*texts: str, instruction: str = "") -> list[str]:
        counting = Counting()
        with KnowledgeBase.create(tmp_path, "kb", HashedEmbedder()) as kb:
            cached = CachedEmbedder(kb.vectors, InstructedEmbedder(counting, instruction))
            found = cached.encode(texts)
        assert np.allclose(found, HashedEmbedder().encode([instruction + text for text in texts]))
        return counting.made

    return ask


def test_a_text_is_embedded_once(asked) -> None:
    assert asked("works for", "knows", "works for") == ["works for", "knows"]
    assert asked("knows", "met", "works for") == ["met"]
    assert asked() == []


def test_another_model_makes_its_own(asked) -> None:
    asked("knows")
    assert asked("knows", instruction="query: ") == ["query: knows"]
    assert asked("knows") == []
    assert asked("knows", instruction="query: ") == []
