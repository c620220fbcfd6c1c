"""Communities: a partition that depends on the graph alone, described once, and fitted to what came and went."""

from itertools import pairwise

import numpy as np
import pytest
from banyan.graph_store.graph_index import GraphIndex
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.tree import detection
from banyan.graph_store.tree import tree_levels as tree
from banyan.graph_store.tree.features import compute_features
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import homogeneity_score
from threadpoolctl import threadpool_limits

from ... import small_base

CIRCLES = small_base.CIRCLES


class Describing:
    def __init__(self):
        self.asked = []

    def __call__(self, digests):
        self.asked += digests
        return small_base.summarise(digests)


@pytest.fixture
def base(tmp_path, hashed_embedder):
    return lambda name, triples: small_base.embedded(tmp_path, name, hashed_embedder, triples)


def members(kb):
    return [community.members for community in kb.communities.all()]


def test_the_tree_partitions_the_entities_and_names_its_keywords(base):
    with base("kb", CIRCLES) as kb:
        kb.tree.build(small_base.summarise)
        assert kb.communities.count() == len(kb.communities.all()) > 1
        assert sorted(one for group in members(kb) for one in group) == kb.graph.entity_ids()
        for community in kb.communities.all():
            assert set(community.keywords) <= set(community.members)
            assert 1 <= len(community.keywords) <= 5
            assert community.name
            # No community mixes the two circles, which share neither relation nor neighbour.
            assert len({kb.graph.entity(one).name[0] for one in community.members}) == 1
        assert verify(kb) == []


def test_a_digest_has_values_and_connections_and_says_nothing_twice(base):
    with base("kb", CIRCLES) as kb:
        small_base.put(kb, "new", "A0 opened in 1999. A0 visits B0.", attributes=[("A0", "opened", "1999")],
                       triples=[("A0", "opened", "1999"), ("A0", "visits", "B0")])
        kb.vector_synchroniser.sync()
        kb.tree.build(small_base.summarise)
        everything = kb.communities.all(level=None)
        told = {tree.make_digest(kb.graph, community): {kb.graph.name(one) for one in community.members}
                for community in everything}
        for digest, names in told.items():
            said = [fact.replace(":", "") for fact in digest.statements]
            assert len(said) == len(set(said))
            assert ("A0 visits B0" in digest.connections) == (len({"A0", "B0"} & names) == 1), "it leads to another one"
            assert ("A0 visits B0" in digest.facts) == ({"A0", "B0"} <= names)
            if "A0" in names:
                assert "A0 opened 1999" in said


def test_what_did_not_change_is_not_described_again(base):
    first, again, grown, shrunk = (Describing() for _ in range(4))
    with base("kb", CIRCLES) as kb:
        kb.tree.build(first)
        kb.tree.build(again)
        before = {community.id: community for community in kb.communities.all()}
        small_base.put(kb, "new", "B0 works for B5.", triples=[("B0", "works for", "B5")])
        kb.vector_synchroniser.sync()
        kb.tree.build(grown)
        after = {community.id: community for community in kb.communities.all()}
        small_base.delete(kb, "new")
        kb.tree.build(shrunk)
        assert {community.id for community in kb.communities.all()} == set(before)
    assert len(first.asked) == len(before)
    assert again.asked == []
    assert len(grown.asked) == len(after.keys() - before.keys()) >= 1
    assert shrunk.asked == [], "what comes back was described before"
    kept = before.keys() & after.keys()
    assert kept, "the other circle stays"
    # How strongly it holds together is measured against the whole, which has changed.
    assert all(after[one].text() == before[one].text() and after[one].members == before[one].members for one in kept)


