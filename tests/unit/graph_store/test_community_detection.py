"""Community detection: each term by hand, whatever the order, seed or thread, bounded sizes, and attributes."""

from itertools import pairwise

import numpy as np
import pytest
from banyan.graph_store.tree.clusters import find_attribute_groups, members_by_community, renumber
from banyan.graph_store.tree.detection import CommunitySettings, detect_communities, detect_hierarchy
from banyan.graph_store.tree.features import compute_features
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import homogeneity_score
from threadpoolctl import threadpool_limits

DEFAULT = CommunitySettings()


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def vectors_of(count, seed=0, dimension=16):
    return unit(np.random.default_rng(seed).standard_normal((count, dimension)))


def planted(groups_of=25, noise=0.5, seed=0):
    """Four communities: two share their topic and differ in structure, two the other way round."""
    chance = np.random.default_rng(seed)
    truth = np.repeat(np.arange(4), groups_of)
    topic, block = np.array([0, 0, 2, 3])[truth], np.array([0, 1, 2, 2])[truth]
    vectors = unit(vectors_of(4, 7, 64)[topic] + noise * vectors_of(len(truth), seed + 1, 64))
    triples = []
    for head in range(len(truth)):
        alike = np.flatnonzero(block == block[head])
        triples += [(head, int(block[head]) * 2 + int(chance.integers(2)), int(tail))
                    for tail in chance.choice(alike, 3) if tail != head]
    return vectors, vectors_of(6, 5, 64), triples, truth


@st.composite
def graphs(draw):
    count, relations = draw(st.integers(1, 60)), draw(st.integers(1, 4))
    ends = st.integers(0, count - 1)
    triples = draw(st.lists(st.tuples(ends, st.integers(0, relations - 1), ends), max_size=80))
    vectors = vectors_of(count, draw(st.integers(0, 5)))
    if draw(st.booleans()):  # entities that nothing tells apart
        vectors[:] = vectors[0]
    return vectors, vectors_of(relations, 9), triples


def test_both_signals_together_find_what_neither_finds_alone():
    vectors, relations, triples, truth = planted()
    same = np.tile(vectors[:1], (len(truth), 1))
    unmixed, semantics, structure = (
        homogeneity_score(truth, detect_communities(compute_features(*graph), DEFAULT))
        for graph in ((vectors, relations, triples), (vectors, relations, []), (same, relations, triples)))
    assert unmixed == pytest.approx(1)
    assert max(semantics, structure) < 0.9


@given(graphs(), st.sampled_from([3, 10, 200]), st.sampled_from([2, 200]))
def test_every_level_is_a_partition_and_each_lies_within_the_next(graph, largest, most):
    constants = CommunitySettings(max_members=largest, max_children=4, max_clusters=most)
    levels = detect_hierarchy(compute_features(*graph), constants)
    assert np.array_equal(levels[0], detect_communities(compute_features(*graph), constants))
    for level in levels:
        assert level.shape == (len(graph[0]),)
        assert np.array_equal(level, renumber(level))
    assert np.bincount(levels[0]).max() <= largest
    for fine, coarse in pairwise(levels):
        assert coarse.max() < fine.max()
        parents = [set(coarse[members].tolist()) for members in members_by_community(fine)]
        assert all(len(parent) == 1 for parent in parents)
        assert np.bincount([parent.pop() for parent in parents]).max() <= 4


def test_a_large_graph_without_triples_has_communities():
    """Prose that was read without a model has names and passages alone; its vectors are reduced all the same."""
    count, no_relations = 1100, np.zeros((0, 384), np.float32)
    mentions = [(entity, entity // 10) for entity in range(count)]
    labels = detect_communities(compute_features(vectors_of(count, dimension=384), no_relations, [], mentions), DEFAULT)
    assert labels.shape == (count,)


def test_the_number_of_threads_changes_nothing():
    vectors, relations, triples, _ = planted(groups_of=400)
    found = []
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            found.append(detect_communities(compute_features(vectors, relations, triples), DEFAULT).tolist())
    assert found[0] == found[1]


CLIQUE = 5


@st.composite
def cliques(draw):
    """Draw cliques and a value for each entity; links and values come in any order."""
    size = CLIQUE * draw(st.integers(2, 5))
    values = [[entity, draw(st.integers(0, 3))] for entity in range(size)]
    links = [[one, other] for one in range(size) for other in range(one) if one // CLIQUE == other // CLIQUE]
    return size, np.array(draw(st.permutations(links))), np.array(draw(st.permutations(values)))


def partition(labels):
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in labels}


def value_groups(size, values):
    held = np.zeros(size, int)
    held[values[:, 0]] = values[:, 1]
    return partition(held)


@given(cliques())
def test_alpha_goes_from_the_graphs_groups_to_the_attributes(drawn):
    size, links, values = drawn
    assert partition(find_attribute_groups(size, links, values, 0.0)) == partition(np.arange(size) // CLIQUE)
    assert partition(find_attribute_groups(size, links, values, 1.0)) == value_groups(size, values)


@given(cliques(), st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0]))
def test_the_order_in_which_facts_and_values_come_changes_nothing(drawn, alpha):
    size, links, values = drawn
    found = find_attribute_groups(size, links, values, alpha).tolist()
    assert find_attribute_groups(size, links[::-1, ::-1], values[::-1], alpha).tolist() == found
    assert list(dict.fromkeys(found)) == list(range(max(found) + 1))
