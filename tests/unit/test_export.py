"""`banyan export`: the tree as one graph, and its four formats, whatever the documents say."""

import base64
import hashlib
import json
import re
import stat
from html.parser import HTMLParser
from pathlib import Path

import networkx as nx
import pytest
from banyan.export import page as page_module
from banyan.export.cypher import cypher, literal, quoted_name
from banyan.export.files import ExportError, write_file
from banyan.export.graphml import graphml
from banyan.export.node_link import node_link
from banyan.export.page import page
from banyan.export.plots import cohesion_scatter, size_histogram
from banyan.graph_store.community_table import Community
from banyan.graph_store.tree_graph import tree_graph
from banyan.schemas.documents import Document
from banyan.schemas.extraction import ExtractedAttribute, ExtractedEntity, ExtractedTriple, Extraction
from hypothesis import given
from hypothesis import strategies as st

from ..conftest import load_test_module

small = load_test_module("small_base")
scripted = load_test_module("scripted")

FORMATS = {"graphml": graphml, "json": node_link, "cypher": cypher, "html": page}
HOSTILE = ["</script><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "`) DETACH DELETE n //",
           "'}] AS x //", r"\u0060 \u0027 \\u0027", "\\", "\\'", "]]>", "<!--", "&lt;", "nul\x00 bell\x07 \x1b[31m",
           "\ufffe\uffff", "a\rb\r\nc", "\u2028", "屠呦呦", "مرحبا", "👩‍🔬", "\u202ertl", "member_of", "{}", "$&"]
# All that can stand in a document: no lone surrogates, which UTF-8 cannot say.
texts = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12))


def text_graph(said: list[str]) -> "nx.MultiDiGraph":
    """A graph as `tree_graph` makes it, with the given texts (seven) where documents' texts stand."""
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


# The graph.

DOCUMENTS = {"a": ("Ada works for Acme.", ("Ada", "works for", "Acme")),
             "b": ("Acme has its seat in Bonn.", ("Acme", "seat in", "Bonn")),
             "c": ("Ada works for Acme still.", ("Ada", "works for", "Acme")),
             "d": ("屠呦呦 member_of 中国中医科学院.", ("屠呦呦", "member_of", "中国中医科学院"))}


def fill(kb, order="abcd"):
    for one in order:
        text, (head, relation, tail) = DOCUMENTS[one]
        kb.put_document(Document(id=one, title="", text=text, source="test"), 100_000, 0)
        (chunk,) = [chunk for chunk in kb.documents.chunks() if chunk.document_id == one]
        words = text.rstrip(".").split()
        kb.extractions.save(chunk.id, "test", Extraction(
            entities=(ExtractedEntity(name=head, type="Thing"), ExtractedEntity(name=tail, type="Thing")),
            triples=(ExtractedTriple(head=head, relation=relation, tail=tail, evidence=text),),
            attributes=(ExtractedAttribute(entity=head, attribute="last word", value=words[-1], evidence=text),)))
        kb.write_chunks([chunk.id])
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
    graph = tree_graph(kb)
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
        long.put_document(Document(id="d", title="", text=text, source="test"), 40, 20)
        holding = [chunk for chunk in long.documents.chunks() if "Ada knows Bob" in chunk.text]
        assert len(holding) == 2
        assert all(chunk.start for chunk in holding)
        for chunk in holding:
            long.extractions.save(chunk.id, "test", Extraction(
                entities=(ExtractedEntity(name="Ada", type="P"), ExtractedEntity(name="Bob", type="P")),
                triples=(ExtractedTriple(head="Ada", relation="knows", tail="Bob", evidence="Ada knows Bob."),)))
        long.write_chunks([chunk.id for chunk in holding])
        small.finish(long)
        (sources,) = [data["sources"] for *_, data in tree_graph(long).edges(data=True) if data["kind"] == "triple"]
    (source,) = sources
    assert text[source["start"]:source["end"]] == source["quote"] == "Ada knows Bob."


def test_each_entity_lies_in_one_finest_community_and_keywords_are_ranked(kb):
    graph = tree_graph(kb)
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
        Community(id="fine1", members=tuple(entities[:2]), keywords=(entities[0],), parent="coarse", cohesion=1.25),
        Community(id="fine2", members=tuple(entities[2:]), keywords=(), parent="coarse"),
        Community(id="coarse", members=tuple(entities), keywords=(entities[1],), level=1)])
    graph = tree_graph(kb)
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
    kb.delete_document("d")
    graph = tree_graph(kb)
    assert not graph.graph["current"]
    assert all("kind" in data for _, data in graph.nodes(data=True))
    assert "behind the facts" in "".join(page(graph))


def test_the_order_of_documents_changes_nothing(kb, tmp_path, hashed_embedder):
    with small.create(tmp_path / "other", "kb", hashed_embedder) as other:
        fill(other, "dcba")
        for form, write in FORMATS.items():
            assert list(write(tree_graph(other))) == list(write(tree_graph(kb))), form


def test_an_empty_knowledge_base_is_exported(tmp_path, hashed_embedder):
    with small.create(tmp_path, "empty", hashed_embedder) as empty:
        found = {form: "".join(write(tree_graph(empty))) for form, write in FORMATS.items()}
    assert not nx.node_link_graph(json.loads(found["json"]), edges="edges")
    assert not nx.parse_graphml(found["graphml"])
    assert "no communities yet" in found["html"]
    assert "UNWIND" not in found["cypher"]


# GraphML and JSON.

@given(seven)
def test_json_is_read_back_as_the_same_graph(said):
    graph = text_graph(said)
    back = nx.node_link_graph(json.loads("".join(node_link(graph))), edges="edges")
    assert nx.utils.graphs_equal(graph, back)
    assert list(back.nodes) == list(graph.nodes)
    assert back.graph == graph.graph


@given(seven)
def test_graphml_is_read_back_with_all_that_xml_can_say(said):
    graph = text_graph(said)
    back = nx.parse_graphml("".join(graphml(graph)), force_multigraph=True)
    assert (set(back.nodes), back.number_of_edges()) == (set(graph.nodes), graph.number_of_edges())
    for one, data in graph.nodes(data=True):
        for key, value in data.items():
            read = back.nodes[one][key]
            assert (json.loads(read) if isinstance(value, list | dict) else read) == _sayable(value), key
    triple = graph.edges["e1", "e2", said[2]]
    read = back.edges["e1", "e2", "t1"]
    assert json.loads(read["sources"]) == _sayable(triple["sources"])
    assert read["relation"] == _sayable(said[2])
    assert read["confidence"] == 0.5
    assert back.graph["schema"] == _sayable(said[1])


def _sayable(value):
    """A value whose texts have U+FFFD for what XML cannot say. JSON escapes control characters, but no others."""
    if isinstance(value, dict):
        return {_in_json(key): _sayable_in_json(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_sayable_in_json(one) for one in value]
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "\ufffd", value) if isinstance(value, str) else value


def _sayable_in_json(value):
    return _in_json(value) if isinstance(value, str) else _sayable(value)


def _in_json(text):
    return re.sub("[\ufffe\uffff]", "\ufffd", text)


def test_ids_of_graphml_edges_occur_once():
    ids = re.findall('<edge id="([^"]*)"', "".join(graphml(text_graph(PLAIN))))
    assert len(ids) == len(set(ids)) == 6


# Cypher.

_TOKEN = re.compile(r"'(?:[^'\\]|\\.)*'|`(?:[^`]|``)*`|//[^\n]*", re.DOTALL)


def preprocessed(script, *, counts_backslashes):
    """What Cypher makes of \\uXXXX before it parses; whether an escaped backslash counts has varied."""
    pattern = r"(?<!\\)((?:\\\\)*)\\u([0-9a-fA-F]{4})" if counts_backslashes else r"()\\u([0-9a-fA-F]{4})"
    return re.sub(pattern, lambda found: found[1] + chr(int(found[2], 16)), script)


def unescaped(text):
    names = {"n": "\n", "r": "\r", "t": "\t"}
    return re.sub(r"\\(.)", lambda found: names.get(found[1], found[1]), text, flags=re.DOTALL)


@given(texts, st.booleans())
def test_cypher_literals_say_the_text_and_end_where_they_should(text, counts):
    written = literal(text)
    assert "\n" not in written
    assert re.search(r"[\x00-\x1f\u2028]", written) is None
    read = preprocessed(written, counts_backslashes=counts)
    assert _TOKEN.fullmatch(read)
    assert unescaped(read[1:-1]) == text


@given(texts)
def test_no_label_leaves_its_backticks(text):
    written = quoted_name(text)
    assert "\\" not in written
    assert _TOKEN.fullmatch(written)
    assert written[1:-1].replace("``", "`") == re.sub(r"[\\\x00-\x1f\x7f-\x9f\u2028\u2029]", "_", text)


@given(seven)
def test_no_text_becomes_a_cypher_statement(said):
    def outside(words):
        return _TOKEN.sub("", "".join(cypher(text_graph(words))))

    assert outside(said) == outside(PLAIN)


def test_cypher_merges_by_id_in_batches_with_labels_from_types():
    graph = text_graph(PLAIN)
    for number in range(1200):
        graph.add_node(f"x{number:04}", kind="entity", name="x", type="O`X", names=["x"], documents=[], attributes={})
    script = "".join(cypher(graph))
    assert script.count("SET n = row, n:`O``X`") == 3
    assert "MERGE (a)-[r:`relation` {id: row.properties.id}]->(b)" in script
    assert "`attribute`: ['value']" in script
    assert re.findall(r"(?<!MERGE )\bCREATE (\w+)", script) == ["CONSTRAINT", "CONSTRAINT"]
    assert script.count("IF NOT EXISTS") == 2
    assert script.count("MERGE (a)-[r:member_of]->(b)") == 2


def test_an_attribute_called_as_a_property_of_ours_takes_nothing_away():
    script = "".join(cypher(text_graph(["Ada", "Person", "knows", "name", "Countess", "d", "q"])))
    assert "`name`: 'Ada'" in script
    assert "`attribute_name`: ['Countess']" in script


# The page.

class Skeleton(HTMLParser):
    """The tags with their attributes, and the text that is shown."""

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
    shown = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "\ufffd", said[6])
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
        (inner,) = re.findall(f"<{tag}>(.*?)</{tag}>", source, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
        assert "url(" not in inner
        assert "http" not in inner


def test_the_page_nests_keywords_triples_and_attributes():
    found = Skeleton("".join(page(text_graph(["Ada", "Person", "born in", "died", "1852", "life.txt", "a quote"]))))
    assert re.search(r"Ada.*Keywords.*Ada.*Person.*died: 1852.*Ada born in a quote.*a quote\s*life\.txt",
                     " ".join(found.text.split()))
    tags = [tag for tag, _ in found.tags]
    assert tags.count("details") == tags.count("summary") == tags.count("/details") == 6
    assert ("html", (("lang", "en"),)) in found.tags
    assert ("label", (("for", "query"),)) in found.tags
    assert [dict(a)["role"] for tag, a in found.tags if tag == "svg"] == ["img", "img"]


def test_all_that_the_page_says_is_translated():
    script = Path(page_module.__file__).with_name("page.js").read_text("utf-8")
    chinese = set(re.findall(r"(\w+): \"[^\"]*[\u4e00-\u9fff]", script))
    behind = text_graph(PLAIN)
    behind.graph["current"] = False
    behind.add_node("lonely", kind="entity", name="x", type="T", names=["x"], documents=[], attributes={})
    for number in range(30):
        behind.add_edge("e1", "e2", f"r{number}", kind="triple", id=f"t{number}", relation=f"r{number}", confidence=1.0,
                        documents=[], sources=[])
    empty = nx.MultiDiGraph(name="kb", schema="", schema_version=0, documents=0, current=True)
    said = {dict(a)["data-t"] for graph in (behind, empty) for _, a in Skeleton("".join(page(graph))).tags
            if "data-t" in dict(a)}
    assert {"behind", "outside", "more", "empty", "size", "cohesion"} <= said
    assert said == chinese


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
    assert 4_000_000 < len(source.encode()) < 10_000_000
    assert source.count('<details class="c">') == 4000
    assert ">and 1001 more<" in source
    assert ">At most 4000 communities" in source


def test_plots_hold_every_community():
    bars = size_histogram([1, 1, 2, 3, 4, 7, 8, 200])
    assert re.findall(r'y="[\d.]+">(\d+)</text>', bars)[::2][:8] == ["2", "2", "2", "1", "0", "0", "0", "1"]
    dots = cohesion_scatter([(1, 0.0), (10, 1.5), (100, 0.75), (100, 0.75), (5, -0.2)])
    places = [tuple(map(int, place)) for place in re.findall(r'cx="(-?\d+)" cy="(-?\d+)"', dots)]
    assert len(places) == 4
    assert all(0 <= x <= 460 and 0 <= y <= 240 for x, y in places)
    assert size_histogram([]).startswith("<svg")
    assert cohesion_scatter([]).startswith("<svg")


# Files and the command.

def test_a_failed_export_leaves_the_old_file_and_nothing_else(tmp_path):
    file = tmp_path / "out.json"
    write_file(file, ["old"])

    def pieces():
        yield "new"
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_file(file, pieces())
    assert file.read_text("utf-8") == "old"
    assert list(tmp_path.iterdir()) == [file]
    assert write_file(file, ["屠"]) == 3
    assert file.read_text("utf-8") == "屠"
    plain = tmp_path / "plain"
    plain.touch()
    assert stat.S_IMODE(file.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(ExportError, match=r"no folder .*nowhere"):
        write_file(tmp_path / "nowhere" / "out.json", ["x"])
    with pytest.raises(ExportError, match="is a folder"):
        write_file(tmp_path, ["x"])
    assert write_file(Path("/dev/null"), ["x"]) == 1
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "there")
    write_file(link, ["through"])
    assert link.is_symlink()
    assert (tmp_path / "there").read_text("utf-8") == "through"


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_the_command_writes_a_file_or_to_standard_output(form, tmp_path, hashed_embedder, monkeypatch, capsys):
    shell = scripted.Shell(tmp_path, hashed_embedder, monkeypatch, capsys)
    shell.write(scripted.TEXTS)
    shell.report()
    file = tmp_path / f"out.{form}"
    written = shell("export", "--kb", "kb", "--format", form, "-o", file)
    assert written.code == 0, written.err
    assert f"{file.stat().st_size:,} bytes" in written.err
    assert written.out == ""
    text = file.read_text("utf-8")
    assert "Acme" in text
    assert "1999" in text
    printed = shell("export", "--kb", "kb", "--format", form, "-o", "-")
    assert printed.code == 0
    assert printed.out == text


def test_the_command_names_what_is_not_there(tmp_path, hashed_embedder, monkeypatch, capsys):
    shell = scripted.Shell(tmp_path, hashed_embedder, monkeypatch, capsys)
    unknown = shell("export", "--kb", "none", "--format", "json", "-o", tmp_path / "x.json")
    assert (unknown.code, list(tmp_path.glob("x*"))) == (1, [])
    assert "there is no knowledge base 'none'" in unknown.err
    shell.write(scripted.TEXTS)
    shell.report()
    nowhere = shell("export", "--kb", "kb", "--format", "json", "-o", tmp_path / "no" / "x.json")
    assert nowhere.code == 1
    assert "there is no folder" in nowhere.err
