"""Whatever changes a knowledge base, all that is derived from its ledger follows."""

from collections.abc import Callable
from pathlib import Path

import pytest
from banyan.agents.resources import Resources
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.schemas.delta import Decision

from ..hashed_embedding import HashedEmbedder
from ..scripted import TEXTS, Workshop, run_build

EVA = "Eva:Person --employer--> Birch:Organization."


def decide_on_schema(resources: Resources) -> None:
    resources.decide("kb", [Decision(kind="relation", name="employer", verdict="rename", new_name="works_for")], "me")
    resources.update_tree("kb")


CHANGES: dict[str, Callable[[Resources], object]] = {
    "deletion": lambda resources: resources.delete_document("kb", "c.txt"),
    "schema": decide_on_schema,
    "merge": lambda resources: resources.decide_entities("kb", "merge", ("Ada", "Bob"), "me"),
    "reindex": lambda resources: resources.reindex("kb"),
    "addition": lambda resources: run_build(resources, {
        "knowledge_base": "kb", "documents": [{"id": "e.txt", "text": EVA}]}),
    "update": lambda resources: run_build(resources, {
        "knowledge_base": "kb", "documents": [{"id": "c.txt", "text": EVA}]}),
}


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    made = Workshop(tmp_path, HashedEmbedder())
    made.build(made.write(TEXTS))
    return made


@pytest.mark.parametrize("change", CHANGES)
def test_everything_derived_follows_a_change(shop: Workshop, change: str) -> None:
    with shop.resources() as resources:
        CHANGES[change](resources)
    with KnowledgeBase.open(shop.settings.home, "kb", shop.embedder) as kb:
        assert not kb.vector_synchroniser.is_behind()
        assert not kb.resolution.is_behind()
        assert not kb.tree.is_behind()
        assert not kb.communities.undescribed()
        assert verify(kb) == []


@pytest.mark.parametrize("change", CHANGES)
def test_readers_see_a_change_when_it_has_ended(shop: Workshop, change: str) -> None:
    with shop.resources() as reading, shop.resources() as writing:
        before = reading.knowledge_base("kb")
        CHANGES[change](writing)
        assert reading.knowledge_base("kb") is not before
        assert reading.retriever("kb").version == reading.knowledge_base("kb").version() != before.version()
