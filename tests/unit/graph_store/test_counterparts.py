"""Names that only their surroundings tie: a reasoner says whether they are of one entity."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from banyan.graph_store.graph.knowledge_graph import KnowledgeGraph
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.resolution.counterparts import TrustedVectors, counterparts, is_short_for
from banyan.graph_store.resolution.name_comparison import fold
from banyan.graph_store.resolution.surroundings import Surroundings
from banyan.schemas.graph_schema import open_schema
from banyan.schemas.resolution import EntityPair, PairVerdict

from ...hashed_embedding import HashedEmbedder
from ...scripted import ScriptedReasoner, Workshop
from ...small_base import create, finish, put
from .test_resolution import facts, graph_of

Asked = list[frozenset[str]]
SAME = [{"Suzhou", "苏州"}, {"Kolb", "科尔布"}, {"Interpol", "International Police"}]


@pytest.fixture
def shop(tmp_path: Path, hashed_embedder: HashedEmbedder) -> Workshop:
    return Workshop(tmp_path, hashed_embedder)


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


def test_one_merge_leads_to_the_next(kb: KnowledgeBase) -> None:
    put(kb, "en", "Acme builds in Suzhou. Suzhou has Kolb.",
        triples=[("Acme", "builds in", "Suzhou"), ("Suzhou", "has", "Kolb")])
    put(kb, "zh", "Acme 在苏州。苏州有科尔布。", triples=[("Acme", "builds in", "苏州"), ("苏州", "has", "科尔布")])
    assert resolved(kb)[1] == [["Kolb", "科尔布"], ["Suzhou", "苏州"]]


def test_an_abbreviation_is_asked_about_where_something_is_shared(kb: KnowledgeBase) -> None:
    put(kb, "a", "International Police seeks Bob.", triples=[("International Police", "seeks", "Bob")])
    put(kb, "b", "Interpol seeks Bob.", triples=[("Interpol", "seeks", "Bob")])
    put(kb, "c", "Europol sits in Lyon.", triples=[("Europol", "sits in", "Lyon")])
    assert resolved(kb) == ([frozenset(("Interpol", "International Police"))], [["International Police", "Interpol"]])


@pytest.mark.parametrize(("short", "long"), [
    ("WHO", "World Health Organization"), ("FedEx", "Federal Express"), ("Interpol", "International Police"),
    ("北大", "北京大学"), ("世卫组织", "世界卫生组织")])
def test_abbreviations_have_a_form(short: str, long: str) -> None:
    assert is_short_for(fold(short), fold(long))


@pytest.mark.parametrize(("short", "long"), [
    ("Ann", "Anderson Mill"), ("Paris", "Paris Hilton"), ("苏州", "苏州工业园区"), ("Who", "Health Organization"),
    ("A", "Ada Byron")])
def test_a_part_of_a_name_is_no_abbreviation(short: str, long: str) -> None:
    assert not is_short_for(fold(short), fold(long))


def test_what_facts_or_types_part_is_not_asked_about(kb: KnowledgeBase) -> None:
    put(kb, "a", "Suzhou lies in 江苏.", triples=[("Suzhou", "lies in", "江苏")])
    put(kb, "b", "Wuxi 无锡", entities={"Wuxi": "Person", "无锡": "Place"})
    assert resolved(kb)[0] == []


def around(rng: random.Random, shared: int = 60) -> Surroundings:
    said = {f"c{n}": facts((f"Firm {chr(97 + n % 26)}", "sits in", f"Hub{n // 3}"),
                           (f"公司{chr(0x4e00 + n)}", "sits in", f"Hub{n // 3}"), names=("Delta", "德尔塔"))
            for n in range(shared)}
    order = list(said)
    rng.shuffle(order)
    graph: KnowledgeGraph = graph_of(**{chunk: said[chunk] for chunk in order})
    return Surroundings(graph, open_schema(), {})


def test_the_pairs_are_few_and_the_same_in_any_order() -> None:
    nothing = TrustedVectors([], HashedEmbedder().encode([]), {})
    found = counterparts(around(random.Random(1)), {}, nothing)
    assert found
    assert found == counterparts(around(random.Random(2)), {}, nothing)
    for entity in {entity for pair, _ in found for entity in pair}:
        assert sum(entity in pair for pair, _ in found) <= 2


class Judging(ScriptedReasoner):
    """A scripted reasoner that also tells doubtful pairs apart."""

    resolves = True

    def __init__(self) -> None:
        super().__init__()
        self.asked: Asked = []

    async def resolve(self, pairs: Any) -> list[PairVerdict | None]:
        return answering(self.asked)(pairs)


def test_a_place_under_its_english_and_its_chinese_name_is_one_entity(shop: Workshop) -> None:
    texts = {"en.txt": "Acme:Organization --located_in--> Suzhou:Place.",
             "zh.txt": "Acme:Organization --located_in--> 苏州:Place."}
    shop.build(shop.write(texts))
    assert shop.triples() == {("Acme", "located_in", "Suzhou"), ("Acme", "located_in", "苏州")}
    shop.scripted = Judging()
    shop.build()
    ((head, relation, tail),) = shop.triples()
    assert (head, relation) == ("Acme", "located_in")
    assert tail in {"Suzhou", "苏州"}
    assert shop.problems() == []


@pytest.mark.parametrize(("short", "long", "asked"), [
    ("Mainnet", "Harbour Mainnet", True), ("Guido", "Guido Berg", True), ("3.9", "Vex 3.9", True),
    ("Vex", "Vex 3.9", False), ("Mainnet", "Mainframe", False)])
def test_a_part_of_a_name_is_asked_about_where_both_stand_together(kb: KnowledgeBase, short: str, long: str, *,
                                                                   asked: bool) -> None:
    put(kb, "a", f"{long} runs Orio, and {short} runs Bob.",
        triples=[(long, "runs", "Orio"), (short, "runs", "Bob")])
    assert (frozenset((short, long)) in resolved(kb)[0]) == asked
