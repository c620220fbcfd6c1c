"""Names, words, walks and the four routes, each by itself."""

import numpy as np
import pytest
from banyan.graph_store.extractions import Contribution
from banyan.graph_store.graph import KnowledgeGraph
from banyan.graph_store.grounding import words
from banyan.graph_store.reliability import Reliability
from banyan.schemas.documents import Span
from banyan.schemas.extraction import EntityMention, Fact
from banyan.schemas.naming import entity_id, triple_id
from banyan.schemas.retrieval import ROUTES, SubQuery
from banyan.tools import community_route, dfs_route, entity_route, triple_route
from banyan.tools.dfs_route import MAX_HOPS
from banyan.tools.index import RetrievalIndex
from banyan.tools.lexical import LexicalIndex, terms
from banyan.tools.names import NameTrie
from banyan.tools.query import Query
from banyan.tools.retriever import Retriever
from banyan.tools.spreading import SpreadingGraph
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ..conftest import load_test_module

base = load_test_module("small_base")

# ---- names -----------------------------------------------------------------------------------


def test_the_longest_name_wins_and_names_do_not_overlap():
    trie = NameTrie([("New York", "a"), ("New York City", "b"), ("York City", "c"), ("City Hall", "d")])
    assert trie.find("Is new YORK city hall in New York?") == [("new york city", ("b",)), ("new york", ("a",))]


def test_a_name_that_begins_like_a_longer_one_is_still_found():
    trie = NameTrie([("New York", "a"), ("New York City Council House", "b")])
    assert trie.find("the New York City budget") == [("new york", ("a",))]


def test_chinese_names_are_found_without_spaces():
    trie = NameTrie([("北京", "a"), ("北京大学", "b"), ("林小雨", "c")])
    assert [ids for _, ids in trie.find("林小雨毕业于北京大学，后来住在北京。")] == [("c",), ("b",), ("a",)]


def test_aliases_and_namesakes():
    trie = NameTrie([("Mercury", "planet"), ("Mercury", "element"), ("Quicksilver", "element")])
    assert trie.find("mercury, or quicksilver") == [("mercury", ("element", "planet")), ("quicksilver", ("element",))]


def test_a_name_is_not_found_inside_a_word():
    assert NameTrie([("Ada", "a"), ("Ulm", "b")]).find("Adam likes Ulmer Spatz") == []


def test_names_without_a_word_are_left_out():
    trie = NameTrie([("...", "a"), ("", "b")])
    assert trie.find("... and , nothing") == []


_names = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"]), min_size=1, max_size=20).filter(words)


@given(_names, st.sampled_from(["", "Who is ", "谁是", "(", "1: "]), st.sampled_from(["", "?", " now", "」", " 2"]))
def test_every_name_is_found_in_a_text_made_of_it(name, before, after):
    text = before + name + after
    found = NameTrie([(name, "one")]).find(text)
    glued = words(text) != words(before) + words(name) + words(after)
    assert glued or any(ids == ("one",) for _, ids in found)


@given(st.lists(_names, min_size=1, max_size=8))
def test_names_found_side_by_side_are_the_names_put_in(names):
    # A foreign word keeps them apart: without it two names could read as a third.
    text = " Ωzzz ".join(names)
    known = {" ".join(words(name)) for name in names}
    found = NameTrie([(name, " ".join(words(name))) for name in names]).find(text)
    assert all(ids == (said,) and said in known for said, ids in found)
    covered = {said for said, _ in found}
    assert all(any(f" {name} " in f" {one} " or f" {one} " in f" {name} " for one in covered) for name in known)


# ---- words -----------------------------------------------------------------------------------


def test_terms_are_words_and_chinese_bigrams():
    assert terms("The Ulm-Minster 2019") == ["the", "ulm", "minster", "2019"]
    assert terms("净利润 5亿 元") == ["净利", "利润", "5", "亿", "元"]


def test_an_empty_corpus_and_a_corpus_of_blanks_have_no_scores():
    assert LexicalIndex([]).scores("anything").shape == (0,)
    assert LexicalIndex(["", " . "]).scores("anything").tolist() == [0.0, 0.0]


def test_only_texts_that_share_a_term_have_a_score():
    index = LexicalIndex(["the river Danube", "公司的净利润", "", "a river, a river"])
    assert index.scores("unheard 词").tolist() == [0.0] * 4
    assert index.scores("").tolist() == [0.0] * 4
    river = index.scores("Rivers? no: RIVER unheard")
    assert river[0] > 0
    assert river[3] > river[0]
    assert river[1] == river[2] == 0
    assert np.flatnonzero(index.scores("净利润率")).tolist() == [1]


