"""The schema grows by what documents ask for, and by what a person decides."""

import pytest
from banyan.agents.construction.graph import build_graph
from banyan.agents.construction.state import BuildContext
from banyan.graph_store.knowledge_base import KnowledgeBase
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from .. import scripted

shop = scripted.shop


def test_what_two_documents_ask_for_joins_the_schema_and_waiting_facts_are_written(shop):
    first, second = shop.write(scripted.WAITING)
    report = shop.build([first])
    assert report["triples"] == 0
    assert report["rejected"] == {"unknown_relation": 1}
    assert report["schema_version"] == 1
    report = shop.build([second])
    assert report["schema_version"] == 2
    assert shop.triples() == {("Ada", "mentor_of", "Bob"), ("Cem", "mentor_of", "Dua")}
    assert shop.scripted.extracted == dict.fromkeys(scripted.WAITING.values(), 1)
    with shop.resources() as resources:
        version = resources.knowledge_base("kb").schemas.versions()[-1]
    assert version.who == "auto"
    assert "2 documents" in version.decisions[0].decision.why
    assert shop.problems() == []


@pytest.mark.parametrize("texts", [
    {"a.txt": "Ada:Person --mentor of--> Bob:Person (0.7).", "b.txt": "Cem:Person --mentor of--> Dua:Person (0.8)."},
    {"a.txt": "Ada:Person --mentor of--> Bob:Person. Cem:Person --mentor of--> Dua:Person."},
], ids=["too unsure", "one document"])
def test_too_little_confidence_or_support_keeps_waiting(shop, texts):
    report = shop.build(shop.write(texts))
    assert report["schema_version"] == 1
    assert report["triples"] == 0
    with shop.resources() as resources:
        assert [c.name for c in resources.knowledge_base("kb").schema_control.waiting(2)] == ["mentor of"]


@pytest.mark.parametrize("relation", ["", "?!", "x" * 150, "tab\tbed\ue000"], ids=["empty", "marks", "long", "hidden"])
def test_a_label_that_cannot_name_an_element_is_no_candidate_and_stops_no_build(shop, relation):
    texts = {"a.txt": f"Ada:Person --knows--> Bob:Person. Ada:Person --{relation or ' '}--> Bob:Person.",
             "b.txt": f"Cem:Person --knows--> Dua:Person. Cem:Person --{relation or ' '}--> Dua:Person."}
    report = shop.build(shop.write(texts))
    assert report["triples"] == 2
    assert report["rejected"] == {"unknown_relation": 2}
    assert report["schema_version"] == 1


def test_a_type_spelled_oddly_is_accepted_once_and_the_build_ends(shop):
    texts = {"a.txt": "Ada:__Board_ --knows--> Bob:Person.", "b.txt": "Cem:board --knows--> Dua:Person."}
    assert shop.build(shop.write(texts))["schema_version"] == 2
    with shop.resources() as resources:
        graph = resources.knowledge_base("kb").graph
        assert {graph.entity(one).name: graph.entity(one).type for one in graph.entity_ids()} == {
            "Ada": "Board", "Bob": "Person", "Cem": "Board", "Dua": "Person"}


def test_entities_without_a_type_take_the_one_their_relations_ask_for_and_stop_no_build(shop):
    report = shop.build(shop.write({"a.txt": "Ada: --knows--> Bob:.", "b.txt": "Ada: --plays--> Cem:."}))
    assert (report["entities"], report["triples"]) == (2, 1)
    assert report["rejected"] == {"undeclared_entity": 1, "unknown_entity_type": 2}
    assert report["schema_version"] == 1


def test_a_reviewer_accepts_rejects_and_renames(shop):
    verdicts = {"game": {"verdict": "accept"}, "plays": {"verdict": "accept"},
                "mentor of": {"verdict": "rename", "new_name": "teaches"}}

    def answer(candidate):
        said = verdicts.get(candidate["name"])
        return said and {"kind": candidate["kind"], "name": candidate["name"], **said}

    asked, report = shop.review(shop.write(scripted.WAITING), answer)
    assert asked == ["mentor of", "game", "plays"]
    assert report["schema_version"] == 2
    with shop.resources() as resources:
        # What is played is a game: accepted in one go with its type, the relation is bounded by it.
        assert resources.knowledge_base("kb").schemas.current().relation_type("plays").range == ("Game",)
    asked, _ = shop.review(shop.write({"c.txt": "Eva:Person --mentor of--> Ada:Person."}), answer)
    assert asked == []
    assert shop.triples() == {("Ada", "teaches", "Bob"), ("Cem", "teaches", "Dua"), ("Ada", "plays", "Chess"),
                             ("Eva", "teaches", "Ada")}
    assert set(shop.scripted.extracted.values()) == {1}
    assert shop.problems() == []


def test_what_a_reviewer_rejected_is_not_proposed_again(shop):
    asked, report = shop.review(shop.write(scripted.WAITING), lambda c: {"kind": c["kind"], "name": c["name"],
                                                                 "verdict": "reject", "why": "no"})
    assert asked
    assert report["triples"] == 0
    asked, _ = shop.review(shop.write({"e.txt": "Eva:Person --mentor of--> Ada:Person (0.9)."}), lambda _: None)
    assert asked == []
    report = shop.build(shop.write({"f.txt": "Fay:Person --mentor of--> Ada:Person (0.9)."}))
    assert report["triples"] == 0, "nor accepted by machine"


def test_while_a_person_decides_others_may_write(shop):
    with shop.resources() as resources:
        graph = build_graph(resources, InMemorySaver())
        config = {"configurable": {"thread_id": "1"}}
        graph.invoke(shop.given(shop.write(scripted.WAITING)), config, context=BuildContext(review=True))
        assert graph.get_state(config).interrupts
        with KnowledgeBase.open(shop.settings.home, "kb", shop.embedder) as other, other.writing():
            other.database.set_meta("someone", "else")
        result = graph.invoke(Command(resume={"decisions": []}), config, context=BuildContext(review=True))
    assert result["report"]["stopped"] == ""
