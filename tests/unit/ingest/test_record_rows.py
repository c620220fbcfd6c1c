"""Records without a field `text` are rows of one document."""

import json

import pytest

from ... import loading

load, write, failure = loading.load, loading.write, loading.failure
pytestmark = pytest.mark.usefixtures("shared_reading")

STAFF = [{"name": "Ida Lang", "site": {"city": "Alder", "floor": 2}, "tags": ["bells", "doors"], "active": True},
         {"name": "Eva Roth", "site": {"city": "Birch"}, "left": None, "since": "2014"}]
ROWS = ("| Name: Ida Lang | Site city: Alder | Site floor: 2 | Tags: bells; doors | Active: true |\n"
        "| Name: Eva Roth | Site city: Birch | Since: 2014 |")


def read(path):
    (document,), failures = load(path)
    assert failures == []
    return document


@pytest.mark.parametrize("name", ["staff.ndjson", "staff.jsonl", "staff.json"])
def test_a_list_of_records_is_a_table(tmp_path, name):
    content = json.dumps(STAFF) if name.endswith(".json") else "\n".join(map(json.dumps, STAFF))
    document = read(write(tmp_path / name, content))
    assert (document.id, document.title) == (name, "staff")
    assert document.text.lower() == ROWS.lower()


def test_an_object_is_a_row_and_its_lists_of_objects_are_tables(tmp_path):
    document = read(write(tmp_path / "site.json", json.dumps(
        {"name": "Alder", "doors": 4, "rooms": [{"room": "Hall", "size": 30}, {"room": "Loft", "size": 9}]})))
    assert document.text == ("| name: Alder | doors: 4 |\n\n## rooms\n\n"
                             "| room: Hall | size: 30 |\n| room: Loft | size: 9 |")


def test_ndjson_with_texts_is_many_documents(tmp_path):
    documents, failures = load(write(tmp_path / "a.ndjson", '{"name": "one"}\n{"text": "two"}\n{"text": "three"}\n'))
    assert [document.text for document in documents] == ["two", "three"]
    assert [found.reason for found in failures] == ["line 1: no `text`, only `name`: add it"]


def test_a_line_that_is_no_object_is_a_failure_of_its_own(tmp_path):
    documents, failures = load(write(tmp_path / "a.jsonl", '{"name": "Ida"}\n[1]\n{broken\n{"name": "Eva"}\n'))
    assert [document.text for document in documents] == ["| name: Ida |\n| name: Eva |"]
    assert [found.reason.split(":")[0] for found in failures] == ["line 2", "line 3"]