def test_a_rare_term_counts_more_than_a_common_one():
    index = LexicalIndex([f"city {n}" for n in range(20)] + ["city minster"])
    assert int(np.argmax(index.scores("city minster"))) == 20


# ---- spreading -------------------------------------------------------------------------------

_NODES = 8
_edges = st.lists(st.tuples(st.integers(0, _NODES - 2), st.integers(0, _NODES - 2)).filter(lambda e: e[0] != e[1]),
                  min_size=1, max_size=20)
_seeds = hnp.arrays(np.float32, (_NODES, 3), elements=st.floats(0, 1, width=32))


def spreading(edges) -> SpreadingGraph:
    """A graph whose last node is always isolated."""
    pairs = np.array(edges, np.intp).reshape(-1, 2)
    return SpreadingGraph(_NODES, pairs[:, 0], pairs[:, 1], np.ones(len(pairs), np.float32))


@given(_edges, _seeds)
def test_no_mass_is_lost_or_made_on_connected_nodes(edges, seeds):
    connected = np.isin(np.arange(_NODES), np.unique(edges))
    seeds = np.where(connected[:, None], seeds, np.float32(0))
    spread = spreading(edges).spread(seeds)
    expected = (seeds.sum(axis=0) > 0).astype(np.float32)
    np.testing.assert_allclose(spread.sum(axis=0), expected, atol=1e-4)
    assert (spread >= 0).all()
    assert (spread[~connected] == 0).all()


@given(_edges, _seeds, st.randoms(use_true_random=False))
def test_the_order_and_direction_of_edges_are_irrelevant(edges, seeds, chance):
    shuffled = [edge if chance.random() < 0.5 else edge[::-1] for edge in chance.sample(edges, len(edges))]
    np.testing.assert_allclose(spreading(edges).spread(seeds), spreading(shuffled).spread(seeds), atol=1e-6)


@given(_edges, _seeds)
def test_several_walks_at_once_equal_single_walks(edges, seeds):
    graph = spreading(edges)
    singles = [graph.spread(np.ascontiguousarray(seeds[:, one])) for one in range(seeds.shape[1])]
    np.testing.assert_allclose(graph.spread(seeds), np.stack(singles, axis=1), atol=1e-6)


def test_zero_seeds_give_zeros_and_an_isolated_node_keeps_its_restart():
    graph = spreading([(0, 1)])
    assert graph.spread(np.zeros(_NODES, np.float32)).tolist() == [0.0] * _NODES
    alone = np.zeros(_NODES, np.float32)
    alone[-1] = 2.0
    spread = graph.spread(alone)
    assert spread[-1] > 0
    assert spread[:-1].tolist() == [0.0] * (_NODES - 1)


def test_a_graph_without_edges_or_nodes_can_be_walked():
    nothing = np.zeros(0, np.intp)
    assert SpreadingGraph(0, nothing, nothing, np.zeros(0, np.float32)).spread(np.zeros(0, np.float32)).shape == (0,)
    assert spreading([]).spread(np.eye(_NODES, 1, dtype=np.float32)[:, 0])[0] > 0


def test_weight_falls_with_distance():
    spread = spreading([(0, 1), (1, 2), (2, 3)]).spread(np.eye(_NODES, 1, dtype=np.float32)[:, 0])
    assert spread[0] > spread[1] > spread[2] > spread[3] > 0


# ---- the routes ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kb(tmp_path_factory, hashed_embedder):
    kb = base.create(tmp_path_factory.mktemp("home"), "routes", hashed_embedder)
    with kb, kb.writing():
        base.put(kb, "ada", "Ada Byron was born in Ulm. She described the engine.",
                 entities={"Ada Byron": "Person", "Ulm": "City", "engine": "Machine"},
                 triples=[("Ada Byron", "born_in", "Ulm"), ("Ada Byron", "described", "engine")])
        base.put(kb, "ulm", "Ulm lies on the Danube. The Danube flows into the Black Sea.",
                 entities={"Ulm": "City", "Danube": "River", "Black Sea": "Sea"},
                 triples=[("Ulm", "lies_on", "Danube"), ("Danube", "flows_into", "Black Sea")])
        base.put(kb, "carl", "Carl Berg painted in Turku.", entities={"Carl Berg": "Person", "Turku": "City"},
                 triples=[("Carl Berg", "painted_in", "Turku")])
        base.put(kb, "lin", "林小雨出生于宁波。", entities={"林小雨": "Person", "宁波": "City"},
                 triples=[("林小雨", "出生于", "宁波")])
        base.finish(kb)
        yield kb


@pytest.fixture(scope="module")
def retriever(kb):
    return Retriever(kb)


def ask(retriever, question, **elements):
    return retriever.queries([SubQuery(question=question, **elements)])[0]


