"""Tables and SQL over REST, wrong requests; and the facts behind citations."""

import pytest
from banyan.schemas.naming import entity_id

from ... import small_base

BASE = "/api/knowledge-bases/people"


def test_a_result_has_the_records_that_it_rests_on(client):
    def ask(sql, **more):
        return client.post(f"{BASE}/sql", json={"sql": sql, **more}).raise_for_status().json()

    found = ask("SELECT head, tail FROM born_in ORDER BY head")
    assert (found["columns"], found["rows"]) == (["head", "tail"], [["Ada Byron", "Ulm"], ["Carl Berg", "Turku"]])
    assert (found["total"], found["records"]) == (2, 2)
    cited = found["citations"][0]
    assert small_base.PEOPLE[cited["document"]][cited["start"]:cited["end"]] == cited["quote"]
    assert found["row_citations"] == [1, 2]
    limited = ask("SELECT document FROM documents", limit=1)
    assert (len(limited["rows"]), limited["total"]) == (1, len(small_base.PEOPLE))
    assert ask("SELECT document FROM documents", documents=["ada"])["rows"] == [["ada"]]


@pytest.mark.parametrize(("body", "message"), [
    ({"sql": "SELECT * FROM salaries"}, "no table 'salaries'; there are: "),
    ({"sql": "SELECT * FROM read_csv('/etc/passwd')"}, "the function read_csv is not allowed"),
    ({}, "body.sql: "), ({"sql": "x" * 4001}, "body.sql: "),
    ({"sql": "SELECT 1", "limit": 10_001}, "body.limit: "), ({"sql": "SELECT 1", "seconds": 9}, "body.seconds: "),
    ({"sql": "SELECT 1", "documents": ["nobody"]}, "no document is called 'nobody'")])
def test_what_cannot_be_run_is_refused_with_the_fix(client, body, message):
    response = client.post(f"{BASE}/sql", json=body)
    assert (response.status_code, response.json()["error"]["message"][:len(message)]) == (422, message)


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
