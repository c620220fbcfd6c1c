"""Names that only their surroundings tie: a reasoner says whether they are of one entity."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.schemas.resolution import EntityPair, PairVerdict

from ...hashed_embedding import HashedEmbedder
from ...small_base import create, finish, put

Asked = list[frozenset[str]]
SAME = [{"Suzhou", "苏州"}, {"Kolb", "科尔布"}, {"Interpol", "International Police"}]


@pytest.fixture
def kb(tmp_path: Path) -> Any:
    with create(tmp_path, "kb", HashedEmbedder()) as made, made.writing():
        yield made


def answering(asked: Asked) -> Callable[[Any], list[PairVerdict | None]]:
    def ask(pairs: list[EntityPair]) -> list[PairVerdict | None]:
        asked.extend(frozenset((pair.first.name, pair.second.name)) for pair in pairs)
        return [PairVerdict(same={pair.first.name, pair.second.name} in SAME, confidence=0.95) for pair in pairs]

    return ask


def resolved(kb: KnowledgeBase) -> tuple[Asked, list[list[str]]]:
    """What was asked, and the names of the entities that have several."""
    asked: Asked = []
    kb.resolution.resolve(answering(asked), "brain")
    return asked, [names for entity in kb.graph.entity_ids() if len(names := kb.graph.names(entity)) > 1]


def test_a_shared_neighbour_leads_to_a_name_in_another_script(kb: KnowledgeBase) -> None:
    put(kb, "en", "Acme builds in Suzhou.", triples=[("Acme", "builds in", "Suzhou")])
    put(kb, "zh", "Acme 在苏州建厂。", triples=[("Acme", "builds in", "苏州")])
    kb.resolution.resolve()
    assert kb.entities.aliases() == {}, "without a model nothing is compared by its surroundings"
    asked, merged = resolved(kb)
    assert merged == [["Suzhou", "苏州"]]
    assert asked == [frozenset(("Suzhou", "苏州"))]
    assert resolved(kb)[0] == [], "each pair is asked about once"
    finish(kb)
    assert verify(kb) == []


def test_a_shared_document_leads_to_a_name_in_another_script(kb: KnowledgeBase) -> None:
    put(kb, "both", "Suzhou grows. 苏州在发展。", entities={"Suzhou": "Place", "苏州": "Place", "Acme": "Firm"})
    asked, merged = resolved(kb)
    assert (asked, merged) == ([frozenset(("Suzhou", "苏州"))], [["Suzhou", "苏州"]])


def test_an_abbreviation_is_asked_about_where_something_is_shared(kb: KnowledgeBase) -> None:
    put(kb, "a", "International Police seeks Bob.", triples=[("International Police", "seeks", "Bob")])
    put(kb, "b", "Interpol seeks Bob.", triples=[("Interpol", "seeks", "Bob")])
    put(kb, "c", "Europol sits in Lyon.", triples=[("Europol", "sits in", "Lyon")])
    assert resolved(kb) == ([frozenset(("Interpol", "International Police"))], [["International Police", "Interpol"]])


@pytest.mark.parametrize(("short", "long", "asked"), [
    ("Mainnet", "Harbour Mainnet", True), ("Guido", "Guido Berg", True), ("3.9", "Vex 3.9", True),
    ("Vex", "Vex 3.9", False), ("Mainnet", "Mainframe", False)])
def test_a_part_of_a_name_is_asked_about_where_both_stand_together(kb: KnowledgeBase, short: str, long: str, *,
                                                                   asked: bool) -> None:
    put(kb, "a", f"{long} runs Orio, and {short} runs Bob.",
        triples=[(long, "runs", "Orio"), (short, "runs", "Bob")])
    assert (frozenset((short, long)) in resolved(kb)[0]) == asked