@pytest.mark.parametrize("route", ROUTES)
def test_evidence_says_what_it_rests_on(retriever, route):
    chunks, entities = set(retriever.index.chunk_row), set(retriever.index.entity_row)
    found = retriever.search(route, ask(retriever, "On which river lies the city where Ada Byron was born?"))
    assert found
    for item in found:
        assert item.route == route
        assert 0 <= item.score <= 1 + 1e-6
        assert item.text
        assert item.path
        assert set(item.chunk_ids) <= chunks
        assert item.entity_ids
        assert set(item.entity_ids) <= entities
        # A community's description is no source; everything else stands in some chunk.
        assert item.chunk_ids or (route == "community" and len(item.path) == 1)
    assert [item.score for item in found] == sorted((item.score for item in found), reverse=True)


@pytest.mark.parametrize("route", ROUTES)
def test_a_limit_is_kept_and_takes_the_best(retriever, route):
    query = ask(retriever, "On which river does Ulm lie?")
    every = retriever.search(route, query)
    few = retriever.search(route, query, 3)
    assert 0 < len(few) <= 3
    if route in {"entity", "triple"}:
        assert [item.score for item in few] == [item.score for item in every[:3]]


def test_named_entities_come_first_with_full_score(retriever):
    found = entity_route.search(retriever.index, ask(retriever, "Who was Ada Byron of Ulm?"), 5)
    assert {found[0].entity_ids[0], found[1].entity_ids[0]} == {entity_id("Ada Byron", "Person"),
                                                                entity_id("Ulm", "City")}
    assert [item.score == 1.0 for item in found] == [True, True, False, False, False]
    assert "Ada Byron born in Ulm" in found[0].text + found[1].text
    assert "names" in found[0].path[0]


def test_a_chinese_name_is_found(retriever):
    found = entity_route.search(retriever.index, ask(retriever, "林小雨出生在哪里？"), 2)
    assert found[0].entity_ids == (entity_id("林小雨", "Person"),)
    assert found[0].score == 1.0


def test_the_triple_route_finds_the_triple_that_is_asked_about(retriever):
    best = triple_route.search(retriever.index, ask(retriever, "Danube flows into"), 5)[0]
    assert best.entity_ids == (entity_id("Danube", "River"), entity_id("Black Sea", "Sea"))


def test_among_equally_near_triples_the_schema_decides(tmp_path, hashed_embedder):
    kb = base.create(tmp_path, "twins", hashed_embedder)
    with kb, kb.writing():
        # Equal up to underscore and space, so equal in what is embedded.
        base.put(kb, "a", "Ida met Bo.", entities={"Ida": "P", "Bo": "P"},
                 triples=[("Ida", "met_with", "Bo"), ("Ida", "met with", "Bo")])
        base.finish(kb)
        retriever = Retriever(kb)
        for wanted in ("met_with", "met with"):
            query = ask(retriever, "Whom did Ida meet?", relations=(wanted,))
            first = triple_route.search(retriever.index, query, 5)[0]
            assert retriever.index.edge_of[sorted(retriever.index.edge_of)[0]][0] == first.entity_ids[0]
            edges = [edge for edge in retriever.index.graph.edges() if edge[1] == wanted]
            assert first.path[1] == retriever.index.graph.triple(edges[0]).text()


def test_the_community_route_goes_down_to_facts(retriever):
    found = community_route.search(retriever.index, ask(retriever, "Carl Berg painted in Turku"), 9)
    communities = [item for item in found if not item.chunk_ids]
    facts = [item for item in found if item.chunk_ids]
    assert communities
    assert "Carl Berg" in communities[0].text
    assert facts[0].text == "Carl Berg painted in Turku"
    assert facts[0].path[0].startswith("community ")


def test_paths_lead_over_several_hops(retriever):
    query = ask(retriever, "Into which sea flows the river on which the birthplace of Ada Byron lies?")
    found = dfs_route.search(retriever.index, query, 50, [entity_id("Ada Byron", "Person")])
    goal = entity_id("Black Sea", "Sea")
    path = next(item for item in found if item.entity_ids[-1] == goal)
    assert path.path == ("Ada Byron", "Ada Byron born in Ulm", "Ulm lies on Danube", "Danube flows into Black Sea")
    assert set(path.chunk_ids) == {c.id for c in retriever.index.chunks if c.document_id in {"ada", "ulm"}}


def test_unknown_and_repeated_starts_are_ignored(retriever):
    query, start = ask(retriever, "Ada Byron"), entity_id("Ada Byron", "Person")
    once = dfs_route.search(retriever.index, query, 50, [start])
    assert once == dfs_route.search(retriever.index, query, 50, ["gone", start, start])
    assert dfs_route.search(retriever.index, query, 50, ["gone"]) == []
    assert dfs_route.search(retriever.index, query, 50, []) == []


