"""The map of an exported page: what it draws, and that its script is that of the server's page."""

import html
import json

import pytest
from banyan.export.map_section import map_data, map_entities
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.tools.sentence_links import SentenceLink

from ... import small_base


@pytest.fixture(scope="module")
def graph(tmp_path_factory, hashed_embedder):
    folder = tmp_path_factory.mktemp("map")
    small_base.people(folder, "people", hashed_embedder)
    with KnowledgeBase.open(folder, "people", hashed_embedder) as kb:
        return kb.tree_graph()


def test_entities_with_links_are_drawn_those_of_most_documents_first(graph):
    ranked = map_entities(graph)
    supports = [len(graph.nodes[node]["documents"]) for node in ranked]
    assert supports == sorted(supports, reverse=True)
    alone = [node for node in ranked if not any(data["kind"] == "triple" for *_, data in (
        *graph.in_edges(node, data=True), *graph.out_edges(node, data=True)))]
    link = SentenceLink(*sorted(ranked[:2]), 1)
    drawn = json.loads(html.unescape(map_data(graph, [link, SentenceLink("no such", ranked[0], 1)])))
    shown = {node["id"] for node in drawn["nodes"]}
    assert shown == set(ranked) - set(alone) | {link.one, link.other}
    kinds = [edge["kind"] for edge in drawn["edges"]]
    assert kinds.count("sentence") == 1
    assert kinds.count("fact") == sum(data["kind"] == "triple" for *_, data in graph.edges(data=True))
    assert {end for edge in drawn["edges"] for end in (edge["source"], edge["target"])} == shown
    assert {node["community"] for node in drawn["nodes"]} - {""} == set(drawn["communities"])
