"""The tree as one graph, which all formats are made from."""


import pytest
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


def test_the_order_of_documents_changes_nothing(kb, tmp_path, hashed_embedder):
    with small.create(tmp_path / "other", "kb", hashed_embedder) as other:
        fill(other, "dcba")
        for form, write in FORMATS.items():
            assert list(write(other.tree_graph())) == list(write(kb.tree_graph())), form
