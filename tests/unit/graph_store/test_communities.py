"""Communities: a partition of the entities that depends on the graph alone, described only once."""


import pytest
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.layout import Layout
from banyan.graph_store.tree import community_digests as tree
from banyan.schemas.graph_schema import open_schema
from banyan.tools.index import RetrievalIndex

from ... import small_base

# Two circles of friends with different relations, and a stranger.
CIRCLES = [*((f"A{i}", "plays with", f"A{(i + 1) % 12}") for i in range(12)),
           *((f"B{i}", "works for", f"B{(i + 1) % 12}") for i in range(12))]


class Describing:
    """Describes communities and remembers each."""

    def __init__(self):
        self.asked = []

    def __call__(self, digests):
        self.asked += digests
        return small_base.summarise(digests)


@pytest.fixture
def base(tmp_path, hashed_embedder):
    def opened(name, triples):
        kb = KnowledgeBase(Layout.of(tmp_path, name), hashed_embedder, create=True)
        if not kb.schemas.version():
            kb.schemas.append(open_schema(), (), "seed")
        for head, relation, tail in triples:
            small_base.put(kb, f"{head} {tail}", f"{head} {relation} {tail}.", triples=[(head, relation, tail)])
        kb.vector_synchroniser.sync()
        return kb

    return opened


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
        kb.reliability.measure()
        assert verify(kb) == []


def test_a_digest_has_values_and_connections_and_says_nothing_twice(base):
    with base("kb", CIRCLES) as kb:
        small_base.put(kb, "new", "A0 opened in 1999. A0 visits B0.", attributes=[("A0", "opened", "1999")],
                       triples=[("A0", "opened", "1999"), ("A0", "visits", "B0")])
        kb.vector_synchroniser.sync()
        kb.tree.build(small_base.summarise)
        everything = kb.communities.all(level=None)
        told = {digest: {kb.graph.name(one) for one in community.members}
                for community, digest in zip(everything, tree.digests(kb.graph, everything), strict=True)}
        for digest, names in told.items():
            said = [fact.replace(":", "") for fact in digest.statements]
            assert len(said) == len(set(said))
            assert ("A0 visits B0" in digest.connections) == (len({"A0", "B0"} & names) == 1), "it leads to another one"
            assert ("A0 visits B0" in digest.facts) == ({"A0", "B0"} <= names)
            if "A0" in names:
                assert "A0 opened 1999" in said


def test_the_same_graph_in_any_order_has_the_same_tree(base):
    with base("one", CIRCLES) as one, base("other", CIRCLES[::-1]) as other:
        one.tree.build(small_base.summarise)
        other.tree.build(small_base.summarise)
        assert one.communities.all() == other.communities.all()


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
        assert not set(RetrievalIndex(kb).community_row) & {c.id for c in kb.communities.find_undescribed()}
        describing = Describing()
        kb.tree.describe(describing)
        assert len(describing.asked) == len({c.id for c in kb.communities.all()} - {c.id for c in before})
        assert kb.communities.find_undescribed() == []
        assert set(RetrievalIndex(kb).community_row) == {c.id for c in kb.communities.all()}
