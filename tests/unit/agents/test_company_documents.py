"""What the documents of a small company say, and the seed schema has no words for: the defects of issue 38, by example.

Each text comes with the triples that a model read in it. Time and names in two scripts have tests of their own
(test_counterparts.py).
"""

import json

import pytest

from ...scripted import Shell

MINUTES = {
    "minutes.md": ("Ana Ruiz is the CEO of Orbex. Orbex acquired Fenn Pumps. Ana Ruiz succeeds Tom Reed.",
                   [["Orbex", "has CEO", "Ana Ruiz"], ["Orbex", "acquired", "Fenn Pumps"],
                    ["Ana Ruiz", "succeeds", "Tom Reed"]]),
    "plants.md": ("Lena Vogt manages Plant North. Kolb AG supplies Plant North. Plant North was acquired by Orbex.",
                  [["Lena Vogt", "manages", "Plant North"], ["Kolb AG", "supplies", "Plant North"],
                   ["Plant North", "was acquired by", "Orbex"]]),
    "names.md": ("The new hall of Fenn\nPumps is run by Lena  Vogt.", [["Fenn\nPumps", "is run by", "Lena  Vogt"]]),
}


@pytest.fixture
def shell(tmp_path, hashed_embedder, monkeypatch, capsys):
    shell = Shell(tmp_path, hashed_embedder, monkeypatch, capsys)
    monkeypatch.delenv("BANYAN_SCHEMA_SUPPORT")
    return shell


@pytest.fixture
def imported(shell):
    """The report of an import of the triples into a new knowledge base, without a model."""
    lines = [json.dumps({"id": name, "title": "", "text": text, "triples": triples})
             for name, (text, triples) in MINUTES.items()]
    (shell.folder / "triples.jsonl").write_text("\n".join(lines), "utf-8")
    result = shell("import", shell.folder / "triples.jsonl", "--format", "triples", "--kb", "kb", "--json")
    assert result.code == 0, result.err
    return json.loads(result.out)


def test_relations_that_the_seed_lacks_are_admitted_from_one_document(shell, imported):
    assert imported["rejected"] == {}
    assert shell.triples() >= {("Orbex", "has_ceo", "Ana Ruiz"), ("Lena Vogt", "manages", "Plant North"),
                            ("Kolb AG", "supplies", "Plant North"), ("Ana Ruiz", "succeeded", "Tom Reed")}


def test_a_passive_and_an_active_label_are_one_relation(shell, imported):
    assert {fact for fact in shell.triples() if "acquire" in fact[1]} == {
        ("Orbex", "acquired", "Fenn Pumps"), ("Orbex", "acquired", "Plant North")}


def test_names_are_kept_without_line_breaks(shell, imported):
    names = {end for head, _, tail in shell.triples() for end in (head, tail)}
    assert {"Fenn Pumps", "Lena Vogt"} <= names
    assert not any("\n" in name or "  " in name for name in names)
