"""The server's answers on entities that became one, and on what persons decided of them."""

import pytest
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.schemas.naming import entity_id
from banyan.server.app import create_app
from starlette.testclient import TestClient

from ... import small_base

ENTITIES = "/api/knowledge-bases/people/entities"
ULM, TURKU = entity_id("Ulm", "City"), entity_id("Turku", "City")


@pytest.fixture
def resources(tmp_path, hashed_embedder):
    small_base.people(tmp_path, "people", hashed_embedder)
    with Resources(Settings(home=tmp_path, llm_base_url=None, _env_file=None), hashed_embedder) as resources:
        yield resources


def test_only_what_was_joined_is_looked_up_in_the_graph(resources):
    with TestClient(create_app(resources), base_url="http://127.0.0.1", client=("127.0.0.1", 7)) as client:
        def items(of, **asked):
            return client.get(f"{ENTITIES}/{of}", params=asked).raise_for_status().json()["items"]

        assert items("names", id=ULM) == items("names", id="nobody") == items("decisions") == []
        assert not resources.knowledge_base("people").ledger_graph.is_loaded
        verdict = {"verdict": "merge", "first": ULM, "second": TURKU, "who": "x"}
        (joined,) = client.post(f"{ENTITIES}/decisions", json=verdict).raise_for_status().json().values()
        (other,) = {ULM, TURKU} - {joined}
        assert [alias["id"] for alias in items("names", id=joined)] == [other]
        assert items("names", id=other) == []
        assert [set(decision["names"]) for decision in items("decisions")] == [{"Ulm", "Turku"}]
