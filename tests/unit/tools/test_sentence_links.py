"""Links between entities that one sentence names."""

import pytest
from banyan.graph_store.graph_index import GraphIndex
from banyan.tools.entity_names import link_by_sentences

from ...hashed_embedding import HashedEmbedder
from ...small_base import create, finish, put

NAMES = {"Ada Lind": "Person", "Carl Berg": "Person", "Radom": "Location", "Ulm": "Location"}


@pytest.fixture
def index(tmp_path):
    with create(tmp_path, "kb", HashedEmbedder()) as kb, kb.writing():
        put(kb, "one", "Ada Lind and Carl Berg met in Radom. Ulm is far away.\n\n- Ulm and Ada Lind\n", entities=NAMES)
        put(kb, "two", "Ada Lind wrote to Carl Berg. Ada Lind was born in Ulm.", entities=NAMES,
            triples=[("Ada Lind", "born_in", "Ulm")])
        finish(kb)
        yield GraphIndex(kb)


def links(index, *names):
    ids = [entity for entity in index.entity_row if index.name(entity) in names]
    return [({index.name(one), index.name(other)}, count) for one, other, count in link_by_sentences(index, ids)]


def test_sentences_link_names_that_no_fact_ties(index):
    found = links(index, *NAMES)
    assert found[0] == ({"Ada Lind", "Carl Berg"}, 2), "those of most sentences first"
    assert ({"Carl Berg", "Radom"}, 1) in found
    assert {"Ada Lind", "Ulm"} not in [pair for pair, _ in found], "a fact ties them"
    assert {"Carl Berg", "Ulm"} not in [pair for pair, _ in found], "only the chunk names both"


def test_only_the_given_entities_are_linked(index):
    assert links(index, "Ada Lind", "Radom") == [({"Ada Lind", "Radom"}, 1)]
    assert links(index, "Ada Lind") == []
