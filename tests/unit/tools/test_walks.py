"""Words and walks: the lexical index, spreading from entities to chunks, and how a walk leads the next one."""

import numpy as np
import pytest
from banyan.graph_store.index.contents import step_arrays
from banyan.graph_store.index.lexical import LexicalIndex
from banyan.schemas.retrieval import EVERYTHING, ROUTES, Switches
from banyan.tools.ranking.fusion import answer_seeds, walk
from banyan.tools.spreading import Seeds, SpreadingGraph
from hypothesis import given
from hypothesis import strategies as st

from ... import graph_index as graphs
from ... import hashed_embedding as hashed

one = graphs.one

# What is said of Ulm and of Graz differs by the names alone.
BORN, BEES, ULM, GRAZ, FAIR = range(5)
CHUNKS = [
    graphs.Stated("Ada Byron was born in Ulm.", [("Ada Byron", "born_in", "Ulm")]),
    graphs.Stated("Ada Byron owned hives.", [("Ada Byron", "owned", "hives")]),
    graphs.Stated("Barges moor at the quay of Ulm.", entities=["Ulm", "quay of Ulm"]),
    graphs.Stated("Barges moor at the quay of Graz.", entities=["Graz", "quay of Graz"]),
    graphs.Stated("Which goods sell at fairs is unknown.", entities=["fair"]),
]
FIRST, SECOND = "Where was Ada Byron born?", "Which goods go there?"
# Nothing speaks for a question but the lead of an earlier one.
SILENT = Switches(routes=(), dense=False, lexical=False)


@pytest.fixture(scope="module")
def index():
    return graphs.index_of(CHUNKS, hashed.HashedEmbedder(),
                           communities={"towns": ["quay of Ulm", "Graz"], "ada": ["Ada Byron", "hives"]})


@pytest.fixture(scope="module")
def first(index):
    """The first step, and the walk to which what it names and the triple that it asks about lead."""
    query = graphs.asked(index, FIRST)
    return query, walk(index, query)


def led(index, first, question=SECOND, switches=EVERYTHING):
    """A question with the lead of the first step, and by itself."""
    query, before = first
    after = walk(index, graphs.asked(index, question, query), switches, [before])
    return after, walk(index, graphs.asked(index, question), switches)


def row(index, name: str) -> int:
    return index.entity_row[one(name)]


def weights(index, **given: float) -> np.ndarray:
    made = np.zeros(len(index.entity_row), np.float32)
    for name, weight in given.items():
        made[row(index, name)] = weight
    return made


def nothing(index):
    return np.zeros(len(index.chunks), np.float32)


def test_a_chunk_that_shares_no_word_rises_with_the_entities_of_the_walk_before(index, first):
    after, alone = led(index, first)
    words = index.lexical.scores(SECOND)
    assert words[ULM] == words[GRAZ] == 0
    assert int(np.argmax(alone.chunks)) == FAIR, "by its words"
    # Only the lead tells Ulm from Graz.
    assert max(alone.chunks[[ULM, GRAZ]]) < 0.01 * alone.chunks[FAIR]
    assert after.chunks[ULM] > 3 * after.chunks[GRAZ]
    assert after.chunks[ULM] > 3 * alone.chunks[ULM]
    assert after.chunks[FAIR] < alone.chunks[FAIR]
    assert after.entities[row(index, "Ulm")] > alone.entities[row(index, "Ulm")]


def lead_of(index, query, before):
    """The weights of the entities that stand in for an answer."""
    return answer_seeds(index, query, before).dense(len(index.entity_row))


def test_what_the_earlier_question_named_is_not_its_answer(index, first):
    query, before = first
    assert int(np.argmax(before.entities)) == row(index, "Ada Byron")
    lead = lead_of(index, graphs.asked(index, SECOND, query), [before])
    assert lead[row(index, "Ada Byron")] == 0
    assert int(np.argmax(lead)) == row(index, "Ulm")
    assert lead.sum() == pytest.approx(1)
    # The same walk of a question that does not name her leads back to her.
    unnamed = (graphs.asked(index, "Where was she born?"), before)
    her = lead_of(index, graphs.asked(index, SECOND, unnamed[0]), [before])
    assert int(np.argmax(her)) == row(index, "Ada Byron")
    assert led(index, first)[0].chunks[BEES] < led(index, unnamed)[0].chunks[BEES]


_switches = st.builds(Switches, routes=st.sets(st.sampled_from(ROUTES)).map(sorted).map(tuple), dense=st.booleans(),
                      lexical=st.booleans(), spreading=st.booleans(), beta=st.none() | st.floats(0, 1))
_questions = st.sampled_from([FIRST, SECOND, "Ulm", "towns", "", "?", "林小雨", "Ada Byron Ulm Graz hives"])


@given(_questions, _questions, st.none() | st.floats(0, 1), _switches)
def test_weights_are_sound_and_always_the_same(index, earlier, later, trust, switches):
    def walks(switches):
        query = graphs.asked(index, earlier, trust=trust)
        leading = walk(index, query, switches)
        return [leading, walk(index, graphs.asked(index, later, query, trust=trust), switches, [leading])]

    turned = switches.model_copy(update={"routes": switches.routes[::-1]})
    for walked, again in zip(walks(switches), walks(turned), strict=True):
        assert walked.entities.shape == (len(index.entity_row),)
        assert walked.chunks.shape == (len(index.chunks),)
        for made, remade in ((walked.entities, again.entities), (walked.chunks, again.chunks)):
            assert np.isfinite(made).all()
            assert (made >= 0).all()
            np.testing.assert_array_equal(made, remade)
        if switches.spreading:
            assert walked.entities.sum() + walked.chunks.sum() <= 1 + 1e-4


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
    return graph.around(seeds).spread(seeds)


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
