"""Backups over HTTP: whole, one at a time, and apart from what other clients ask."""

import threading

import pytest
from banyan.graph_store.integrity.backup import restore
from banyan.graph_store.layout import Layout
from banyan.runtime.safe_files import own_folder
from banyan.server.app import create_app
from banyan.server.routes import base_routes

from ... import in_process
from ...newest import newest

PEOPLE = "/api/knowledge-bases/people"


def test_a_backup_that_is_downloaded_can_be_restored(client, tmp_path, hashed_embedder):
    answer = client.get(f"{PEOPLE}/backup")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].endswith('filename="people.zip"')
    file, other = tmp_path / "people.zip", tmp_path / "other"
    file.write_bytes(answer.content)
    restore(file, Layout.of(other, "again"), hashed_embedder)
    assert not [*tmp_path.glob("*.backup")], "nothing of its text is left"
    with in_process.opened(other, hashed_embedder) as resources:
        assert newest(resources, "again").kb.documents.count_documents() > 0


def test_a_second_backup_is_refused_at_once_and_others_are_answered(client, monkeypatch):
    begun, go_on, copy = threading.Event(), threading.Event(), base_routes.back_up

    def slow(*given):
        begun.set()
        assert go_on.wait(30)
        return copy(*given)

    monkeypatch.setattr(base_routes, "back_up", slow)
    answers = []
    first = threading.Thread(target=lambda: answers.append(client.get(f"{PEOPLE}/backup")))
    first.start()
    try:
        assert begun.wait(30)
        many = [client.get(f"{PEOPLE}/backup") for _ in range(50)]
        assert {answer.status_code for answer in many} == {503}
        assert {answer.headers["retry-after"] for answer in many} == {"5"}
        assert "another backup" in many[0].json()["error"]["message"]
        assert client.get(f"{PEOPLE}/documents").status_code == 200
        assert not answers, "nothing of that waited for the first"
    finally:
        go_on.set()
        first.join()
    assert answers[0].status_code == 200
    assert client.get(f"{PEOPLE}/backup").status_code == 200


@pytest.mark.sqlite
def test_what_killed_processes_left_goes_when_a_server_starts(tmp_path, hashed_embedder):
    grave = tmp_path / ".dropped-0123" / "old"
    grave.mkdir(parents=True)
    (grave / "ledger.sqlite").write_text("all that the documents said")
    killed = tmp_path / ".0123.restore"
    (killed / "new").mkdir(parents=True)
    (killed / "new" / "ledger.sqlite").write_text("all that the documents say")
    (killed / ".lock").touch()
    upload = tmp_path / ".uploads" / "read" / "killed" / "a.md"
    upload.parent.mkdir(parents=True)
    upload.touch()
    with (own_folder(tmp_path, ".at-work", ".restore") as at_work,
          in_process.opened(tmp_path, hashed_embedder, "people") as resources,
          in_process.client(create_app(resources))):
        stay = [path.name for path in tmp_path.iterdir() if not path.name.startswith(("server", "audit", ".uploads"))]
        assert sorted(stay) == sorted([at_work.name, "people"])
        assert not upload.exists()
