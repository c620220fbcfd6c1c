"""Each check of `banyan verify`: a store in which exactly this is broken, and the words that name it."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest
from banyan.graph_store.graph import graph_file
from banyan.graph_store.graph.graph_file import NodeLink
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.ledger.tables import ENTITY_ALIASES
from banyan.graph_store.vectors.vector_store import KINDS
from banyan.ingest.chunking import chunk_document, chunk_id
from banyan.schemas.delta import Decision
from banyan.schemas.documents import Document

from .. import scripted, small_base

pytestmark = pytest.mark.sqlite  # its tests copy the folder with the ledger


WAITING = {"e.txt": "Ada:Person --admires--> Bob:Person.", "f.txt": "Bob:Person --admires--> Cem:Person."}


@pytest.fixture(scope="module")
def built(tmp_path_factory, hashed_embedder):
    """A base that has something of everything: failures, waiting facts, a grown and an edited schema."""
    shop = scripted.Workshop(tmp_path_factory.mktemp("verify"), hashed_embedder)
    shop.write({**scripted.TEXTS, **WAITING, "g.txt": "Dua:Person --despises--> Ada:Person."})
    report = shop.build([str(shop.documents)])
    assert report["chunks_failed"] == 0
    with shop.resources() as resources:
        assert resources.decide("kb", [Decision(kind="relation", name="knows", verdict="rename",
                                                new_name="is_acquainted_with")], "Eva")
        resources.update_tree("kb")
        resources.writers.knowledge_base("kb").calls.record(key="k", step="extract", response="r", prompt_tokens=7,
                                                           completion_tokens=3)
    assert shop.problems() == []
    return shop


@pytest.fixture
def kb(built, tmp_path):
    home = shutil.copytree(built.settings.home, tmp_path / "home")
    with KnowledgeBase.open(home, "kb", built.embedder) as opened:
        yield opened


def whats(kb):
    return " | ".join(problem.what for problem in verify(kb))


def sql(kb, *statements):
    kb.database.execute("PRAGMA foreign_keys=OFF")
    for statement in statements:
        assert kb.database.execute(statement) != 0, "nothing was broken"


def test_a_ledger_that_was_cut_inside_its_last_page_is_named(built, tmp_path):
    home = shutil.copytree(built.settings.home, tmp_path / "home")
    ledger = home / "kb" / "ledger.sqlite"
    with closing(sqlite3.connect(ledger)) as database:  # the last page is a free one, which no query reads
        database.executescript("CREATE TABLE last (x); INSERT INTO last VALUES (zeroblob(20000)); DROP TABLE last;")
    ledger.write_bytes(ledger.read_bytes()[:-100])
    with KnowledgeBase.open(home, "kb", built.embedder) as opened:
        assert "the ledger: its file was cut inside its last page" in whats(opened)


def chunk(document):
    return f"(SELECT id FROM chunks WHERE document = '{document}.txt')"


# Each list is broken at once, in places of its own: a statement, and the words that name what it broke.
@pytest.mark.parametrize("broken", [
    [("INSERT INTO rejections VALUES ('none', 'a.txt', 'malformed', '', 'x', '', '', 1)",
      "refers to a missing chunks"),
     ("DROP INDEX schema_requests_by_chunk", "the index schema_requests_by_chunk is missing"),
     ("ALTER TABLE tokens DROP COLUMN completion", "the column tokens.completion is missing"),
     ("ALTER TABLE tokens ADD COLUMN more TEXT", "the column tokens.more is not of this format"),
     ("CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM chunks; END", "the trigger t is not of this format"),
     ("CREATE VIEW v AS SELECT 1", "the view v is not of this format")],
    [(f"DELETE FROM extractions WHERE chunk = {chunk('a')}",
      "document 'a.txt', chunk 0 was extracted, but its extraction"),
     ("UPDATE documents SET text = replace(text, 'Acme', 'Emca') WHERE id = 'b.txt'",
      "document 'b.txt', chunk 0: its text is not the one that its id was made from"),
     ("UPDATE chunks SET \"end\" = \"end\" - 1 WHERE document = 'c.txt'", "document 'c.txt', chunk 0: its text is not"),
     ("UPDATE chunks SET ordinal = 5 WHERE document = 'd.txt'", "document 'd.txt', chunk 5: chunk 0 was expected")],
    [(f"DELETE FROM facts WHERE chunk = {chunk('a')}", "document 'a.txt', chunk 0: its facts are not what the schema")],
    [("UPDATE meta SET value = '{\"tree\": [\"x\"]}' WHERE key = 'state'", "cannot be read (ValueError"),
     ("DELETE FROM meta WHERE key = 'settings'", "does not say which embedding model")],
    [("DELETE FROM schema_versions WHERE version = 2", "there is no version 2 of the schema")],
    [("UPDATE schema_versions SET schema = '{' WHERE version = 3", "version 3 of the schema is damaged in the ledger")],
    [(f"UPDATE extractions SET extraction = replace(extraction, '1999', '1998') WHERE chunk = {chunk('a')}",
      "document 'a.txt', chunk 0: its attribute_values, rejections are not what the schema admits"),
     (f"INSERT INTO repairs VALUES ({chunk('c')}, 'swapped', 3)", "document 'c.txt', chunk 0: its repairs are not"),
     ("DELETE FROM schema_requests WHERE document = 'e.txt'",
      "document 'e.txt', chunk 0: its schema_requests are not"),
     ("DELETE FROM rejections WHERE document = 'g.txt'", "document 'g.txt', chunk 0: its rejections are not")],
    [(f"UPDATE extractions SET extraction = '{{' WHERE chunk = {chunk('a')}",
      "document 'a.txt', chunk 0: the extraction of chunk")],
    [("UPDATE communities SET members = '[]', keywords = '[]'",
      "the communities of level 0 do not partition the entities")],
], ids=["tables", "documents", "rows", "settings", "versions", "version", "facts", "extraction", "members"])
def test_what_is_broken_in_the_ledger_is_named(kb, broken):
    sql(kb, *(statement for statement, _ in broken))
    found = verify(kb)
    named = " | ".join(problem.what for problem in found)
    assert [words for _, words in broken if words not in named] == [], named
    assert all(problem.fix for problem in found)


@pytest.mark.parametrize("changes", [
    {"a": ("attribute_values", "start = -1"), "b": ("facts", '"end" = 9999'), "c": ("mentions", '"end" = start')},
    {"a": ("attribute_values", "attribute = 'age'")}])
def test_what_is_broken_in_a_fact_is_named(kb, changes):
    sql(kb, *(f"UPDATE {table} SET {change} WHERE ordinal = 0 AND chunk = {chunk(document)}"
              for document, (table, change) in changes.items()))
    named = whats(kb)
    for document, (table, _) in changes.items():
        assert f"document '{document}.txt', chunk 0: its {table} are not what the schema admits" in named
    small_base.reindex(kb)
    assert verify(kb) == [], "facts are derived again from the extractions"


def test_a_graphs_file_that_is_not_the_ledgers_is_named(kb):
    kb.save_graph()
    state, other = graph_file.load(kb.layout.graph)
    graph_file.save(kb.layout.graph, state, NodeLink(other["graph"], other["nodes"], other["edges"][1:]))
    assert "the graph's file graph.json is not what the ledger's rows give" in whats(kb)


def test_vectors_that_are_gone_are_named(kb):
    for kind in KINDS:
        kb.vectors.drop(kind, sorted(kb.vectors.ids(kind))[:1])
    assert {problem.what for problem in verify(kb)} == {f"the vectors of the {kind}: 1 missing, 0 left over"
                                                       for kind in KINDS}
    small_base.reindex(kb)
    assert verify(kb) == []


def test_aliases_that_nothing_gives_are_named(kb):
    other_names = "the names that count as one entity's are not those that the ledger gives"
    first, second = kb.graph.mentions.entity_ids()[:2]
    kb.entities.replace(kb.entities.aliases(), kb.entities.state(kb.extractions.state().position, ""))
    assert other_names not in whats(kb)
    evidence = json.dumps([[kb.documents.done()[0], 0, 1]])
    kb.database.insert(ENTITY_ALIASES, [(first, second, "Person", second, "manual", 1, evidence)], replace=True)
    assert other_names in whats(kb)


def test_a_list_that_goes_on_in_another_chunk_is_sound_stored_and_waiting(tmp_path, hashed_embedder):
    listed = "The office keeps these papers:\n" + "\n".join(f"- paper {number} of the office" for number in range(60))
    with small_base.create(tmp_path, "kb", hashed_embedder) as kb, kb.writing():
        small_base.put_plain(kb, "papers", listed, max_tokens=100)
        small_base.finish(kb)
        assert any(chunk.opening for chunk in kb.documents.chunks())
        assert whats(kb) == ""
        longer = Document(id="papers", title="", text=f"{listed}\n- a last one", source="test")
        small_base.store(kb, longer, max_tokens=100)
        assert kb.database.count("SELECT count(*) FROM revisions") == 1
        assert whats(kb) == ""


def test_a_base_from_before_relative_dates_were_read_is_sound(tmp_path, hashed_embedder):
    note = Document(id="note", title="", text="Ada left Ulm yesterday.", source="test", metadata={"date": "2024-03-05"})
    (chunk,) = chunk_document(note, max_tokens=100, overlap_tokens=0)
    old = chunk.model_copy(update={"id": chunk_id("note", "", "", note.text, 0)})
    assert old.id != chunk.id
    with small_base.create(tmp_path, "kb", hashed_embedder) as kb, kb.writing():
        kb.documents.put(note, [old])
        kb.extractions.save(old.id, "test", small_base.said())
        small_base.finish(kb)
        assert whats(kb) == ""
