"""Whatever changes a knowledge base, all that is derived from its ledger follows."""

from collections.abc import Callable
from pathlib import Path

import pytest
from banyan.agents.resources import Resources
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.schemas.delta import Decision

from ...newest import newest
from ...scripted import Workshop, built_shop, run_build

shop = built_shop
EVA = "Eva:Person --employer--> Birch:Organization."


def decide_on_schema(resources: Resources) -> None:
    resources.decide("kb", [Decision(kind="relation", name="employer", verdict="rename", new_name="works_for")], "me")
    resources.update_tree("kb")


CHANGES: dict[str, Callable[[Resources], object]] = {
    "deletion": lambda resources: resources.delete_documents("kb", ["c.txt"]),
    "schema": decide_on_schema,
    "merge": lambda resources: resources.decide_entities("kb", "merge", ("Ada", "Bob"), "me"),
    "retype": lambda resources: resources.edit("kb", lambda edits: edits.retype("Acme", "Person", "me")),
    "reindex": lambda resources: resources.reindex("kb"),
    "update": lambda resources: run_build(resources, {
        "knowledge_base": "kb", "documents": [{"id": "c.txt", "text": EVA}]}),
}


@pytest.mark.parametrize("change", ["deletion", "schema", "merge", "reindex", "update"])
def test_everything_derived_follows_a_change_and_readers_see_it_when_it_has_ended(shop: Workshop, change: str) -> None:
    with shop.resources() as reading, shop.resources() as writing:
        before = newest(reading).kb.version()
        CHANGES[change](writing)
        assert newest(reading).kb.version() != before
    with KnowledgeBase.open(shop.settings.home, "kb", shop.embedder) as kb:
        assert not kb.vector_synchroniser.is_behind()
        assert not kb.resolution.is_behind()
        assert not kb.tree.is_behind()
        assert not kb.communities.find_undescribed()
        assert verify(kb) == []


@pytest.mark.parametrize(("change", "place"), [
    ("retype", "agents.resources.derive"), ("deletion", "graph_store.resolution.resolver.Surroundings")])
def test_an_edit_that_was_killed_before_its_end_is_taken_up_by_the_next_run(
        shop: Workshop, tmp_path: Path, change: str, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Workshop(tmp_path / "other", shop.embedder)
    other.copy_built()
    with other.resources() as resources:
        CHANGES[change](resources)

    kills: list[str] = []

    def killed(*_: object) -> None:
        kills.append(place)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, shop.resources() as resources:
        patch.setattr(f"banyan.{place}", killed)
        with pytest.raises(KeyboardInterrupt):
            CHANGES[change](resources)
    assert kills == [place]  # a database whose statement was interrupted is asked nothing more
    with shop.resources() as resources:
        resources.update_tree("kb")
    with KnowledgeBase.open(shop.settings.home, "kb", shop.embedder) as kb:
        assert verify(kb) == []
        assert not kb.tree.is_behind()
    assert shop.dump() == other.dump()
    assert shop.vectors() == other.vectors()
