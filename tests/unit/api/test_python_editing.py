"""Changing the graph in Python: `kb.edit`."""

import json

import banyan
import networkx as nx
import pytest

from ... import scripted

TEXTS = {
    "ada": "Ada:Person --employer--> Acme:Organization. Acme:Organization.founded = 1999.",
    "acme": "Acme:Organization --located_in--> Bonn:Place.",
}


@pytest.fixture
def kb(tmp_path, hashed_embedder):
    shop = scripted.Workshop(tmp_path, hashed_embedder)
    with shop.resources() as resources:
        kb = banyan.open("kb", resources=resources)
        kb.add(*({"id": name, "text": text} for name, text in TEXTS.items()), schema=shop.schema)
        yield kb


def test_what_is_changed_is_seen_at_once_and_taken_back(kb):
    before = kb.graph
    (fact,) = kb.facts("Ada")
    numbers = [kb.edit.rename("Acme", "Acme Ltd", why="its full name", who="Eva"), kb.edit.reject(fact),
               kb.edit.correct(("Acme Ltd", "founded", "1999"), object="1998")]
    assert kb.facts("Ada") == []
    stored = json.loads((kb.resources.settings.home / "kb" / "graph.json").read_text("utf-8"))
    assert nx.utils.graphs_equal(nx.node_link_graph(stored), kb.graph), "the file follows each change"
    (acme,) = kb.entities("acme ltd")
    assert (acme.name, acme.names, acme.attributes["founded"]) == ("Acme Ltd", ("Acme", "Acme Ltd"), ("1998",))
    for number in reversed(numbers):
        kb.edit.undo(number)
    assert dict(kb.graph.nodes) == dict(before.nodes)
    assert set(kb.graph.edges(keys=True)) == set(before.edges(keys=True))
    first = kb.edit.decisions()[0]
    assert (first.who, first.why, bool(first.undone_at)) == ("Eva", "its full name", True)


def test_retyping_merging_and_splitting(kb):
    kb.edit.retype("Acme", "Place")
    assert [entity.name for entity in kb.entities(type="Place")] == ["Acme", "Bonn"]
    kb.edit.merge("Acme", "Bonn")
    assert len(kb.entities(type="Place")) == 1
    kb.edit.split("Acme", "Bonn")
    assert len(kb.entities(type="Place")) == 2
    with pytest.raises(banyan.BanyanError, match="no entity type 'Planet'"):
        kb.edit.retype("Acme", "Planet")
