"""What is near by codes of a byte: within its bound of the exact cosine, and the best of it exactly."""

import numpy as np
import pytest
from banyan.graph_store.index.codes import coded, farthest
from banyan.graph_store.index.vector_rows import StoredVectors
from banyan.tools import nearness as module
from banyan.tools.nearness import Comparable, nearness
from hypothesis import given
from hypothesis import strategies as st

DIMENSION = 48


def unit(chance, count, dimension=DIMENSION):
    drawn = chance.standard_normal((count, dimension), np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def stored_of(vectors):
    codes = coded(vectors)
    return StoredVectors(vectors, codes["code"], codes["step"].copy(), farthest(vectors, codes))


def exactly(vectors, places, query):
    cosines = np.vecdot(vectors, query)[places] if len(vectors) else np.zeros(len(places), np.float32)
    return np.where(places >= 0, cosines, np.float32(0))


@st.composite
def worlds(draw):
    """Vectors, many of them near to each other or equal; the places of rows, some without one; queries."""
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = draw(st.integers(0, 400))
    kinds = unit(chance, draw(st.integers(1, 4)))
    vectors = kinds[chance.integers(len(kinds), size=count)]
    vectors = vectors + np.float32(draw(st.sampled_from([0, 1e-4, 1e-2]))) * unit(chance, count)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    places = chance.permutation(np.concatenate([np.arange(count), np.full(draw(st.integers(0, 3)), -1)]))
    return vectors, places.astype(np.int32), np.concatenate([kinds[:1], unit(chance, 2)])


@given(worlds(), st.integers(-1, 50))
def test_all_is_within_the_bound_and_the_best_are_exact(world, limit):
    vectors, places, queries = world
    for query, near in zip(queries, nearness(Comparable(stored_of(vectors), places), queries), strict=True):
        exact = exactly(vectors, places, query)
        assert (np.abs(near.nearly - exact) <= near.bound).all()
        np.testing.assert_array_equal(near.at(np.arange(len(places))), exact)
        rows, cosines = near.best(limit)
        assert rows.tolist() == np.argsort(-exact, kind="stable")[:max(0, limit)].tolist()
        np.testing.assert_array_equal(cosines, exact[rows])


@given(worlds(), st.integers(1, 9), st.randoms(use_true_random=False))
def test_the_best_among_some_rows_are_exact(world, limit, chance):
    vectors, places, queries = world
    among = np.array(sorted(chance.sample(range(len(places)), chance.randint(0, len(places)))), np.intp)
    (near, *_) = nearness(Comparable(stored_of(vectors), places), queries)
    exact = exactly(vectors, places, queries[0])[among]
    assert near.best(limit, among)[0].tolist() == among[np.argsort(-exact, kind="stable")[:limit]].tolist()


@given(worlds())
def test_a_query_is_compared_alike_whatever_is_beside_it(world):
    vectors, places, queries = world
    together = nearness(Comparable(stored_of(vectors), places), queries)
    for row, near in enumerate(together):
        (alone,) = nearness(Comparable(stored_of(vectors), places), queries[row:row + 1])
        np.testing.assert_array_equal(alone.nearly, near.nearly)
        assert alone.bound == near.bound


def test_several_threads_and_blocks_find_the_same(monkeypatch):
    chance = np.random.default_rng(3)
    kind, queries = Comparable(stored_of(unit(chance, 5000)), np.arange(5000, dtype=np.int32)), unit(chance, 3)
    alone = nearness(kind, queries)
    monkeypatch.setattr(module, "_BLOCK", 300)
    monkeypatch.setattr(module, "_SHARED", 1)
    for one, other in zip(alone, nearness(kind, queries), strict=True):
        np.testing.assert_array_equal(one.nearly, other.nearly)


@pytest.mark.parametrize("dimension", [1, 3, 384, 1536])
def test_codes_of_any_dimension_are_near_and_a_vector_of_zeros_is_one(dimension):
    vectors = np.concatenate([unit(np.random.default_rng(5), 20, dimension), np.zeros((1, dimension), np.float32)])
    codes = coded(vectors)
    steps = np.abs(vectors - codes["code"] * codes["step"][:, None]) / np.maximum(codes["step"], 1e-9)[:, None]
    assert steps.max() <= 0.5 + 1e-4
    assert farthest(vectors, codes) <= 0.5 * float(codes["step"].max()) * dimension**0.5 + 1e-6
    (near,) = nearness(Comparable(stored_of(vectors), np.arange(21, dtype=np.int32)), vectors[:1])
    assert near.best(1)[0].tolist() == [0]
    assert near.nearly[-1] == 0