def test_a_description_that_fails_is_taken_up_where_it_ended(base):
    def fail(_):
        raise RuntimeError("the endpoint refused")

    with base("kb", CIRCLES[:12]) as kb:
        kb.tree.build(small_base.summarise)
        before = kb.communities.all()
        small_base.put(kb, "new", "B0 works for B5.", triples=[("B0", "works for", "B5")])
        kb.vector_synchroniser.sync()
        with pytest.raises(RuntimeError):
            kb.tree.build(fail)
        assert sorted(one for group in members(kb) for one in group) == kb.graph.entity_ids()
        assert kb.communities.find_undescribed()
        assert verify(kb) == []
        assert not set(GraphIndex(kb).community_row) & {c.id for c in kb.communities.find_undescribed()}
        describing = Describing()
        kb.tree.describe(describing)
        assert len(describing.asked) == len({c.id for c in kb.communities.all()} - {c.id for c in before})
        assert kb.communities.find_undescribed() == []
        assert set(GraphIndex(kb).community_row) == {c.id for c in kb.communities.all()}


SETTINGS = detection.CommunitySettings(fit_above=0, drift=0.3)


def test_a_small_change_leaves_what_is_far_from_it(base):
    with base("kb", CIRCLES) as kb:
        kb.tree.build(small_base.summarise, SETTINGS)
        before = {community.id for community in kb.communities.all()}
        small_base.put(kb, "new", "C0 works for B5.", triples=[("C0", "works for", "B5")])
        kb.vector_synchroniser.sync()
        kb.tree.build(small_base.summarise, SETTINGS)
        assert before & {community.id for community in kb.communities.all()}, "the other circle stays"
        assert verify(kb) == []
        small_base.delete(kb, "new")
        kb.tree.build(small_base.summarise, SETTINGS)
        assert verify(kb) == []
        kb.tree.build(small_base.summarise, SETTINGS, whole=True)
        assert {community.id for community in kb.communities.all()} == before


DEFAULT = detection.CommunitySettings()


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
    triples = draw(st.lists(st.tuples(ends, st.integers(0, relations - 1), ends).filter(lambda t: t[0] != t[2]),
                            max_size=80 if count > 1 else 0))
    vectors = vectors_of(count, draw(st.integers(0, 5)))
    if draw(st.booleans()):  # entities that nothing tells apart
        vectors[:] = vectors[0]
    return vectors, vectors_of(relations, 9), triples


def test_both_signals_together_find_what_neither_finds_alone():
    vectors, relations, triples, truth = planted()
    same = np.tile(vectors[:1], (len(truth), 1))
    unmixed, semantics, structure = (
        homogeneity_score(truth, detection.detect_communities(compute_features(*graph), DEFAULT))
        for graph in ((vectors, relations, triples), (vectors, relations, []), (same, relations, triples)))
    assert unmixed == pytest.approx(1)
    assert max(semantics, structure) < 0.9


@given(graphs(), st.sampled_from([3, 10, 200]), st.sampled_from([2, 200]))
def test_every_level_is_a_partition_and_each_lies_within_the_next(graph, largest, most):
    constants = detection.CommunitySettings(max_members=largest, max_children=4, max_clusters=most)
    levels = detection.detect_hierarchy(compute_features(*graph), constants)
    assert np.array_equal(levels[0], detection.detect_communities(compute_features(*graph), constants))
    for level in levels:
        assert level.shape == (len(graph[0]),)
        assert np.array_equal(level, detection.renumber(level))
    assert np.bincount(levels[0]).max() <= largest
    for fine, coarse in pairwise(levels):
        assert coarse.max() < fine.max()
        parents = [set(coarse[members].tolist()) for members in detection.members_by_community(fine)]
        assert all(len(parent) == 1 for parent in parents)
        assert np.bincount([parent.pop() for parent in parents]).max() <= 4


def test_a_large_graph_without_triples_has_communities():
    count, no_relations = 1100, np.zeros((0, 384), np.float32)
    mentions = [(entity, entity // 10) for entity in range(count)]
    features = compute_features(vectors_of(count, dimension=384), no_relations, [], mentions)
    labels = detection.detect_communities(features, DEFAULT)
    assert labels.shape == (count,)


def test_the_number_of_threads_changes_nothing():
    vectors, relations, triples, _ = planted(groups_of=400)
    found = []
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            found.append(detection.detect_communities(compute_features(vectors, relations, triples), DEFAULT).tolist())
    assert found[0] == found[1]
