"""Forgetting an entity: every document that mentions it by any name goes, shown before, and no other one."""

import banyan
import pytest
from banyan.graph_store.store_errors import EntityDecisionError

from ... import scripted

shell = scripted.shell
TEXTS = {"ada.txt": "Ada:Person --employer--> Acme:Organization. It rained.",
         "note.txt": "Nothing is stated here. Yet Ada was there. And ADA left.",
         "other.txt": "Bob:Person --employer--> Beko:Organization. Adam and Adalbert stayed."}


@pytest.fixture
def kb(tmp_path, hashed_embedder):
    with scripted.Workshop(tmp_path / "home", hashed_embedder).resources() as resources:
        kb = banyan.open("kb", resources=resources)
        kb.add(*({"id": name, "text": text} for name, text in TEXTS.items()))
        yield kb


def test_every_document_that_mentions_it_goes_also_where_nothing_was_extracted(kb):
    shown = kb.forget("Ada", dry_run=True)
    assert shown == ("Ada", {"ada.txt": ["Ada:Person --employer--> Acme:Organization."],
                             "note.txt": ["Yet Ada was there.", "And ADA left."]})
    assert len(kb.documents()) == 3
    assert kb.forget("Ada") == shown
    assert [entry.id for entry in kb.documents()] == ["other.txt"]
    assert kb.entities("Ada") == []


def test_an_unknown_name_deletes_nothing(kb):
    with pytest.raises(EntityDecisionError, match="there is no entity 'Eve'"):
        kb.forget("Eve")
    assert len(kb.documents()) == 3


def test_the_command_shows_what_it_deletes_and_asks(shell):
    folder = shell.folder / "texts"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    assert shell("build", folder, "--kb", "kb", "--schema", shell.schema).code == 0
    shown = shell("forget", "Ada", "--kb", "kb", "--dry-run").out
    assert "mentioned in 2 documents" in shown
    assert "Yet Ada was there." in shown
    assert shell("forget", "Ada", "--kb", "kb", "--yes").code == 0
    assert "other.txt" in (left := shell("documents", "--kb", "kb").out)
    assert "note.txt" not in left
