"""Values that only repeat a name, or say where a row stands, are found and listed, but neither shown nor counted."""

import pytest
from banyan.graph_store.graph.knowledge_graph import is_descriptive
from banyan.tools.index import RetrievalIndex

from tests import small_base

PUMPS = "RFC-20: Oslo Pumps"


@pytest.mark.parametrize(("attribute", "value", "tells"), [
    ("alias", "RFC-20", False), ("alias", "oslo pumps", False), ("title", "Oslo Pumps", False), ("Rfc", "20", False),
    ("section_name", "G1", False), ("section", "4.2", False),
    ("alias", "Pump Note", True), ("title", "Pumps of Oslo", True), ("city", "Oslo", True), ("pages", "20", True),
    ("section", "Harbour", True), ("gate", "G1", True), ("group", "A", True)])
def test_a_value_tells_unless_it_is_part_of_the_name_or_a_code_of_its_place(attribute, value, tells):
    assert is_descriptive(PUMPS, attribute, value) is tells


def test_what_tells_nothing_is_still_listed(tmp_path, hashed_embedder):
    with small_base.create(tmp_path, "rfcs", hashed_embedder) as kb:
        with kb.writing():
            text = f"{PUMPS}. Rfc: 20. Status: Final. Section name: G1."
            small_base.put(kb, "rfc-20", text, entities={PUMPS: "Work"},
                           attributes=[(PUMPS, "alias", "Oslo Pumps"), (PUMPS, "rfc", "20"), (PUMPS, "status", "Final"),
                                       (PUMPS, "section_name", "G1")])
            small_base.finish(kb)
        (node,) = kb.graph.entity_ids()
        assert set(kb.graph.told(node)) == {"status"}
        assert kb.counts().attributes == kb.graph.count_attributes() == 1
        assert set(kb.graph.values(node)) == {"alias", "rfc", "status", "section_name"}
        index = RetrievalIndex(kb)
        assert index.column("section_name").texts == ["G1"]
        assert index.attribute_counts["rfc"] == 1
