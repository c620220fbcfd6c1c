"""Communities: a partition that depends on the graph alone, described once, and fitted to what came and went."""

import pytest
from banyan.graph_store.graph_index import GraphIndex
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.tree import community_digests as tree
from banyan.graph_store.tree import tree_levels
from banyan.graph_store.tree.detection import CommunitySettings

from ... import small_base

CIRCLES = small_base.CIRCLES


class Describing:
    """Describes communities and remembers each."""

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
        told = {digest: {kb.graph.name(one) for one in community.members}
                for community, digest in zip(everything, tree.make_digests(kb.graph, everything), strict=True)}
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


SETTINGS = CommunitySettings(update_above=0, drift=0.3)


@pytest.fixture
def runs(monkeypatch):
    """How each tree was found: as a whole, or as an update."""
    found, find_tree, update_tree = [], tree_levels.find_tree, tree_levels.update_tree
    monkeypatch.setattr(tree_levels, "find_tree",
                        lambda *args: found.append("whole") or find_tree(*args))
    monkeypatch.setattr(tree_levels, "update_tree",
                        lambda *args: found.append("update") or update_tree(*args))
    return found


def test_a_small_change_leaves_what_is_far_from_it(base, runs):
    with base("kb", CIRCLES) as kb:
        kb.tree.build(small_base.summarise, SETTINGS)
        before = {community.id for community in kb.communities.all()}
        small_base.put(kb, "new", "C0 works for B5.", triples=[("C0", "works for", "B5")])
        kb.vector_synchroniser.sync()
        kb.tree.build(small_base.summarise, SETTINGS)
        assert runs == ["whole", "update"]
        assert before & {community.id for community in kb.communities.all()}, "the other circle stays"
        assert verify(kb) == []
        small_base.delete(kb, "new")
        kb.tree.build(small_base.summarise, SETTINGS)
        assert runs == ["whole", "update", "update"]
        assert verify(kb) == []
        kb.tree.build(small_base.summarise, SETTINGS, whole=True)
        assert runs[-1] == "whole"
        assert {community.id for community in kb.communities.all()} == before
