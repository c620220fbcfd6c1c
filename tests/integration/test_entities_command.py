"""`banyan entities`, `--no-resolve`, and an LLM's verdicts, from documents to the merged graph."""

import json
from pathlib import Path
from typing import Any

import pytest

from ..hashed_embedding import HashedEmbedder
from ..scripted import Shell

RECORDS = [
    {"id": "1", "title": "Acme", "text": "Acme-Werke makes carts.", "entities": [],
     "triples": [["Acme-Werke", "makes", "carts"]]},
    {"id": "2", "title": "Ulm", "text": "Acme Werke is in Ulm.", "entities": [],
     "triples": [["Acme Werke", "is in", "Ulm"]]},
    {"id": "3", "title": "Bonn", "text": "Bonn buys carts.", "entities": [], "triples": [["Bonn", "buys", "carts"]]},
]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    made = Shell(tmp_path, HashedEmbedder(), monkeypatch, capsys)
    (tmp_path / "records.jsonl").write_text("\n".join(map(json.dumps, RECORDS)), "utf-8")
    return made


def imported(shell: Shell, *options: str) -> Any:
    return shell.data("import", shell.folder / "records.jsonl", "--format", "triples", "--schema", "open", *options)


def test_names_of_one_thing_are_one_node_and_are_listed_with_their_reason(shell: Shell) -> None:
    assert imported(shell)["entities"] == 4
    (group,) = shell.data("entities", "--merged")
    assert {group["name"], *(alias["name"] for alias in group["aliases"])} == {"Acme-Werke", "Acme Werke"}
    assert [alias["rule"] for alias in group["aliases"]] == ["spelling"]
    assert all(place["end"] > place["start"] for place in group["aliases"][0]["evidence"])
    shown = shell("entities", "--kb", "kb", "--merged").out
    assert "1 entities with several names" in shown
    assert "spelling, 0.97" in shown
    assert len(shell.data("entities", "--merged", "--search", "WERKE")) == 1
    assert shell.data("entities", "--merged", "--search", "nothing") == []
    assert shell.sound()
