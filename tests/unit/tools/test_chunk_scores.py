"""The chunks' own scores: what vectors, words and communities each have a say in."""

import numpy as np
import pytest
from banyan.schemas.retrieval import Evidence, Switches
from banyan.tools.ranking.chunk_scores import chunk_scores, community_scores, lexical_scores
from hypothesis import given
from hypothesis import strategies as st

from ... import graph_index as graphs
from ... import hashed_embedding as hashed

TEXTS = ["Ada Byron was born in Ulm.", "Barges moor at Ulm.", "The guild kept a register of barges.",
         "Otto Falk joined the guild as a weaver.", "Nothing is named here.", "林小雨出生于宁波。"]
QUESTION = "Which guild kept a register of barges?"
# The rows of the chunks that have a part in each.
COMMUNITIES = {"wide": [0, 1, 3], "narrow": [3, 4], "empty": []}


@pytest.fixture(scope="module")
def index():
    index = graphs.index_of([graphs.Stated(text) for text in TEXTS], hashed.HashedEmbedder())
    index.community_chunks = {one: np.array(rows, np.intp) for one, rows in COMMUNITIES.items()}
    return index


def found(**scores: float) -> list[Evidence]:
    """Communities with their scores."""
    return [Evidence(route="community", text=one, score=score, community_id=one) for one, score in scores.items()]


def scaled(scores):
    return (scores - scores.min()) / (scores.max() - scores.min())


def dense(index, query):
    return scaled(query.meaning.chunks.at(np.arange(len(TEXTS))))


def lexical(index):
    return scaled(lexical_scores(index, QUESTION))


@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0])
def test_without_trust_words_alone_are_left(index, beta):
    query = graphs.asked(index, QUESTION, trust=0.0)
    np.testing.assert_allclose(chunk_scores(index, query, found(narrow=0.9), beta), lexical(index), rtol=1e-6)


def test_more_trust_moves_the_scores_from_words_to_vectors(index):
    by_trust = [chunk_scores(index, graphs.asked(index, QUESTION, trust=trust), [], 0.5) for trust in (0.1, 0.5, 1.0)]
    query = graphs.asked(index, QUESTION)
    to_dense = [float(np.abs(scores - dense(index, query)).sum()) for scores in by_trust]
    to_words = [float(np.abs(scores - lexical(index)).sum()) for scores in by_trust]
    assert to_dense == sorted(to_dense, reverse=True)
    assert to_words == sorted(to_words)
    assert to_words[0] < to_words[2]


def test_what_is_off_has_no_say(index):
    query = graphs.asked(index, QUESTION, trust=0.5)
    only_words = chunk_scores(index, query, [], 0.3, Switches(dense=False))
    np.testing.assert_allclose(only_words, lexical(index), rtol=1e-6)
    # Vectors have all where there are no words, however little they are trusted.
    only_dense = chunk_scores(index, query, [], 0.3, Switches(lexical=False))
    np.testing.assert_allclose(only_dense, dense(index, query), rtol=1e-6)
    nothing = Switches(dense=False, lexical=False)
    assert chunk_scores(index, query, [], 0.3, nothing).tolist() == [0.0] * len(TEXTS)
    only_communities = chunk_scores(index, query, found(narrow=0.9), 0.3, nothing)
    np.testing.assert_allclose(only_communities, 0.9 ** 3 * np.array([0, 0, 0, 1, 1, 0]), rtol=1e-6)


def test_a_community_scores_the_chunks_of_its_members_and_no_others(index):
    assert community_scores(index, found(narrow=1)).tolist() == [0, 0, 0, 1, 1, 0]
    assert community_scores(index, found(wide=1)).tolist() == [1, 1, 0, 1, 0, 0]
    assert community_scores(index, found(empty=1)).tolist() == [0] * len(TEXTS)


def test_of_several_communities_the_best_counts_alone(index):
    both = community_scores(index, found(wide=0.4, narrow=0.8))
    # The fourth chunk is of both, and has no more than the fifth, which is of the better one.
    np.testing.assert_allclose(both, np.array([0.4, 0.4, 0, 0.8, 0.8, 0]) ** 3, rtol=1e-6)
    np.testing.assert_array_equal(both, community_scores(index, found(narrow=0.8, wide=0.4)))
    np.testing.assert_array_equal(both, community_scores(index, found(narrow=0.8, wide=0.4) + found(narrow=0.1)))


def test_a_fact_of_a_community_scores_the_chunks_that_state_it(index):
    chunks = (index.chunks[4].id, "gone")
    fact = Evidence(route="community", text="a fact", score=0.9, chunk_ids=chunks, entity_ids=("x",))
    np.testing.assert_allclose(community_scores(index, [fact]), 0.9 ** 3 * np.array([0, 0, 0, 0, 1, 0]), rtol=1e-6)


def test_only_communities_score_chunks_here(index):
    triple = Evidence(route="triple", text="a triple", score=0.9, chunk_ids=("chunk0",))
    unknown = found(gone=0.9)
    assert not community_scores(index, [triple, *unknown]).any()
    query = graphs.asked(index, QUESTION)
    np.testing.assert_array_equal(chunk_scores(index, query, [triple, *unknown], 0.5),
                                  chunk_scores(index, query, [], 0.5))


def test_a_community_counts_the_more_the_less_a_question_names(index):
    query = graphs.asked(index, QUESTION, trust=1.0)
    gains = [chunk_scores(index, query, found(narrow=0.9), beta)[4] - chunk_scores(index, query, [], beta)[4]
             for beta in (0.0, 0.4, 0.8, 1.0)]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] > 0.2
    assert gains[-1] == 0


def test_a_chunk_that_shares_no_word_is_found_by_its_document(index):
    two = graphs.index_of([graphs.Stated("The report of Acme."), graphs.Stated("Its profit fell."),
                           graphs.Stated("Its profit fell.")], hashed.HashedEmbedder(), ["acme", "acme", "other"])
    scores = lexical_scores(two, "Acme")
    assert scores[0] > scores[1] > 0
    assert scores[2] == 0
    assert lexical_scores(two, "profit of Acme")[1] > lexical_scores(two, "profit of Acme")[2]


_evidence = st.lists(st.builds(
    Evidence, route=st.sampled_from(["community", "triple"]), text=st.just("x"), score=st.floats(0, 1),
    community_id=st.sampled_from(["", "gone", *COMMUNITIES])), max_size=6)


@given(_evidence, st.randoms(use_true_random=False), st.floats(0, 1), st.floats(0, 1), st.booleans(), st.booleans(),
       st.sampled_from([QUESTION, "林小雨", "zzz", "?"]))
def test_scores_lie_between_0_and_1_whatever_the_order_of_the_evidence(index, evidence, chance, trust, beta, by_vector,
                                                                       by_word, question):
    query = graphs.asked(index, question, trust=trust)
    switches = Switches(dense=by_vector, lexical=by_word)
    scores = chunk_scores(index, query, evidence, beta, switches)
    assert scores.shape == (len(TEXTS),)
    assert scores.dtype == np.float32
    assert np.isfinite(scores).all()
    assert scores.min() >= 0
    assert scores.max() <= 1 + 1e-6
    turned = chunk_scores(index, query, chance.sample(evidence, len(evidence)), beta, switches)
    np.testing.assert_array_equal(scores, turned)
