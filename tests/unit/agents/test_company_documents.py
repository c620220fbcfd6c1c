"""What the documents of a small company say, and the seed schema has no words for: the defects of issue 38, by example.

Each text comes with the triples that a model read in it. Time and names in two scripts have tests of their own
(test_counterparts.py).
"""

import json

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


def test_what_the_seed_has_no_words_for_is_admitted_from_one_document_in_one_form(
        tmp_path, hashed_embedder, monkeypatch, capsys):
    """Imported as triples, without a model."""
    shell = Shell(tmp_path, hashed_embedder, monkeypatch, capsys)
    monkeypatch.delenv("BANYAN_SCHEMA_SUPPORT")
    lines = [json.dumps({"id": name, "title": "", "text": text, "triples": triples})
             for name, (text, triples) in MINUTES.items()]
    (tmp_path / "triples.jsonl").write_text("\n".join(lines), "utf-8")
    result = shell("import", tmp_path / "triples.jsonl", "--format", "triples", "--kb", "kb", "--json")
    assert result.code == 0, result.err
    assert json.loads(result.out)["rejected"] == {}
    assert shell.triples() >= {("Orbex", "has_ceo", "Ana Ruiz"), ("Lena Vogt", "manages", "Plant North"),
                               ("Kolb AG", "supplies", "Plant North"), ("Ana Ruiz", "succeeded", "Tom Reed")}
    assert {fact for fact in shell.triples() if "acquire" in fact[1]} == {
        ("Orbex", "acquired", "Fenn Pumps"), ("Orbex", "acquired", "Plant North")}, "a passive and an active label"
    names = {end for head, _, tail in shell.triples() for end in (head, tail)}
    assert {"Fenn Pumps", "Lena Vogt"} <= names
    assert not any("\n" in name or "  " in name for name in names)
