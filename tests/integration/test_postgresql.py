"""Ledgers in PostgreSQL: a real server, its failures, and the way between it and SQLite.

All other tests that open knowledge bases in their own process run on it with BANYAN_TEST_POSTGRESQL=1.
"""

import hashlib
import json
import logging
import re
import zipfile
from contextlib import closing

import pytest
from banyan.graph_store.integrity.backup import back_up, restore
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.layout import Layout
from banyan.graph_store.ledger.database import Database
from banyan.graph_store.ledger.extractions import Extractions
from banyan.graph_store.ledger.tables import METADATA
from banyan.graph_store.store_errors import DatabaseError, UnknownKnowledgeBaseError, WriterBusyError
from banyan.schemas.edits import EntityRef, Rename
from banyan.server.responses import status_of
from pydantic import SecretStr
from sqlalchemy import make_url

from .. import hashed_embedding, scripted
from ..newest import dump_graph, newest
from ..postgresql import PASSWORD

pytestmark = pytest.mark.integration

TEXTS = scripted.TEXTS | scripted.WAITING


@pytest.fixture
def database(postgresql, request):
    postgresql.start()
    return SecretStr(postgresql.database(f"test-{hashlib.sha1(request.node.name.encode()).hexdigest()}"))


@pytest.fixture
def shop(tmp_path, hashed_embedder, database):
    return scripted.Workshop(tmp_path / "shop", hashed_embedder, database_url=database)


OWN = re.compile(r'"(?:epoch|vectors_identity)": "?\w+"?')


def rows(layout):
    """All that a ledger holds, but what is different each time it is made."""
    with closing(Database(layout.ledger)) as ledger:
        return {table.name: sorted(OWN.sub("", repr(tuple(row))) for row in ledger.rows(f"SELECT * FROM {table.name}"))
                for table in METADATA.sorted_tables}


def without_times(tables):
    return {name: [row.rpartition("'20")[0] or row for row in found] for name, found in tables.items()
            if name not in ("tokens", "meta")}  # PostgreSQL counts transactions, and SQLite each row


def test_builds_updates_and_deletions_give_the_same_as_in_sqlite(tmp_path, hashed_embedder, database):
    found = []
    for settings in ({}, {"database_url": database}):
        shop = scripted.Workshop(tmp_path / str(len(found)), hashed_embedder, **settings)
        shop.build(shop.write(TEXTS))
        shop.build(shop.write({"c.txt": "Bob:Person --employer--> Zeta:Organization.", "e.txt": TEXTS["a.txt"]}))
        with shop.resources() as resources:
            resources.delete_documents("kb", [newest(resources).kb.documents.entries()[0].id])
            paths = rows(Layout.by(shop.settings, "kb"))
            found.append((shop.dump(), shop.vectors(), shop.problems(),
                          json.loads(json.dumps(without_times(paths)).replace(str(shop.folder), ""))))
    assert found[0][2] == []
    assert found[1] == found[0]


def called(name):
    return Rename(entity=EntityRef(name="Nobody", type="Person"), name=name)


def test_a_backup_goes_from_one_database_to_the_other_and_back(shop, tmp_path, hashed_embedder):
    shop.build(shop.write(TEXTS))
    there, here = Layout.by(shop.settings, "kb"), Layout.of(tmp_path / "sqlite", "kb")
    with KnowledgeBase.open(shop.settings.home, "kb", hashed_embedder, database=shop.settings.database) as kb, \
            kb.writing():
        assert kb.edits.record(called("Ada Byron"), "Eva", "") == 1
    written = rows(there)
    manifest = back_up(there, tmp_path / "1.zip", hashed_embedder)
    assert manifest.documents == len(TEXTS)
    with zipfile.ZipFile(tmp_path / "1.zip") as archive:
        assert sorted(archive.namelist()) == ["ledger.sqlite", "manifest.json"]
    restore(tmp_path / "1.zip", here, hashed_embedder)
    back_up(here, tmp_path / "2.zip", hashed_embedder)
    again = Layout.by(shop.settings, "again")
    restore(tmp_path / "2.zip", again, hashed_embedder)
    restore(tmp_path / "1.zip", there, hashed_embedder, force=True)
    for layout in (here, again, there):
        kept = {name: found for name, found in rows(layout).items() if name != "meta"}
        assert kept == {name: found for name, found in written.items() if name in kept}
    graph = shop.dump()
    report = shop.build(shop.write({"z.txt": "Zoe:Person --employer--> Acme:Organization."}))
    assert report["documents"] == len(TEXTS) + 1
    with KnowledgeBase.open(shop.settings.home, "again", hashed_embedder, database=shop.settings.database) as kb:
        assert verify(kb) == []
        assert dump_graph(kb.graph) == graph
        with kb.writing():
            before = kb.extractions.state().position
            kb.documents.delete(kb.documents.entries()[0].id)
            assert kb.extractions.state().position > before
            number = kb.edits.record(called("Countess Ada"), "Eva", "")
        assert number == 2, "numbers go on behind those restored"


