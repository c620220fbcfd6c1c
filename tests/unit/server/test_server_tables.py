"""Tables over REST: rows with their sources, groups, numbers, wrong requests; and the facts behind citations."""

import pytest
from banyan.schemas.naming import entity_id

from ... import small_base

BASE = "/api/knowledge-bases/people"


@pytest.fixture
def ask(client):
    def ask(**parameters):
        return client.get(f"{BASE}/table", params=parameters).raise_for_status().json()

    return ask


@pytest.fixture
def refuse(client):
    def refuse(**parameters):
        response = client.get(f"{BASE}/table", params=parameters)
        return response.status_code, response.json()["error"]["message"]

    return refuse


def test_each_row_has_the_words_that_state_it(ask):
    table = ask(relation="born_in")
    assert (table["relation"], table["do"], table["value"], table["total"]) == ("born_in", "list", None, 2)
    ada, carl = table["rows"]
    assert (ada["head"], ada["tail"], ada["document"]) == ("Ada Byron", "Ulm", "ada")
    assert small_base.PEOPLE["ada"][ada["start"]:ada["end"]] == ada["quote"]
    assert (carl["head"], carl["tail"]) == ("Carl Berg", "Turku")


def test_numbers_and_groups_count_all_rows_whatever_the_limit(ask):
    counted = ask(relation="born_in", do="count", limit=1)
    assert (counted["value"], counted["total"], len(counted["rows"])) == (2, 2, 1)
    grouped = ask(relation="born_in", by="tail", do="count")
    assert [(group["key"], group["value"], group["rows"]) for group in grouped["groups"]] == [
        ("Turku", 1, 1), ("Ulm", 1, 1)]
    assert len(ask(relation="born_in", by="tail", limit=1)["groups"]) == 1


@pytest.mark.parametrize(("parameters", "message"), [
    ({"relation": "salary"}, "no relation or attribute is called 'salary'; there are: "),
    ({"relation": "born_in", "by": "salary"}, "no field is called 'salary'; there are: "),
    ({"relation": "born_in", "where": "salary"}, "'salary' is no condition: write FIELD=VALUE"),
    ({"relation": "born_in", "at": "soon"}, "query.at: "), ({"relation": "born_in", "do": "guess"}, "query.do: "),
    ({"relation": "born_in", "limit": 1001}, "query.limit: "), ({}, "query.relation: "),
    ({"relation": "born_in", "head": "x" * 1001}, "query.head: "),
    ({"relation": "born_in", "where": ["name=x"] * 21}, "query.where: "),
    ({"relation": "born_in", "show": ["x" * 1001]}, "query.show.0: ")])
def test_what_cannot_be_computed_is_refused_with_the_fix(refuse, parameters, message):
    status, said = refuse(**parameters)
    assert (status, said[:len(message)]) == (422, message)


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


def test_the_facts_among_entities_are_those_with_both_ends_among_them(client):
    def among(*ids):
        found = client.get(f"{GRAPH}/among", params={"id": ids}).raise_for_status().json()
        return ({node["id"] for node in found["nodes"]},
                [(edge["source"], edge["relation"], edge["target"]) for edge in found["edges"]])

    assert among(ADA, ULM, "no such entity") == ({ADA, ULM}, [(ADA, "born_in", ULM)])
    assert among(ADA) == ({ADA}, [])
