"""The tree of a large graph: fitted to what came and went, and detected anew after much change."""

import pytest
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.layout import Layout
from banyan.graph_store.tree import local_update, tree_synchroniser, whole_tree
from banyan.graph_store.tree.detection import CommunitySettings
from banyan.schemas.graph_schema import open_schema

from ... import small_base

# Two circles of friends with different relations.
CIRCLES = [*((f"A{i}", "plays with", f"A{(i + 1) % 12}") for i in range(12)),
           *((f"B{i}", "works for", f"B{(i + 1) % 12}") for i in range(12))]
SETTINGS = CommunitySettings(update_above=0, drift=0.3)


@pytest.fixture
def base(tmp_path, hashed_embedder):
    def make(name, triples):
        kb = KnowledgeBase(Layout.of(tmp_path, name), hashed_embedder, create=True)
        if not kb.schemas.version():
            kb.schemas.append(open_schema(), (), "seed")
        for head, relation, tail in triples:
            small_base.put(kb, f"{head}{relation}{tail}", f"{head} {relation} {tail}.",
                           triples=[(head, relation, tail)])
        kb.vector_synchroniser.sync()
        return kb
    return make


@pytest.fixture
def runs(monkeypatch):
    """How each tree was found: as a whole, or as an update."""
    found = []
    monkeypatch.setattr(tree_synchroniser, "find_tree",
                        lambda *args: found.append("whole") or whole_tree.find_tree(*args))
    monkeypatch.setattr(tree_synchroniser, "update_tree",
                        lambda *args: found.append("update") or local_update.update_tree(*args))
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


def test_much_change_is_clustered_anew(base, runs):
    with base("kb", CIRCLES) as kb:
        kb.tree.build(small_base.summarise, SETTINGS)
        for n in range(kb.graph.count_entities()):
            small_base.put(kb, f"n{n}", f"N{n} works for B5.", triples=[(f"N{n}", "works for", "B5")])
        kb.vector_synchroniser.sync()
        kb.tree.build(small_base.summarise, SETTINGS)
    assert runs == ["whole", "whole"]


def test_a_killed_build_goes_on_to_the_same_tree(base, tmp_path, hashed_embedder, runs):
    """A process may be killed between the facts and the tree."""
    trees = []
    for name, opened_again in (("kb", False), ("again", True)):
        with base(name, CIRCLES) as kb:
            kb.tree.build(small_base.summarise, SETTINGS)
            small_base.put(kb, "new", "C0 works for B5.", triples=[("C0", "works for", "B5")])
            kb.vector_synchroniser.sync()
            if not opened_again:
                kb.tree.build(small_base.summarise, SETTINGS)
                trees.append(kb.communities.all())
        if opened_again:
            with KnowledgeBase.open(tmp_path, name, hashed_embedder) as kb:
                kb.tree.build(small_base.summarise, SETTINGS)
                trees.append(kb.communities.all())
    assert runs == ["whole", "update", "whole", "update"]
    assert trees[0] == trees[1]
