"""Facts with their times: admitted, kept with their sources, ended by later ones, shown, exported and asked for."""

from collections.abc import Callable
from pathlib import Path

import banyan
import pytest
from banyan.agents.resources import Resources
from banyan.graph_store.bounding.grounding import SourceText
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.schemas.delta import Decision
from banyan.schemas.graph_schema import AttributeType, EntityType, GraphSchema, RelationType
from banyan.schemas.lookups import EntityLookup
from banyan.tools.langchain_tools import look_up
from banyan.tools.retriever import Retriever

from ... import small_base as base
from ...newest import newest
from ...scripted import Workshop, built_shop, run_build

SCHEMA = GraphSchema(
    name="firms",
    entity_types=tuple(EntityType(name=name) for name in ("Person", "Company", "Product", "Place")),
    relation_types=(RelationType(name="leads", domain=("Person",), range=("Company",), inverse_functional=True),
                    RelationType(name="produced_by", domain=("Product",), range=("Company",)),
                    RelationType(name="stands_in", domain=("Product",), range=("Place",))),
    attribute_types=(AttributeType(name="price", owners=("Product",), functional=True),
                     AttributeType(name="colour", owners=("Product",))))
TYPES = {"Ben": "Person", "Ana": "Person", "Eva": "Person", "Orio": "Company", "Vex": "Company", "P7": "Product",
         "Hall 4": "Product", "Ulm": "Place"}
DOCUMENTS = {
    "old": ("Ben leads Orio since 2015. P7 is produced by Vex. P7 costs 499 USD in 2018.",
            [("Ben", "leads", "Orio", "since 2015"), ("P7", "produced_by", "Vex", "")],
            [("P7", "price", "499 USD", "in 2018")]),
    "new": (
        "Ana leads Orio since March 2019 (27 votes). The contract with Vex for P7 ended in 2022. P7: 520 USD in 2020.",
        [("Ana", "leads", "Orio", "since March 2019; votes: 27"), ("P7", "produced_by", "Vex", "ended in 2022")],
        [("P7", "price", "520 USD", "in 2020")]),
    "plan": ("Hall 4 is planned for 2027 in Ulm. The former chief Eva led Orio.",
             [("Hall 4", "stands_in", "Ulm", "planned for 2027"), ("Eva", "leads", "Orio", "former")], []),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory, hashed_embedder):
    home = tmp_path_factory.mktemp("times")
    with base.create(home, "firms", hashed_embedder, SCHEMA) as kb, kb.writing():
        for name, (text, triples, attributes) in DOCUMENTS.items():
            named = {end for head, _, tail, _ in triples for end in (head, tail)} | {owner for owner, *_ in attributes}
            base.put(kb, name, text, entities={one: TYPES[one] for one in sorted(named)}, triples=triples,
                     attributes=attributes)
        base.finish(kb)
        kb.save_index()
    return home


@pytest.fixture(scope="module")
def kb(home, hashed_embedder):
    resources = banyan.Resources(banyan.Settings(home=home), embedder=hashed_embedder)
    with resources:
        yield banyan.open("firms", resources=resources)


HALL = "Hall 4 is planned to open in 2027. Vex has been the supplier since early 2018."
CLUB = "In 2025 the club used the Collins Centre, tried as alternative venue."
BOARD = "Ana leads Orio since 2015, elected by the board with 27 votes of 1,200."


