"""The tree as one graph, which all formats are made from."""

import json

import networkx as nx
import pytest
from banyan.export.node_link import node_link
from banyan.export.tree_page import page
from banyan.graph_store.ledger.communities import TreeCommunity
from banyan.schemas.documents import Document
from banyan.schemas.extraction import ExtractedAttribute, ExtractedEntity, ExtractedTriple, Extraction

from ... import export_graphs as graphs
from ... import small_base as small

FORMATS = graphs.FORMATS

DOCUMENTS = {"a": ("Ada works for Acme.", ("Ada", "works for", "Acme")),
             "b": ("Acme has its seat in Bonn.", ("Acme", "seat in", "Bonn")),
             "c": ("Ada works for Acme still.", ("Ada", "works for", "Acme")),
             "d": ("屠呦呦 member_of 中国中医科学院.", ("屠呦呦", "member_of", "中国中医科学院"))}


def fill(kb, order="abcd"):
    for one in order:
        text, (head, relation, tail) = DOCUMENTS[one]
        small.store(kb, Document(id=one, title="", text=text, source="test"), 100_000, 0)
        (chunk,) = [chunk for chunk in kb.documents.chunks() if chunk.document_id == one]
        words = text.rstrip(".").split()
        kb.extractions.save(chunk.id, "test", Extraction(
            entities=(ExtractedEntity(name=head, type="Thing"), ExtractedEntity(name=tail, type="Thing")),
            triples=(ExtractedTriple(head=head, relation=relation, tail=tail, evidence=text),),
            attributes=(ExtractedAttribute(entity=head, attribute="last word", value=words[-1], evidence=text),)))
        kb.schema_control.write([chunk.id])
    small.finish(kb)
    return kb


@pytest.fixture
def kb(tmp_path, hashed_embedder):
    with small.create(tmp_path, "kb", hashed_embedder) as made:
        yield fill(made)


def by_name(graph, name):
    (found,) = [one for one, data in graph.nodes(data=True) if data["kind"] == "entity" and data["name"] == name]
    return found


def test_the_graph_holds_all_facts_with_the_words_that_support_them(kb):
    graph = kb.tree_graph()
    ada, acme = by_name(graph, "Ada"), by_name(graph, "Acme")
    assert graph.nodes[ada]["documents"] == ["a", "c"]
    assert graph.nodes[ada]["type"] == "Thing"
    assert list(graph.nodes[ada]["attributes"]["last word"]) == ["Acme", "still"]
    triples = [(source, target, data) for source, target, data in graph.edges(data=True) if data["kind"] == "triple"]
    assert len(triples) == 3
    (works,) = [data for source, target, data in triples if (source, target) == (ada, acme)]
    assert works["documents"] == ["a", "c"]
    assert len(works["sources"]) == 2
    sources = [*works["sources"], *graph.nodes[ada]["attributes"]["last word"]["still"]]
    for source in sources:
        text = kb.documents.get(source["document"]).text
        assert source["quote"]
        assert text[source["start"]:source["end"]] == source["quote"]
    assert graph.graph == {"name": "kb", "schema": "open", "schema_version": 1, "documents": 4, "current": True}


def test_words_that_two_overlapping_chunks_hold_are_one_source(tmp_path, hashed_embedder):
    text = " ".join(f"Sentence number {number} says little." for number in range(12)) + " Ada knows Bob."
    text += " " + " ".join(f"Sentence number {number} says less." for number in range(3))
    with small.create(tmp_path, "long", hashed_embedder) as long:
        small.store(long, Document(id="d", title="", text=text, source="test"), 40, 20)
        holding = [chunk for chunk in long.documents.chunks() if "Ada knows Bob" in chunk.text]
        assert len(holding) == 2
        assert all(chunk.start for chunk in holding)
        for chunk in holding:
            long.extractions.save(chunk.id, "test", Extraction(
                entities=(ExtractedEntity(name="Ada", type="P"), ExtractedEntity(name="Bob", type="P")),
                triples=(ExtractedTriple(head="Ada", relation="knows", tail="Bob", evidence="Ada knows Bob."),)))
        long.schema_control.write([chunk.id for chunk in holding])
        small.finish(long)
        (sources,) = [data["sources"] for *_, data in long.tree_graph().edges(data=True) if data["kind"] == "triple"]
    (source,) = sources
    assert text[source["start"]:source["end"]] == source["quote"] == "Ada knows Bob."


def test_each_entity_lies_in_one_finest_community_and_keywords_are_ranked(kb):
    graph = kb.tree_graph()
    finest = {c.id: c for c in kb.communities.all()}
    assert finest
    for one in kb.graph.entity_ids():
        (home,) = [target for _, target, kind in graph.out_edges(one, data="kind") if kind == "member_of"]
        assert one in finest[home].members
    for one, community in finest.items():
        data = graph.nodes[one]
        assert (data["size"], data["summary"]) == (len(community.members), community.summary)
        ranked = sorted((rank, source) for source, _, rank in graph.in_edges(one, data="rank") if rank)
        assert [source for _, source in ranked] == list(community.keywords)


def test_communities_lie_in_those_of_the_next_level(kb):
    entities = kb.graph.entity_ids()
    kb.communities.replace([
        TreeCommunity(id="fine1", members=tuple(entities[:2]), keywords=(entities[0],), parent="coarse", cohesion=1.25),
        TreeCommunity(id="fine2", members=tuple(entities[2:]), keywords=(), parent="coarse"),
        TreeCommunity(id="coarse", members=tuple(entities), keywords=(entities[1],), level=1)])
    graph = kb.tree_graph()
    assert {(s, t) for s, t, k in graph.edges(keys=True) if k == "member_of" and s not in entities} == {
        ("fine1", "coarse"), ("fine2", "coarse")}
    assert [t for _, t, k in graph.out_edges(entities[0], keys=True) if k == "member_of"] == ["fine1"]
    assert graph.nodes["fine1"]["cohesion"] == 1.25
    (tree,) = json.loads("".join(node_link(graph)))["tree"]
    assert tree["id"] == "coarse"
    assert {branch["id"]: set(branch["members"]) for branch in tree["children"]} == {
        "fine1": set(entities[:2]), "fine2": set(entities[2:])}
    assert [branch["id"] for branch in tree["children"]] == sorted(
        ["fine1", "fine2"], key=lambda one: -graph.nodes[one]["size"])


def test_a_tree_behind_the_facts_names_only_what_is_there(kb):
    small.delete(kb, "d")
    graph = kb.tree_graph()
    assert not graph.graph["current"]
    assert all("kind" in data for _, data in graph.nodes(data=True))
    assert "The tree is out of date" in "".join(page(graph))


def test_the_order_of_documents_changes_nothing(kb, tmp_path, hashed_embedder):
    with small.create(tmp_path / "other", "kb", hashed_embedder) as other:
        fill(other, "dcba")
        for form, write in FORMATS.items():
            assert list(write(other.tree_graph())) == list(write(kb.tree_graph())), form


def test_an_empty_knowledge_base_is_exported(tmp_path, hashed_embedder):
    with small.create(tmp_path, "empty", hashed_embedder) as empty:
        found = {form: "".join(write(empty.tree_graph())) for form, write in FORMATS.items()}
    assert not nx.node_link_graph(json.loads(found["json"]), edges="edges")
    assert not nx.parse_graphml(found["graphml"])
    assert "no communities yet" in found["html"]
    assert "UNWIND" not in found["cypher"]
