"""The graph as it is browsed: filters that go together, and the way between two entities."""

import pytest
from banyan.server.graph_view import GraphView
from banyan.tools.index import RetrievalIndex

from ...hashed_embedding import HashedEmbedder
from ...small_base import create, finish, put


@pytest.fixture
def kb(tmp_path):
    with create(tmp_path, "kb", HashedEmbedder()) as made, made.writing():
        put(made, "one", "Zofia Nowak was born in Radom. Radom is in Poland.",
            triples=[("Zofia Nowak", "born_in", "Radom"), ("Radom", "located_in", "Poland")])
        put(made, "two", "Carl Berg was born in Turku.", triples=[("Carl Berg", "born_in", "Turku")])
        finish(made)
        yield made


def names(nodes):
    return {node.name for node in nodes}


def test_filters_leave_what_fits_all_of_them(kb):
    view = GraphView(RetrievalIndex(kb))
    of_two = {chunk for chunk, document in kb.documents.of_chunks().items() if document == "two"}
    assert names(view.matching("", "born_in", None, None)) == {"Zofia Nowak", "Radom", "Carl Berg", "Turku"}
    assert names(view.matching("", "born_in", of_two, None)) == {"Carl Berg", "Turku"}
    poland = [node.id for node in view.nodes if node.name == "Poland"]
    assert names(view.matching("", "", None, set(poland))) == {"Poland"}
    assert not view.matching("", "located_in", of_two, None)
    assert {edge.relation for edge in view.among(view.nodes, "born_in")} == {"born_in"}


def test_a_path_goes_along_facts_in_either_direction_or_there_is_none(kb):
    view = GraphView(RetrievalIndex(kb))
    of = {node.name: node.id for node in view.nodes}
    assert [node.name for node in view.path(of["Poland"], of["Zofia Nowak"])] == ["Poland", "Radom", "Zofia Nowak"]
    assert view.path(of["Poland"], of["Turku"]) == []