@pytest.mark.parametrize(("text", "said", "stored"), [
    (HALL, "planned for 2027", "planned 2027"), (HALL, "since early 2018", "since early 2018"),
    (HALL, "PLANNED", "planned"), (HALL, "for 2027", "2027"), (HALL, "since 2027", ""),
    (HALL, "planned for 2018", "planned 2018"), (HALL, "former", "former"),
    (HALL, "planned 2027; only suggested", "planned 2027; condition: only suggested"),
    (CLUB, "suggested", "condition: suggested"), (CLUB, "planned; possible", "planned; condition: possible"),
    (CLUB, "Former", "Former"), (CLUB, "2025; tried as alternative", "2025; condition: tried as alternative"),
    (CLUB, "据称", "condition: 据称"), (CLUB, "2024; and 8", ""), (CLUB, "is uses", ""), (CLUB, "uses", ""),
    (BOARD, "since 2015; votes: 27", "since 2015; votes: 27"), (BOARD, "votes: 27", "votes: 27"),
    (BOARD, "since 2015; votes: 28", "since 2015"), (BOARD, "since 2014; votes: 27", "votes: 27"),
    (BOARD, "votes: 2; seats: 1,200", "seats: 1,200"), (BOARD, "votes: 28", ""), (BOARD, "票数：27", "票数：27"),
    (BOARD, "term: second terms; by: the board", "term: second terms; by: the board"),
    (BOARD, "votes: 27; votes: 28; seats: 1,200", "votes: 27; seats: 1,200")])
def test_times_and_qualifiers_take_the_sources_words(text, said, stored):
    assert SourceText(text, "The second term").ground_time(said, "uses") == stored


def test_facts_say_when_they_hold(kb):
    assert {str(fact) for fact in kb.facts()} == {
        "Ben leads Orio (since 2015; superseded 2019-03)", "Ana leads Orio (since March 2019; votes: 27)",
        "Eva leads Orio (former)", "P7 produced by Vex (ended in 2022)", "Hall 4 stands in Ulm (planned for 2027)"}
    (ben,) = kb.facts("Ben")
    assert (ben.start, ben.end) == ("2015", "2019-03")
    assert [(source.document, source.time) for source in ben.sources] == [("old", "since 2015")]
    (vex,) = kb.facts("Vex")
    assert [(source.document, source.time) for source in vex.sources] == [("new", "ended in 2022"), ("old", "")]


def test_facts_at_a_date(kb):
    def at(date):
        return sorted(f"{fact.subject} {fact.object}" for fact in kb.facts(at=date))

    assert at("2014") == ["P7 Vex"]
    assert at("2016") == ["Ben Orio", "P7 Vex"]
    assert at("2019") == ["Ana Orio", "Ben Orio", "P7 Vex"]
    assert at("2019-04") == ["Ana Orio", "P7 Vex"]
    assert at("5 May 2023") == ["Ana Orio"], "neither the supplier whose contract ended nor the planned hall"
    assert at("2028") == ["Ana Orio"]
    with pytest.raises(ValueError, match="'soon' is not a date: write a year, a month or a day"):
        kb.facts(at="soon")


def test_a_model_is_shown_times_with_the_words_that_say_so(home, hashed_embedder):
    with base.create(home, "firms", hashed_embedder) as kb:
        (card,) = look_up(Retriever(kb), EntityLookup(entity="P7"))
        lines = {item.statement: item for item in card.items}
        assert "price: 499 USD (in 2018; superseded 2020) (old); 520 USD (in 2020) (new)" in lines
        ended = lines["produced by -> Vex (ended in 2022) (new)"]
        assert [place.text for place in ended.places] == ["The contract with Vex for P7 ended in 2022."]


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


def test_an_edit_that_was_killed_before_its_end_is_taken_up_by_the_next_run(
        shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Workshop(tmp_path / "other", shop.embedder)
    other.copy_built()
    with other.resources() as resources:
        CHANGES["retype"](resources)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, shop.resources() as resources:
        patch.setattr("banyan.agents.resources.derive", killed)
        with pytest.raises(KeyboardInterrupt):
            CHANGES["retype"](resources)
    with shop.resources() as resources:
        resources.update_tree("kb")
    with KnowledgeBase.open(shop.settings.home, "kb", shop.embedder) as kb:
        assert verify(kb) == []
        assert not kb.tree.is_behind()
    assert shop.dump() == other.dump()
    assert shop.vectors() == other.vectors()
