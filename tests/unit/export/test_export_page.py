"""The page: no text of a document becomes markup, and nothing is needed from elsewhere."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import networkx as nx
from banyan.export.tree_page import page
from banyan.text.cleaning import visible
from hypothesis import given

from ... import export_graphs as graphs

HOSTILE, PLAIN, seven, text_graph = graphs.HOSTILE, graphs.PLAIN, graphs.seven, graphs.text_graph


class Skeleton(HTMLParser):
    def __init__(self, source):
        super().__init__()
        self.tags, self.text, self.script, self._in = [], "", "", ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        # Bars and their labels follow numbers alone; ids and classes are ours.
        self.tags.append((tag, tuple(attrs)))
        self._in = tag

    def handle_endtag(self, tag):
        self.tags.append((f"/{tag}", ()))
        self._in = ""

    def handle_comment(self, data):
        self.tags.append(("comment", (data,)))

    def handle_data(self, data):
        if self._in == "script":
            self.script += data
        elif self._in != "style":
            self.text += data


@given(seven)
def test_no_text_becomes_markup(said):
    found = Skeleton("".join(page(text_graph(said))))
    assert found.tags == Skeleton("".join(page(text_graph(PLAIN)))).tags
    assert found.script == Skeleton("".join(page(text_graph(PLAIN)))).script
    shown = re.sub("[\ufffe\uffff]", "\ufffd", visible(said[6]))
    assert shown in found.text


def test_the_page_needs_nothing_from_elsewhere_and_runs_only_its_own_script():
    source = "".join(page(text_graph(HOSTILE[:7])))
    found = Skeleton(source)
    attributes = {name for _, attributes in found.tags for name, _ in attributes}
    assert not {name for name in attributes if name.startswith("on")}
    assert not attributes & {"src", "href", "style", "action"}
    (policy,) = [dict(a)["content"] for tag, a in found.tags if dict(a).get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        (inner,) = re.findall(f"<{tag}[^>]*>(.*?)</{tag}>", source, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
        assert "url(" not in inner
        assert not re.search("https?://", inner)


def test_a_page_of_many_entities_stays_small_and_says_what_it_leaves_out():
    graph = nx.MultiDiGraph(name="kb", schema="", schema_version=0, documents=1, current=True)
    sources = [{"document": "d" * 50, "start": 0, "end": 900, "quote": "词" * 900}] * 3
    graph.add_node("root", kind="community", name="all", summary="", level=1, size=20_000, cohesion=0.1)
    for number in range(20_000):
        home = f"c{number // 4}"
        if number % 4 == 0:
            graph.add_node(home, kind="community", name="词" * 500, summary="词" * 5000, level=0, size=4, cohesion=0.5)
            graph.add_edge(home, "root", "member_of", kind="member_of")
        one = f"e{number}"
        graph.add_node(one, kind="entity", name="词" * 300, type="T", names=[], documents=[], attributes={})
        graph.add_edge(one, home, "member_of", kind="member_of")
        graph.add_edge(one, home, "keyword_of", kind="keyword_of", rank=number % 4 + 1)
        graph.add_edge(one, f"e{number - number % 4}", "r", kind="triple", id=f"t{number}", relation="r",
                       confidence=1.0, documents=[], sources=sources)
    source = "".join(page(graph))
    assert len(source.encode()) < 10_000_000
    assert source.count('<details class="c">') == 500
    assert ">and 4501 more<" in source
    assert ">At most 500 communities, 1 triples of a keyword" in source
