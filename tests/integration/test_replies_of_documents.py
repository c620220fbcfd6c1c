"""Stored replies of a model belong to the documents whose text they have: they go with these, and the others stay."""

import pytest
from banyan.agents.construction.graph import build_graph as construction
from banyan.agents.resources import Resources
from banyan.config import Settings

from ..hashed_embedding import HashedEmbedder

pytestmark = pytest.mark.integration

TOWNS = ("Graz", "Linz", "Wels", "Steyr", "Enns", "Krems", "Melk", "Tulln", "Baden", "Ybbs", "Imst", "Lech", "Zell",
         "Hall", "Zams", "Reutte", "Lienz", "Spittal", "Villach", "Bruck")
NAMES = ("Ada", "Bela", "Cora", "Dora", "Edda", "Fred", "Gerd", "Hugo", "Ida", "Jana", "Karl", "Lena", "Mila", "Nora",
         "Otto", "Paul", "Quin", "Rosa", "Sara", "Timo")
GIVEN = [{"id": f"{name.lower()}.md",
          "text": f"# {name} Berg\n\n{name} Berg was born in {town}. {town} lies in Austria."}
         for name, town in zip(NAMES, TOWNS, strict=True)]


@pytest.fixture
def resources(tmp_path, llm):
    settings = Settings(home=tmp_path / "home", llm_base_url=llm.base_url, llm_model="scripted", llm_retries=0,
                        extract_tokens=0)
    with Resources(settings, embedder=HashedEmbedder()) as resources:
        yield resources


def build(resources, documents):
    return construction(resources).invoke(
        {"knowledge_base": "kb", "documents": documents, "schema": "general"})["report"]


def test_deleting_one_of_twenty_documents_costs_nothing_at_the_next_build(resources, llm):
    assert build(resources, GIVEN)["tokens"]["calls"] >= len(GIVEN)
    changed = [GIVEN[0], {**GIVEN[1], "text": f"{GIVEN[1]['text']} It is small."}, *GIVEN[2:]]
    assert build(resources, changed)["tokens"]["calls"], "of a text that was not read before"
    resources.delete_documents("kb", ["ada.md"])
    before = len(llm.requests)
    # One document is as it was at first again.
    report = build(resources, GIVEN[1:])
    assert (report["documents"], report["chunks_failed"], report["tokens"]["calls"]) == (19, 0, 0)
    assert len(llm.requests) == before
