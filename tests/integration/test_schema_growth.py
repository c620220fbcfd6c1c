"""The schema grows by what documents ask for, and by what a person decides."""

import pytest
from banyan.agents.construction.graph import build_graph
from banyan.agents.construction.state import BuildContext
from banyan.graph_store.knowledge_base import KnowledgeBase
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from .. import scripted

shop = scripted.shop


@pytest.mark.parametrize("relation", ["", "?!", "x" * 150, "tab\tbed\ue000"], ids=["empty", "marks", "long", "hidden"])
def test_a_label_that_cannot_name_an_element_is_no_candidate_and_stops_no_build(shop, relation):
    texts = {"a.txt": f"Ada:Person --knows--> Bob:Person. Ada:Person --{relation or ' '}--> Bob:Person.",
             "b.txt": f"Cem:Person --knows--> Dua:Person. Cem:Person --{relation or ' '}--> Dua:Person."}
    report = shop.build(shop.write(texts))
    assert report["triples"] == 2
    assert report["rejected"] == {"unknown_relation": 2}
    assert report["schema_version"] == 1


def test_entities_without_a_type_take_the_one_their_relations_ask_for_and_stop_no_build(shop):
    report = shop.build(shop.write({"a.txt": "Ada: --knows--> Bob:.", "b.txt": "Ada: --plays--> Cem:."}))
    assert (report["entities"], report["triples"]) == (2, 1)
    assert report["rejected"] == {"undeclared_entity": 1, "unknown_entity_type": 2}
    assert report["schema_version"] == 1


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
