"""What is near by codes of a byte: within its bound of the exact cosine, and the best of it exactly."""

import numpy as np
import pytest
from banyan.graph_store.index.vector_rows import StoredVectors, farthest, quantise
from banyan.tools.nearness import nearness
from hypothesis import given
from hypothesis import strategies as st

DIMENSION = 48


def unit(chance, count, dimension=DIMENSION):
    drawn = chance.standard_normal((count, dimension), np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def exactly(vectors, query):
    return np.vecdot(vectors, query) if len(vectors) else np.zeros(0, np.float32)


@st.composite
def worlds(draw):
    """Vectors, many of them near to each other or equal, some rows without one; queries."""
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = draw(st.integers(0, 400))
    kinds = unit(chance, draw(st.integers(1, 4)))
    vectors = kinds[chance.integers(len(kinds), size=count)]
    vectors = vectors + np.float32(draw(st.sampled_from([0, 1e-4, 1e-2]))) * unit(chance, count)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    none = np.zeros((draw(st.integers(0, 3)), DIMENSION), np.float32)
    rows = chance.permutation(np.concatenate([vectors, none]))
    return rows, np.concatenate([kinds[:1], unit(chance, 2)])


@given(worlds(), st.integers(-1, 50))
def test_all_is_within_the_bound_and_the_best_are_exact(world, limit):
    vectors, queries = world
    for query, near in zip(queries, nearness(StoredVectors.of(vectors), queries), strict=True):
        exact = exactly(vectors, query)
        assert (np.abs(near.nearly - exact) <= near.bound).all()
        np.testing.assert_array_equal(near.at(np.arange(len(vectors))), exact)
        rows, cosines = near.best(limit)
        assert rows.tolist() == np.argsort(-exact, kind="stable")[:max(0, limit)].tolist()
        np.testing.assert_array_equal(cosines, exact[rows])


@given(worlds(), st.integers(1, 9), st.randoms(use_true_random=False))
def test_the_best_among_some_rows_are_exact(world, limit, chance):
    vectors, queries = world
    among = np.array(sorted(chance.sample(range(len(vectors)), chance.randint(0, len(vectors)))), np.intp)
    (near, *_) = nearness(StoredVectors.of(vectors), queries)
    exact = exactly(vectors, queries[0])[among]
    assert near.best(limit, among)[0].tolist() == among[np.argsort(-exact, kind="stable")[:limit]].tolist()


@pytest.mark.parametrize("dimension", [1, 3, 384, 1536])
def test_codes_of_any_dimension_are_near_and_a_vector_of_zeros_is_one(dimension):
    vectors = np.concatenate([unit(np.random.default_rng(5), 20, dimension), np.zeros((1, dimension), np.float32)])
    codes = quantise(vectors)
    steps = np.abs(vectors - codes.codes * codes.steps[:, None]) / np.maximum(codes.steps, 1e-9)[:, None]
    assert steps.max() <= 0.5 + 1e-4
    assert farthest(vectors, codes) <= 0.5 * float(codes.steps.max()) * dimension**0.5 + 1e-6
    (near,) = nearness(StoredVectors.of(vectors), vectors[:1])
    assert near.best(1)[0].tolist() == [0]
    assert near.nearly[-1] == 0
