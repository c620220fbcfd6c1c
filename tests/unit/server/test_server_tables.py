"""Tables over REST: rows with their sources, groups, numbers, what tables can be made of, and wrong requests."""

import pytest
from banyan.server.app import create_app
from banyan.server.security.keys import Keys

from ... import in_process, small_base

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


@pytest.mark.parametrize("path", ["table?relation=born_in", "fields"])
def test_a_key_reads_the_tables_of_its_own_knowledge_bases_alone(resources, hashed_embedder, path):
    small_base.people(resources.settings.home, "other", hashed_embedder)
    kept = Keys.of(resources.settings)
    reader, asker = kept.make("ann", ["read"], ["people"]), kept.make("bob", ["ask"])

    def status(base, key):
        return client.get(f"/api/knowledge-bases/{base}/{path}", headers={"X-API-Key": key}).status_code

    with in_process.client(create_app(resources)) as client:
        assert status("people", reader) == 200
        assert status("other", reader) == status("nobody", reader) == 404
        assert status("people", asker) == 403
        assert status("people", "") == 401


def test_a_table_has_what_was_written_since(client):
    def rows():
        return client.get(f"{BASE}/table", params={"relation": "lies_on"}).raise_for_status().json()["total"]

    assert rows() == 1
    assert client.delete(f"{BASE}/document", params={"id": "ulm"}).status_code == 204
    assert client.get(f"{BASE}/table", params={"relation": "lies_on"}).status_code == 422
