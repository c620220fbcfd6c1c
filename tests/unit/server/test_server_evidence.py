"""The facts behind an answer's citations, and the facts among chosen entities."""

import pytest
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.schemas.naming import entity_id
from banyan.server.graph_view import GraphView
from banyan.server.routes.evidence import Cited, among, evidence
from banyan.server.routes.graph import _Seen
from banyan.tools.index import RetrievalIndex

from ... import small_base

ADA, ULM = entity_id("Ada Byron", "Person"), entity_id("Ulm", "City")


@pytest.fixture(scope="module")
def seen(tmp_path_factory, hashed_embedder):
    home = tmp_path_factory.mktemp("home")
    small_base.people(home, "people", hashed_embedder)
    with KnowledgeBase.open(home, "people", hashed_embedder) as kb:
        yield _Seen(kb, GraphView(RetrievalIndex(kb)))


def cited(document, words):
    start = small_base.PEOPLE[document].index(words)
    return {"document": document, "start": start, "end": start + len(words)}


def shown(seen, *citations):
    found = evidence(seen, Cited(citations=list(citations)))
    names = {node.id: node.name for node in found.nodes}
    return set(names.values()), {(names[edge.source], edge.relation, names[edge.target]) for edge in found.edges}


def test_cited_words_lead_to_the_facts_that_they_state(seen):
    names, facts = shown(seen, cited("ada", "She was born in Ulm, Germany, on 3 May 1801."),
                         cited("ulm", "Ulm lies on the\nriver Danube."))
    assert facts == {("Ada Byron", "born_in", "Ulm"), ("Ulm", "lies_on", "Danube")}
    assert names == {"Ada Byron", "Ulm", "Danube"}


def test_words_that_name_an_entity_and_state_no_fact_lead_to_it_alone(seen):
    assert shown(seen, cited("carl", "Carl Berg was a painter.")) == ({"Carl Berg"}, set())


def test_what_stands_between_two_facts_of_a_document_leads_nowhere(seen):
    assert shown(seen, cited("ulm", "  ")) == (set(), set())


def test_citations_of_what_is_not_there_lead_nowhere(seen):
    assert shown(seen, {"document": "nobody", "start": 0, "end": 9}) == (set(), set())
    assert shown(seen, {"document": "ada", "start": 10_000, "end": 10_009}) == (set(), set())


def test_words_in_chinese_lead_to_their_facts(seen):
    assert shown(seen, cited("zh", "林小雨出生于宁波。"))[1] == {("林小雨", "出生于", "宁波")}


def test_the_facts_among_entities_are_those_with_both_ends_among_them(seen):
    found = among(seen, [ADA, ULM, "no such entity"])
    assert {node.id for node in found.nodes} == {ADA, ULM}
    assert [(edge.source, edge.relation, edge.target) for edge in found.edges] == [(ADA, "born_in", ULM)]
    assert among(seen, [ADA]).edges == []
