"""What a deleted document said is nowhere in the files of its knowledge base, nor in backups made afterwards."""

import zipfile

import pytest
from banyan.graph_store.integrity.backup import back_up
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.layout import Layout
from banyan.runtime.budgets import charge_calls

from .. import scripted

shop = scripted.shop

STAYS = {"a.txt": "Ada:Person --employer--> Acme:Organization. Acme:Organization.founded = 1999.",
         "b.txt": "Acme:Organization --located_in--> Bonn:Place. Bob:Person --employer--> Acme:Organization."}
# It brings entities and a relation that the schema does not know, each with a word of its own.
GOES = {"qvarnholm.txt": "Zyxomma:Person --employer--> Qvarnholm:Organization. "
                         "Zyxomma:Person --bjurstroms--> Ada:Person. The password is Ficklampa."}
WORDS = ("zyxomma", "qvarnholm", "bjurstrom", "ficklampa")


def found(folder):
    """The words that stand in any file, with the file."""
    return [(path.relative_to(folder).as_posix(), word) for path in sorted(folder.rglob("*")) if path.is_file()
            for data in [path.read_bytes().lower()] for word in WORDS
            if word.encode() in data or word.encode("utf-16-le") in data]


@pytest.mark.parametrize("others", [0, 30])
def test_no_file_has_a_word_of_what_was_deleted(shop, tmp_path, others):
    texts = STAYS | {f"p{number}.txt": f"P{number}:Person --knows--> P{number + 1}:Person." for number in range(others)}
    shop.build(shop.write(texts | GOES))
    home = shop.settings.home
    with KnowledgeBase.open(home, "kb", shop.embedder) as kb:
        kb.calls.record(key="k", step="answer", response="The password is Ficklampa.", prompt_tokens=5,
                        completion_tokens=5, model="m")
        with charge_calls(build="run", documents={"a.txt": 1, "qvarnholm.txt": 1}):
            for key in ("shared", "another"):
                kb.calls.record(key=key, step="extract", response="{}", prompt_tokens=9, completion_tokens=5, model="m")
        paid = kb.calls.total()
    assert {word for _, word in found(home)} == set(WORDS), "the test would find them"
    with shop.resources() as resources:
        resources.delete_documents("kb", ["qvarnholm.txt"])
        assert found(home / "kb") == []
        assert resources.knowledge_base("kb").calls.total() == paid, "what was paid stays counted"
        back_up(Layout.by(shop.settings, "kb"), tmp_path / "kb.zip", shop.embedder, lambda *_: None)
    assert found(home / "kb") == []
    with zipfile.ZipFile(tmp_path / "kb.zip") as archive:
        archive.extractall(tmp_path / "unpacked")
    assert found(tmp_path / "unpacked") == []
    assert shop.problems() == []


def test_what_is_paid_for_is_not_asked_again_after_a_deletion(shop):
    paths = shop.write(STAYS | GOES)
    shop.build(paths)
    with shop.resources() as resources:
        resources.delete_documents("kb", ["qvarnholm.txt"])
    shop.scripted.extracted.clear()
    shop.scripted.summarised.clear()
    shop.build(shop.write(STAYS))
    assert not shop.scripted.extracted
    assert not shop.scripted.summarised
