"""Backups over HTTP: whole, one at a time, and apart from what other clients ask."""

import threading

from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.graph_store.integrity.restore import restore
from banyan.graph_store.layout import Layout
from banyan.server.routes import base_routes

from ...newest import newest

PEOPLE = "/api/knowledge-bases/people"


def left(home):
    return list(home.glob("*.backup"))


def test_a_backup_that_is_downloaded_can_be_restored(client, tmp_path, hashed_embedder):
    answer = client.get(f"{PEOPLE}/backup")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].endswith('filename="people.zip"')
    file, other = tmp_path / "people.zip", tmp_path / "other"
    file.write_bytes(answer.content)
    restore(file, Layout.of(other, "again"), hashed_embedder, lambda *_: None)
    assert left(tmp_path) == [], "nothing of its text is left"
    with Resources(Settings(home=other, llm_base_url=None, _env_file=None), hashed_embedder) as resources:
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
