"""Words and walks: the lexical index, and spreading over the entity-chunk graph."""

import numpy as np
from banyan.graph_store.index.contents import step_arrays
from banyan.graph_store.index.lexical import LexicalIndex
from banyan.tools.spreading import DAMPING, Seeds, SpreadingGraph


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


_NODES = 8


def spreading(edges) -> SpreadingGraph:
    """A graph whose last node is always isolated."""
    pairs = np.array(edges, np.intp).reshape(-1, 2)
    return SpreadingGraph(step_arrays("walk", _NODES, pairs[:, 0], pairs[:, 1]), "walk")


def spread_from(graph: SpreadingGraph, weights):
    """The stationary weights of a walk that restarts by all nodes' weights."""
    seeds = Seeds.of(weights, np.arange(len(weights)))
    return graph.around(seeds).spread(seeds)


def stationary(nodes, edges, seeds):
    """Where the walk ends, by solving its equation."""
    adjacency = np.zeros((nodes, nodes))
    for one, other in edges:
        adjacency[one, other] += 1
        adjacency[other, one] += 1
    step = adjacency / np.maximum(adjacency.sum(axis=0), 1)
    return np.linalg.solve(np.eye(nodes) - DAMPING * step, (1 - DAMPING) * seeds / (seeds.sum() or 1))


def test_a_large_graph_is_walked_where_it_is_reached_and_ranks_alike():
    chance = np.random.default_rng(11)
    nodes = 30_000
    ends = chance.integers(nodes, size=(60_000, 2))
    graph = SpreadingGraph(step_arrays("walk", nodes, ends[:, 0], ends[:, 1]), "walk")
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
