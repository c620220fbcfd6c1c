"""The facts behind an answer's citations, and the facts among chosen entities."""

from banyan.schemas.naming import entity_id

from ... import small_base

GRAPH = "/api/knowledge-bases/people/graph"
ADA, ULM = entity_id("Ada Byron", "Person"), entity_id("Ulm", "City")


def cited(document, words):
    start = small_base.PEOPLE[document].index(words)
    return {"document": document, "start": start, "end": start + len(words)}


def shown(client, *citations):
    found = client.post(f"{GRAPH}/evidence", json={"citations": citations}).raise_for_status().json()
    names = {node["id"]: node["name"] for node in found["nodes"]}
    return set(names.values()), {(names[edge["source"]], edge["relation"], names[edge["target"]])
                                 for edge in found["edges"]}


def test_cited_words_lead_to_the_facts_that_they_state(client):
    names, facts = shown(client, cited("ada", "She was born in Ulm, Germany, on 3 May 1801."),
                         cited("ulm", "Ulm lies on the\nriver Danube."))
    assert facts == {("Ada Byron", "born_in", "Ulm"), ("Ulm", "lies_on", "Danube")}
    assert names == {"Ada Byron", "Ulm", "Danube"}


def test_words_that_name_an_entity_and_state_no_fact_lead_to_it_alone(client):
    assert shown(client, cited("carl", "Carl Berg was a painter.")) == ({"Carl Berg"}, set())


def test_citations_of_what_is_not_there_lead_nowhere(client):
    assert shown(client, {"document": "nobody", "start": 0, "end": 9}) == (set(), set())
    assert shown(client, {"document": "ada", "start": 10_000, "end": 10_009}) == (set(), set())


def test_the_facts_among_entities_are_those_with_both_ends_among_them(client):
    def among(*ids):
        found = client.get(f"{GRAPH}/among", params={"id": ids}).raise_for_status().json()
        return ({node["id"] for node in found["nodes"]},
                [(edge["source"], edge["relation"], edge["target"]) for edge in found["edges"]])

    assert among(ADA, ULM, "no such entity") == ({ADA, ULM}, [(ADA, "born_in", ULM)])
    assert among(ADA) == ({ADA}, [])
