"""The chunks' own scores: what vectors, words and communities each contribute."""

import copy

import numpy as np
import pytest
from banyan.schemas.retrieval import ROUTES, Switches
from banyan.tools.ranking.chunk_scores import chunk_scores, lexical_scores
from hypothesis import given
from hypothesis import strategies as st

from ... import graph_index as graphs
from ... import hashed_embedding as hashed

STATED = [graphs.Stated("Ada Byron was born in Ulm.", entities=["Ada Byron", "Ulm"]),
          graphs.Stated("Barges moor at Ulm.", entities=["Ulm"]),
          graphs.Stated("The guild kept a register of barges."),
          graphs.Stated("Otto Falk joined the guild as a weaver.", entities=["Otto Falk", "weaver"]),
          graphs.Stated("Nothing is named here.", entities=["weaver"]), graphs.Stated("林小雨出生于宁波。")]
QUESTION = "Which guild kept a register of barges?"
# "wide" has chunks 0, 1 and 3, "narrow" 3 and 4.
COMMUNITIES = {"wide": ["Ulm", "Otto Falk"], "narrow": ["weaver"], "empty": []}


@pytest.fixture(scope="module")
def index():
    return graphs.index_of(STATED, hashed.HashedEmbedder(), communities=COMMUNITIES)


def near(index, **cosines: float):
    """The index, in which communities have these cosines to any question."""
    found = copy.copy(index)
    ids = [index.community(row).id for row in range(len(index.community_chunks))]
    given = np.array([cosines.get(one, 0.0) for one in ids], np.float32)
    found.community_cosines = lambda _: given
    return found


def dense(index, query):
    """Cosines from a mean passage, counting one that has nothing to do with the question, to an equal one."""
    cosines = query.meaning.chunks.at(np.arange(len(STATED)))
    mean = cosines.sum() / (len(STATED) + 1)
    return np.maximum((cosines - mean) / (1 - mean), 0)


def lexical(index):
    return lexical_scores(index, graphs.asked(index, QUESTION))


@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0])
def test_without_trust_words_alone_are_left(index, beta):
    query = graphs.asked(index, QUESTION, trust=0.0)
    scores = chunk_scores(near(index, narrow=0.9), query, beta)
    np.testing.assert_allclose(scores, 0.5 * lexical(index), atol=1e-6)


_cosines = st.fixed_dictionaries({one: st.floats(-1, 1, width=32) for one in COMMUNITIES})
_routes = st.sets(st.sampled_from(ROUTES)).map(sorted).map(tuple)


@given(_cosines, _routes, st.floats(0, 1), st.floats(0, 1), st.booleans(), st.booleans(),
       st.sampled_from([QUESTION, "林小雨", "zzz", "?"]))
def test_scores_are_between_0_and_1_and_always_the_same(index, cosines, routes, trust, beta, by_vector, by_word,
                                                        question):
    switches, found = Switches(routes=routes, dense=by_vector, lexical=by_word), near(index, **cosines)
    scores, again = (chunk_scores(found, graphs.asked(found, question, trust=trust), beta, switches) for _ in range(2))
    assert scores.shape == (len(STATED),)
    assert scores.dtype == np.float32
    assert np.isfinite(scores).all()
    assert scores.min() >= 0
    assert scores.max() <= 2
    np.testing.assert_array_equal(scores, again)
