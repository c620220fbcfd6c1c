"""The published methods: each ranks as it is defined, checked against definitions written anew."""

import networkx as nx
import numpy as np
import pytest
from banyan.evaluation.baselines import FactWalk, searchable_chunks
from banyan.schemas.naming import triple_id

from ... import small_base as base


def fill(kb) -> None:
    base.put(kb, "ada", "She was born in a town of weavers.", title="Ada Byron",
             entities={"Ada Byron": "Person", "Ulm": "City"}, triples=[("Ada Byron", "born_in", "Ulm")])
    base.put(kb, "ulm", "It lies on the Danube, and barges moor.", title="Ulm",
             entities={"Ulm": "Place", "Danube": "River"}, triples=[("Ulm", "lies_on", "Danube")])
    base.put(kb, "danube", "The Danube flows through Ulm to the Great Black Sea, near other Great Black Seas.",
             title="Danube",
             entities={"Danube": "River", "Ulm": "Place", "Great Black Sea": "Sea", "Great Black Seas": "Sea"},
             triples=[("Ulm", "lies_on", "Danube"), ("Danube", "flows_into", "Great Black Sea"),
                      ("Danube", "flows_near", "Great Black Seas")])
    base.put(kb, "zh", "林小雨出生于宁波。", title="林小雨", entities={"林小雨": "Person", "宁波": "City"},
             triples=[("林小雨", "出生于", "宁波")])
    base.put(kb, "carl", "Carl Berg painted barges in Turku.", title="Carl Berg")


@pytest.fixture(scope="module")
def kb(tmp_path_factory, hashed_embedder):
    with base.create(tmp_path_factory.mktemp("home"), "kb", hashed_embedder) as kb, kb.writing():
        fill(kb)
        base.finish(kb)
        yield kb


QUESTIONS = ["Where was Ada Byron born?", "On which river does the birthplace of Ada Byron lie?", "barges",
             "宁波在哪里？"]


def scaled(values):
    return (values - values.min()) / (values.max() - values.min())


def published_graph(kb, embedder) -> tuple[nx.MultiGraph, dict[str, set[str]]]:
    """HippoRAG 2's graph, and the passages of each name."""
    graph, text = kb.graph, kb.graph.entity_text
    passages, directed = {}, {}
    for head, relation, tail in graph.edges():
        one, other = text(head), text(tail)
        stated = graph.triple_support((head, relation, tail))
        for a, b in ((one, other), (other, one)):
            directed[a, b] = directed.get((a, b), 0) + len(stated)
            passages.setdefault(a, set()).update(stated)
    names = sorted(passages)
    vectors = embedder.encode(names)
    for name, vector_of in zip(names, vectors, strict=True):
        for other, cosine in zip(names, vectors @ vector_of, strict=True):
            if name != other and cosine >= 0.8 and sum(c.isascii() and c.isalnum() for c in name) > 2:
                directed[name, other] = cosine
    walk = nx.MultiGraph()
    walk.add_nodes_from(chunk.id for chunk in searchable_chunks(kb))
    walk.add_weighted_edges_from((a, b, weight) for (a, b), weight in directed.items())
    walk.add_weighted_edges_from((chunk, name, 1) for name in names for chunk in passages[name])
    return walk, passages


def published(kb, vector, embedder) -> dict[str, float]:
    """The passages' weights by HippoRAG 2's definition, by networkx."""
    chunks, text = searchable_chunks(kb), kb.graph.entity_text
    walk, passages = published_graph(kb, embedder)
    assert "great black seas" in walk["great black sea"], "a likeness is among the cases"
    edges = kb.graph.edges()
    facts = scaled(kb.vectors.get("triples", [triple_id(*edge) for edge in edges]) @ vector)
    said = {}
    for row in np.argsort(-facts, kind="stable")[:5]:
        for end in (edges[row][0], edges[row][2]):
            said.setdefault(text(end), []).append(facts[row] / len(passages[text(end)]))
    means = {name: np.mean(scores) for name, scores in said.items()}
    restart = {name: means[name] for name in sorted(means, key=lambda one: (-means[one], one))[:5]}
    dense = scaled(kb.vectors.get("chunks", [chunk.id for chunk in chunks]) @ vector)
    restart |= {chunk.id: 0.05 * score for chunk, score in zip(chunks, dense, strict=True)}
    return nx.pagerank(walk, alpha=0.5, personalization=restart, tol=1e-12, max_iter=500)


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_walk_is_that_of_the_definition(kb, hashed_embedder, question):
    chunks = [chunk.id for chunk in searchable_chunks(kb)]
    (vector,) = hashed_embedder.encode([question])
    scores = FactWalk(kb, chunks, kb.vectors.get("chunks", chunks)).scores(vector)
    expected = published(kb, vector, hashed_embedder)
    weights = np.array([expected[one] for one in chunks])
    # Up to a common factor: what a passage without any triple passes on goes nowhere here, back to the start there.
    np.testing.assert_allclose(scores / scores.sum(), weights / weights.sum(), rtol=1e-4, atol=1e-9)
