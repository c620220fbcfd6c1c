"""Lists of references are found by searches, but name no entities and no facts."""

import banyan
import pytest

from ... import scripted


@pytest.fixture
def kb(tmp_path, hashed_embedder):
    with scripted.Workshop(tmp_path / "home", hashed_embedder).resources() as resources:
        yield banyan.open("kb", resources=resources)


def test_no_entities_are_read_from_references(kb):
    filling = "Boats lie at the quay all winter.\n\n" * 400
    kb.add({"id": "a", "title": "Boats", "text": (
        f"# Study\n\nAda:Person --employer--> Acme:Organization.\n\n{filling}# References\n\n"
        "Bob:Person --employer--> Beko:Organization.\n\nDelta harbours of the north.")})
    assert [entity.name for entity in kb.entities(type="Person")] == ["Ada"]
    assert any("Delta harbours" in passage.text for passage in kb.search("Delta harbours"))