def test_routes_find_nothing_in_an_empty_knowledge_base(tmp_path, hashed_embedder):
    with base.create(tmp_path, "empty", hashed_embedder) as kb:
        retriever = Retriever(kb)
        query = ask(retriever, "Is there anything?")
        assert retriever.evidence(query) == []
        assert retriever.ranking(retriever.rank([query], [[]]), 10) == []


# ---- paths in large and closed graphs -----------------------------------------------------------


@pytest.fixture(scope="module")
def ring(tmp_path_factory, hashed_embedder):
    """A ring of nine with a chord at each, so that paths could go on for ever."""
    kb = base.create(tmp_path_factory.mktemp("home"), "ring", hashed_embedder)
    people = [f"Person{n}" for n in range(9)]
    with kb, kb.writing():
        base.put(kb, "ring", "They know each other: " + ", ".join(people) + ".", entities=dict.fromkeys(people, "P"),
                 triples=[(people[n], relation, people[(n + step) % 9]) for n in range(9)
                          for relation, step in (("knows", 1), ("likes", 1), ("follows", 3))])
        base.finish(kb)
        yield Retriever(kb)


def test_paths_have_at_most_five_hops_and_never_come_back(ring):
    start = entity_id("Person0", "P")
    found = dfs_route.search(ring.index, ask(ring, "Whom does Person0 know?"), 1000, [start])
    assert {len(item.entity_ids) for item in found} == set(range(1, MAX_HOPS + 1))
    assert MAX_HOPS == 5
    for item in found:
        assert len({start, *item.entity_ids}) == len(item.entity_ids) + 1
    # At most two branches at each node: 2 + 4 + ... + 32 paths from one start.
    assert len(found) <= 62


class Unstored:
    """What an index reads of a knowledge base, over a graph alone: 5,000 vectors in Chroma take seconds."""

    def __init__(self, graph: KnowledgeGraph, embedder) -> None:
        self.graph, self.embedder, self.vectors = graph, embedder, self

    def searchable_chunks(self):
        return []

    def reliability(self):
        return Reliability()

    def missing(self, kind, ids):
        return []

    def get(self, kind, ids):
        edges = {triple_id(*edge): edge for edge in self.graph.edges()}
        return self.embedder.encode([self.graph.triple_text(edges[one]) for one in ids] or ["nothing"])


@pytest.fixture(scope="module")
def hub(hashed_embedder):
    """One entity with 5,000 neighbours, one of which is related in another way."""
    span = Span(start=0, end=1, quote="x")
    names = [f"N{n}" for n in range(5000)]
    graph = KnowledgeGraph()
    graph.replace("chunk", Contribution(
        mentions=(EntityMention(name="Hub", type="H", span=span),
                  *(EntityMention(name=name, type="X", span=span) for name in names)),
        facts=tuple(Fact(head="Hub", head_type="H", relation="supervises" if n == 3210 else "aq", tail=name,
                         tail_type="X", span=span) for n, name in enumerate(names))))
    index = RetrievalIndex(Unstored(graph, hashed_embedder))
    assert index.triple_vectors.shape == (5000, hashed_embedder.dimension)
    return index


def hub_query(index, question):
    return Query(SubQuery(question=question), index.embedder.encode([question])[0], 1.0)


def test_the_best_relation_of_a_hub_is_followed(hub):
    found = dfs_route.search(hub, hub_query(hub, "Whom does the Hub supervise?"), 20, [entity_id("Hub", "H")])
    assert found[0].text == "Hub supervises N3210"


def test_work_at_a_hub_is_bounded(hub):
    query = hub_query(hub, "Whom does the Hub supervise?")
    starts = [entity_id("Hub", "H"), entity_id("N1", "X"), entity_id("N2", "X")]
    found = dfs_route.search(hub, query, 1000, starts)
    # From the hub its two best; from each of the others the hub and on to two.
    assert len(found) == 2 + 3 + 3


# ---- versions ----------------------------------------------------------------------------------


def test_the_retrievers_version_changes_with_every_write(tmp_path, hashed_embedder):
    kb = base.create(tmp_path, "versions", hashed_embedder)
    with kb, kb.writing():
        versions = [kb.version()]
        base.put(kb, "a", "Ida lives in Rome.", entities={"Ida": "P", "Rome": "C"}, triples=[("Ida", "in", "Rome")])
        versions.append(kb.version())
        base.finish(kb)
        versions.append(kb.version())
        assert Retriever(kb).version == versions[-1]
        kb.delete_document("a")
        versions.append(kb.version())
        assert len(set(versions)) == len(versions)