def test_one_writes_at_a_time_and_readers_go_on_to_what_was_written(shop, hashed_embedder):
    shop.build(shop.write({"a.txt": TEXTS["a.txt"]}))
    settings = shop.settings
    with shop.resources() as resources, resources.snapshot("kb") as snapshot:
        before = snapshot.kb
        with KnowledgeBase.open(settings.home, "kb", hashed_embedder, database=settings.database) as other, \
                other.writing():
            with pytest.raises(WriterBusyError, match="another process is writing to 'kb'"):
                resources.delete_documents("kb", [before.documents.entries()[0].id])
            with pytest.raises(WriterBusyError, match="another process is writing to 'kb'"):
                resources.drop("kb")
        shop.build(shop.write({"b.txt": TEXTS["b.txt"]}))
        assert before.documents.count_documents() == 1, "one moment"
        assert newest(resources).kb.documents.count_documents() == 2
        resources.drop("kb")
        with pytest.raises(UnknownKnowledgeBaseError):
            newest(resources)


@pytest.mark.slow
def test_a_server_that_stops_in_the_midst_of_a_build_is_named_and_the_next_run_goes_on(
        shop, tmp_path, hashed_embedder, postgresql, monkeypatch):
    plain = scripted.Workshop(tmp_path / "plain", hashed_embedder)
    plain.build(plain.write(TEXTS))
    save, stopped = Extractions.save, []

    def saving(self, chunk, *rest):
        if len(stopped) == 1:
            postgresql.stop()
        stopped.append(chunk)
        save(self, chunk, *rest)

    with shop.resources() as resources:
        with monkeypatch.context() as patch:
            patch.setattr(Extractions, "save", saving)
            # Of the tasks that fail, one had a connection and the next looks for one: either is told.
            with pytest.raises(DatabaseError, match=r"was lost: what was committed|cannot be reached: check that it"):
                scripted.run_build(resources, shop.given(shop.write(TEXTS)))
        with pytest.raises(DatabaseError, match="cannot be reached: check that it runs") as told:
            newest(resources)
        assert status_of(told.value) == 503
        assert f"127.0.0.1:{postgresql.port}" in told.value.local_message
        assert f"127.0.0.1:{postgresql.port}" not in str(told.value), "where it is, is not every client's business"
        postgresql.start()
        scripted.run_build(resources, shop.given(shop.write(TEXTS)))
        assert dump_graph(newest(resources).kb.graph) == plain.dump()
    assert max(shop.scripted.extracted.values()) <= 2, "one was extracted and not stored"
    assert shop.problems() == []


@pytest.mark.parametrize(("change", "said"), [
    ({"database": "nowhere"}, 'database "nowhere" does not exist'),
    ({"port": 1}, "refused"),
    ({"username": "stranger", "password": "p/w@:1"}, "authentication failed"),
])
def test_why_there_is_no_way_to_the_server_is_said_without_the_password(postgresql, tmp_path, capsys, monkeypatch,
                                                                        change, said, caplog):
    caplog.set_level(logging.DEBUG)
    url = make_url(postgresql.url()).set(**change).render_as_string(hide_password=False)
    monkeypatch.setenv("BANYAN_DATABASE_URL", url)
    shell = scripted.Shell(tmp_path, hashed_embedding.HashedEmbedder(), monkeypatch, capsys)
    for command in (("list",), ("build", tmp_path, "--kb", "kb"), ("ask", "Who?", "--kb", "kb"),
                    ("backup", "--kb", "kb", "-o", "x.zip")):
        result = shell(*command).refused(said, "BANYAN_DATABASE_URL")
        for secret in (PASSWORD, "p/w@:1", "p%2Fw"):
            assert secret not in result.err + result.out + caplog.text
