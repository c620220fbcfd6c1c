"""The server's answers on entities that became one, and on what persons decided of them."""

from banyan.schemas.naming import entity_id
from banyan.server.app import create_app

from ... import in_process

ENTITIES = "/api/knowledge-bases/people/entities"
ULM, TURKU = entity_id("Ulm", "City"), entity_id("Turku", "City")


def test_only_what_was_joined_is_looked_up_in_the_graph(resources):
    with in_process.client(create_app(resources)) as client:
        def items(of, **asked):
            return client.get(f"{ENTITIES}/{of}", params=asked).raise_for_status().json()["items"]

        assert items("names", id=ULM) == items("names", id="nobody") == items("decisions") == []
        assert resources.knowledge_base("people").ledger_graph._mentions is None
        verdict = {"verdict": "merge", "first": ULM, "second": TURKU, "who": "x"}
        (joined,) = client.post(f"{ENTITIES}/decisions", json=verdict).raise_for_status().json().values()
        (other,) = {ULM, TURKU} - {joined}
        assert [alias["id"] for alias in items("names", id=joined)] == [other]
        assert items("names", id=other) == []
        assert [set(decision["names"]) for decision in items("decisions")] == [{"Ulm", "Turku"}]
