"""Graphs to export, with whatever a document may say where documents' texts stand."""

from typing import Any

import networkx as nx
from banyan.export.export_formats import cypher, graphml, node_link
from banyan.export.tree_page import page
from hypothesis import strategies as st

FORMATS = {"graphml": graphml, "json": node_link, "cypher": cypher, "html": page}
HOSTILE = ["</script><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "`) DETACH DELETE n //",
           "'}] AS x //", r"\u0060 \u0027 \\u0027", "\\", "\\'", "]]>", "<!--", "&lt;", "nul\x00 bell\x07 \x1b[31m",
           "\ufffe\uffff", "a\rb\r\nc", "\u2028", "屠呦呦", "مرحبا", "👩‍🔬", "\u202ertl", "member_of", "{}", "$&"]
# All that can stand in a document: no lone surrogates, which UTF-8 cannot say.
texts = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12))


def text_graph(said: list[str]) -> "nx.MultiDiGraph[Any]":
    name, kind, relation, attribute, value, document, quote = said
    source = {"document": document, "start": 0, "end": 3, "quote": quote}
    graph = nx.MultiDiGraph(name="kb", schema=kind, schema_version=2, documents=1, current=True)
    for one, called, values in (("e1", name, {attribute: {value: [source]}}), ("e2", quote, {})):
        graph.add_node(one, kind="entity", name=called, type=kind, names=[called], documents=[document],
                       attributes=values)
    graph.add_edge("e1", "e2", relation, kind="triple", id="t1", relation=relation, confidence=0.5,
                   documents=[document], sources=[source])
    for one, level in (("c1", 0), ("c2", 1)):
        graph.add_node(one, kind="community", name=name, summary=quote, level=level, size=2, cohesion=0.75)
    for one in ("e1", "e2"):
        graph.add_edge(one, "c1", "member_of", kind="member_of")
    graph.add_edge("c1", "c2", "member_of", kind="member_of")
    graph.add_edge("e1", "c1", "keyword_of", kind="keyword_of", rank=1)
    graph.add_edge("e1", "c2", "keyword_of", kind="keyword_of", rank=1)
    return graph


seven = st.lists(texts, min_size=7, max_size=7)
PLAIN = ["name", "kind", "relation", "attribute", "value", "document", "quote"]
