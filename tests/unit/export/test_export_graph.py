"""The tree as one graph, which all formats are made from, and its file, which is whole or not written at all."""

import stat

import pytest
from banyan.cli.console import write_file

from ... import export_graphs as graphs
from ... import scripted
from ... import small_base as small

FORMATS = graphs.FORMATS

DOCUMENTS = {"a": ("Ada works for Acme.", ("Ada", "works for", "Acme")),
             "b": ("Acme has its seat in Bonn.", ("Acme", "seat in", "Bonn")),
             "c": ("Ada works for Acme still.", ("Ada", "works for", "Acme")),
             "d": ("屠呦呦 member_of 中国中医科学院.", ("屠呦呦", "member_of", "中国中医科学院"))}


def fill(kb, order="abcd"):
    for one in order:
        text, (head, relation, tail) = DOCUMENTS[one]
        small.put(kb, one, text, entities=dict.fromkeys((head, tail), "Thing"), triples=[(head, relation, tail)],
                  attributes=[(head, "last word", text.rstrip(".").split()[-1])])
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
