"""Whatever changes a knowledge base, all that is derived from its ledger follows."""

from collections.abc import Callable
from pathlib import Path

import pytest
from banyan.agents.resources import Resources
from banyan.graph_store.graph_edits import Said
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.layout import Layout
from banyan.schemas.delta import Decision
from banyan.subagent.tool import search
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ...conftest import EXAMPLES
from ...hashed_embedding import HashedEmbedder
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
    "rename": lambda resources: resources.edit("kb", lambda edits: edits.rename("Ada", "Countess Ada", "me")),
    "retype": lambda resources: resources.edit("kb", lambda edits: edits.retype("Acme", "Person", "me")),
    "reject": lambda resources: resources.edit(
        "kb", lambda edits: edits.change_fact(Said("Ada", "employer", "Acme"), None, "me")),
    "reindex": lambda resources: resources.reindex("kb"),
    "addition": lambda resources: run_build(resources, {
        "knowledge_base": "kb", "documents": [{"id": "e.txt", "text": EVA}]}),
    "update": lambda resources: run_build(resources, {
        "knowledge_base": "kb", "documents": [{"id": "c.txt", "text": EVA}]}),
}


@pytest.mark.parametrize("change", CHANGES)
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


@pytest.mark.parametrize("change", ["rename", "retype", "reject"])
def test_an_edit_that_was_killed_before_its_end_is_taken_up_by_the_next_run(
        shop: Workshop, tmp_path: Path, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Workshop(tmp_path / "other", shop.embedder)
    other.copy_built()
    with other.resources() as resources:
        CHANGES[change](resources)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, shop.resources() as resources:
        patch.setattr("banyan.agents.resources.derive", killed)
        with pytest.raises(KeyboardInterrupt):
            CHANGES[change](resources)
    with shop.resources() as resources:
        resources.update_tree("kb")
    with KnowledgeBase.open(shop.settings.home, "kb", shop.embedder) as kb:
        assert verify(kb) == []
        assert not kb.tree.is_behind()
    assert shop.dump() == other.dump()
    assert shop.vectors() == other.vectors()


NAMED = {"a": "Ada:Person --employer--> Acme:Organization.", "b": "Bob:Person --knows--> Eva:Person.",
         "c": "Bonn:Place --located_in--> Europe:Place."}
NAMELESS = {"a": "requests for leave are to be sent three days ahead", "b": "the kitchen closes at noon",
            "c": "lost keys are returned at the gate"}
METADATA: list[dict[str, str]] = [{}, {"created": "2024-05-01"}, {"author": "Jo Lane"}]
"""A document's date of creation is not part of its text; other metadata is."""

Content = tuple[dict[str, str], str, dict[str, str]]
"""The texts of which a document has its own, a title, and metadata."""
CONTENT = st.tuples(st.sampled_from([NAMED, NAMELESS, NAMELESS]), st.sampled_from(["", "Notes"]),
                    st.sampled_from(METADATA))


@settings(max_examples=6 * EXAMPLES)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.none() | CONTENT), min_size=3, max_size=6))
@example([("a", (NAMED, "", {})), ("b", (NAMELESS, "", {}))])
@example([("a", (NAMELESS, "", {})), ("a", (NAMELESS, "", {"created": "2024-05-01"})), ("a", None)])
def test_every_chunk_is_found_after_any_history(
        tmp_path_factory: pytest.TempPathFactory, hashed_embedder: HashedEmbedder,
        history: list[tuple[str, Content | None]]) -> None:
    """Each step adds a document, replaces it, or deletes it (None)."""
    shop, stored = Workshop(tmp_path_factory.mktemp("history"), hashed_embedder), set[str]()
    with shop.resources() as resources:
        for document, content in history:
            if content is not None:
                texts, title, metadata = content
                run_build(resources, {"knowledge_base": "kb", "documents": [
                    {"id": document, "text": texts[document], "title": title, "metadata": metadata}]})
                stored.add(document)
            elif document in stored:
                resources.delete_documents("kb", [document])
                stored.remove(document)
            else:
                continue
            check_that_all_is_found(shop, resources, stored)


def check_that_all_is_found(shop: Workshop, resources: Resources, stored: set[str]) -> None:
    with KnowledgeBase(Layout.by(shop.settings, "kb"), shop.embedder) as kb:
        assert kb.has_current_files()
        assert verify(kb) == []
        chunks = kb.documents.chunks()
    assert {chunk.document_id for chunk in chunks} == stored
    found = newest(resources).index.chunk_row
    assert set(found) == {chunk.id for chunk in chunks}
    for chunk in chunks:
        assert chunk.text in {passage.text for passage in search(resources, "kb", chunk.text, 5)}
