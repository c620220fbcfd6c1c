"""Words and walks: the lexical index, spreading from entities to chunks, and the weights of chunks."""

import numpy as np
import pytest
from banyan.graph_store.index.contents import build_steps
from banyan.graph_store.index.lexical import LexicalIndex
from banyan.graph_store.index.spreading import Seeds, SpreadingGraph
from banyan.schemas.retrieval import ROUTES, Switches
from banyan.tools.ranking.fusion import rank_chunks
from hypothesis import given
from hypothesis import strategies as st

from ... import graph_index as graphs
from ... import hashed_embedding as hashed

CHUNKS = [
    graphs.Stated("Ada Byron was born in Ulm.", [("Ada Byron", "born_in", "Ulm")]),
    graphs.Stated("Ada Byron owned hives.", [("Ada Byron", "owned", "hives")]),
    graphs.Stated("Barges moor at the quay of Ulm.", entities=["Ulm", "quay of Ulm"]),
    graphs.Stated("Barges moor at the quay of Graz.", entities=["Graz", "quay of Graz"]),
]


@pytest.fixture(scope="module")
def index():
    return graphs.index_of(CHUNKS, hashed.HashedEmbedder(),
                           communities={"towns": ["quay of Ulm", "Graz"], "ada": ["Ada Byron", "hives"]})


_switches = st.builds(Switches, routes=st.sets(st.sampled_from(ROUTES)).map(sorted).map(tuple), dense=st.booleans(),
                      lexical=st.booleans(), spreading=st.booleans(), beta=st.none() | st.floats(0, 1))
_questions = st.sampled_from(["Where was Ada Byron born?", "Ulm", "towns", "", "?", "林小雨", "Ada Byron Graz hives"])


@given(_questions, st.none() | st.floats(0, 1), _switches)
def test_weights_are_sound_and_always_the_same(index, question, trust, switches):
    turned = switches.model_copy(update={"routes": switches.routes[::-1]})
    weights, again = (rank_chunks(index, [(graphs.asked(index, question, trust=trust), ())], switches)
                      for switches in (switches, turned))
    assert weights.shape == (len(index.chunks),)
    assert np.isfinite(weights).all()
    assert (weights >= 0).all()
    np.testing.assert_array_equal(weights, again)


def test_only_texts_that_share_a_term_have_a_score():
    index = LexicalIndex.of(["the river Danube", "公司的净利润", "", "a river, a river"])
    assert index.scores("unheard 词").tolist() == [0.0] * 4
    assert index.scores("").tolist() == [0.0] * 4
    river = index.scores("Rivers? no: RIVER unheard")
    assert river[0] > 0
    assert river[3] > river[0]
    assert river[1] == river[2] == 0
    assert np.flatnonzero(index.scores("净利润率")).tolist() == [1]


def test_a_date_finds_the_text_that_writes_it_otherwise():
    index = LexicalIndex.of(["minutes 2020.2.18", "minutes 2020.3.31", "minutes 2018.2.20", "minutes 2019-10-15"])
    for asked, best in [("minutes of 18 February 2020", 0), ("2020年3月31日", 1), ("minutes of October 2019", 3)]:
        scores = index.scores(asked)
        assert scores.argmax() == best
        assert scores[best] > np.delete(scores, best).max() + 0.5 * index.idf(1), asked


def test_a_word_is_found_in_its_other_forms():
    index = LexicalIndex.of(["The board meets on Mondays.", "Prices of bread", "Der Müller mahlt"])
    assert [int(index.scores(asked).argmax()) for asked in ("meeting of a board", "price", "Müller")] == [0, 1, 2]
    assert all(map(index.knows, ("meeting", "prices", "müller")))
    assert not index.knows("metre")


def spread_from(graph: SpreadingGraph, weights):
    """The stationary weights of a walk that restarts by all nodes' weights."""
    seeds = Seeds.of(weights, np.arange(len(weights)))
    return graph.select_part(seeds).spread(seeds)


def test_a_large_graph_is_walked_where_it_is_reached_and_ranks_alike():
    chance = np.random.default_rng(11)
    nodes = 30_000
    ends = chance.integers(nodes, size=(60_000, 2))
    graph = SpreadingGraph(build_steps("walk", nodes, ends[:, 0], ends[:, 1]), "walk")
    seeds = np.zeros(nodes, np.float32)
    seeds[chance.integers(1, nodes, size=20)] = 1
    assert graph.whole
    whole = spread_from(graph, seeds)
    graph.whole = False
    local = spread_from(graph, seeds)
    assert np.count_nonzero(local) < np.count_nonzero(whole) / 2
    assert np.abs(local - whole).max() <= 5e-3 * whole.max()
    assert set(np.argsort(-local)[:20]) == set(np.argsort(-whole)[:20])
    assert np.array_equal(local, spread_from(graph, seeds))
