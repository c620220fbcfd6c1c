"""GraphML and JSON are read back as what was written, and Cypher says it, whatever the documents say."""

import json
import re
import stat

import networkx as nx
import pytest
from banyan.cli.console import write_file
from banyan.export.export_formats import cypher, graphml, literal, node_link
from hypothesis import given
from hypothesis import strategies as st

from ... import export_graphs as graphs
from ... import scripted

PLAIN, seven, text_graph, texts = graphs.PLAIN, graphs.seven, graphs.text_graph, graphs.texts


@given(seven)
def test_json_is_read_back_as_the_same_graph(said):
    graph = text_graph(said)
    back = nx.node_link_graph(json.loads("".join(node_link(graph))), edges="edges")
    assert nx.utils.graphs_equal(graph, back)
    assert list(back.nodes) == list(graph.nodes)
    assert back.graph == graph.graph


@given(seven)
def test_graphml_is_read_back_with_all_that_xml_can_say(said):
    graph = text_graph([re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "", text) for text in said])
    back = nx.parse_graphml("".join(graphml(graph)), force_multigraph=True)
    assert (set(back.nodes), back.number_of_edges()) == (set(graph.nodes), graph.number_of_edges())
    for one, data in graph.nodes(data=True):
        for key, value in data.items():
            read = back.nodes[one][key]
            assert (json.loads(read) if isinstance(value, list | dict) else read) == value, key
    (triple,) = [data for *_, data in graph.edges(data=True) if data["kind"] == "triple"]
    read = back.edges["e1", "e2", "t1"]
    assert json.loads(read["sources"]) == triple["sources"]
    assert (read["relation"], read["confidence"], back.graph["schema"]) == (
        triple["relation"], 0.5, graph.graph["schema"])


def test_what_xml_cannot_say_is_replaced():
    nx.parse_graphml("".join(graphml(text_graph(["\x00\ufffe"] * 7))))


_STRING = r"'(?:[^'\\]|\\.)*'"
_TOKEN = re.compile(rf"{_STRING}|`[^`]*`|//[^\n]*", re.DOTALL)
_TEXT = re.compile(rf"{_STRING}(?: \+ {_STRING})+", re.DOTALL)


def preprocessed(script, *, counts_backslashes):
    """What Cypher makes of \\uXXXX before it parses; whether an escaped backslash counts has varied."""
    pattern = r"(?<!\\)((?:\\\\)*)\\u([0-9a-fA-F]{4})" if counts_backslashes else r"()\\u([0-9a-fA-F]{4})"
    return re.sub(pattern, lambda found: found[1] + chr(int(found[2], 16)), script)


def unescaped(text):
    names = {"n": "\n", "r": "\r", "t": "\t"}
    return re.sub(r"\\(.)", lambda found: names.get(found[1], found[1]), text, flags=re.DOTALL)


@given(texts, st.booleans())
def test_cypher_literals_say_the_text_and_end_where_they_should(text, counts):
    """A backslash before a u stands in a literal of its own: engines differ in what they make of the two together."""
    written = literal(text)
    assert "\n" not in written
    assert re.search(r"[\x00-\x1f\u2028]", written) is None
    read = preprocessed(written, counts_backslashes=counts)
    joined = _TOKEN.findall(read)
    assert " + ".join(joined) == read
    assert "".join(unescaped(one[1:-1]) for one in joined) == text


@given(seven)
def test_no_text_becomes_a_cypher_statement(said):
    def outside(words):
        return _TOKEN.sub("", _TEXT.sub("''", "".join(cypher(text_graph(words)))))

    assert outside(said) == outside(PLAIN)


def test_cypher_merges_by_id_in_batches_with_labels_from_types():
    graph = text_graph(PLAIN)
    for number in range(1200):
        graph.add_node(f"x{number:04}", kind="entity", name="x", type="O`X", names=["x"], documents=[], attributes={})
    script = "".join(cypher(graph))
    assert script.count("SET n = row, n:`O_X`") == 3
    assert "MERGE (a)-[r:`relation` {id: row.properties.id}]->(b)" in script
    assert "`attribute`: ['value']" in script
    assert re.findall(r"(?<!MERGE )\bCREATE (\w+)", script) == ["CONSTRAINT", "CONSTRAINT"]
    assert script.count("IF NOT EXISTS") == 2
    assert script.count("MERGE (a)-[r:member_of]->(b)") == 2


FORMATS = graphs.FORMATS

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


def test_the_command_writes_a_file_or_to_standard_output(tmp_path, hashed_embedder, monkeypatch, capsys):
    shell = scripted.Shell(tmp_path, hashed_embedder, monkeypatch, capsys)
    shell.copy_built()
    for form in sorted(FORMATS):
        file = tmp_path / f"out.{form}"
        written = shell("export", "--kb", "kb", "--format", form, "-o", file)
        assert (written.code, written.out) == (0, ""), written.err
        assert f"{file.stat().st_size:,} bytes" in written.err
        text = file.read_text("utf-8")
        assert "Acme" in text and "1999" in text
        assert shell("export", "--kb", "kb", "--format", form, "-o", "-").out == text
