"""The audit log: who changed what, through the server and on the command line, and what it never holds."""

import json
import os

import pytest
from banyan.cli import main as cli
from banyan.runtime import audit
from banyan.server.app import create_app
from banyan.server.security.keys import SCOPES, Keys
from typer.testing import CliRunner

from ... import in_process, rest, small_base

KB = "/api/knowledge-bases"
QUESTION = "Where was the mathematician Ada Byron born?"


def told(home):
    return [(entry.who, entry.action, entry.knowledge_base, entry.what) for entry in audit.entries(home)]


@pytest.fixture(autouse=True)
def others(tmp_path, hashed_embedder):
    small_base.people(tmp_path, "others", hashed_embedder)


def test_every_change_through_the_server_is_its_clients(resources, tmp_path):
    key = Keys.of(resources.settings).make("ann", SCOPES)
    ann = {"X-API-Key": key}
    with in_process.client(create_app(resources), headers=ann) as client:
        asked = client.post(f"{KB}/people/ask", json={"question": QUESTION, "thread": "t"})
        assert asked.status_code == 200, asked.text
        built = rest.built(client, "people", {"eve.md": "# Eve Holt\n\nEve Holt was a painter.\n"})
        assert built["state"] == "done", built["error"]
        edit = {"change": "rename", "entity": "Carl Berg", "name": "Carl August Berg", "who": "Ann Other"}
        number = client.post(f"{KB}/people/edits", json=edit).json()["number"]
        assert client.delete(f"{KB}/people/edits/{number}", params={"who": "auto"}).status_code == 204
        (edited,) = client.get(f"{KB}/people/edits").json()["items"]
        assert (edited["who"], edited["undone_by"]) == ("Ann Other (ann)", "auto (ann)")
        verdict = {"verdict": "merge", "first": "Ulm", "second": "Turku", "who": "x"}
        assert client.post(f"{KB}/people/entities/decisions", json=verdict).status_code == 200
        for types in ('{"name": "Person"}', '{"name": "Person"}, {"name": "City"}'):
            schema = {"text": f'{{"name": "s", "entity_types": [{types}]}}', "who": "x"}
            assert client.put(f"{KB}/new/schema", json=schema).status_code == 200
        assert client.put(f"{KB}/people/settings", json={"growth": "off", "resolve": True}).status_code == 200
        assert client.delete(f"{KB}/people/document", params={"id": "nowhere"}).status_code == 404
        assert client.delete(f"{KB}/people/document", params={"id": "carl"}).status_code == 204
        assert client.patch(f"{KB}/people", json={"name": "persons"}).status_code == 200
        assert client.delete(f"{KB}/persons").status_code == 204
        added = {"knowledge_base": "others", "document": "m.md", "text": "Mia Lund was a chemist."}
        assert not rest.mcp(client, "tools/call", name="add_document", arguments=added)["isError"]
        model = {"endpoint": "http://127.0.0.1:9/v1", "key": "sk-secret"}
        assert client.put("/api/model", json=model).status_code == 200
    (_, *done) = told(tmp_path)
    run = done.pop(-2)
    assert (run[:3], run[3][:4]) == (("ann", "build", "others"), "run ")
    assert done == [
        ("ann", "build", "people", f"run {done[0][3].removeprefix('run ')}"),
        ("ann", "edit", "people", f"number {number}"),
        ("ann", "edit", "people", ""), ("ann", "decide", "people", "merge two entities"),
        ("ann", "schema", "new", ""), ("ann", "decide", "new", "1 on the schema"),
        ("ann", "settings", "people", "growth off, resolve True"),
        ("ann", "delete", "people", "1 document: carl"), ("ann", "rename", "people", "to persons"),
        ("ann", "drop", "persons", ""), ("ann", "set model", "", "127.0.0.1:9")]
    text = (tmp_path / audit.FILE).read_text("utf-8")
    assert not [word for word in (key, "sk-secret", QUESTION, "mathematician", "painter", "chemist") if word in text]


def test_commands_are_the_system_users_and_the_command_shows_them(resources, tmp_path, monkeypatch):
    monkeypatch.setenv("BANYAN_HOME", str(tmp_path))
    monkeypatch.setenv("LOGNAME", "eve")
    run = CliRunner().invoke
    for command in (["key", "ann", "--scope", "ask", "--kb", "people"], ["key", "ann", "--revoke"],
                    ["drop", "people", "--yes"], ["rename", "others", "people"]):
        assert run(cli.app, command).exit_code == 0, command
    assert told(tmp_path) == [
        ("user:eve", "make key", "", "ann: ask for people"), ("user:eve", "revoke key", "", "ann"),
        ("user:eve", "drop", "people", ""), ("user:eve", "rename", "others", "to people")]
    shown = run(cli.app, ["audit", "--kb", "others"], env={"COLUMNS": "200"}).output
    assert "to people" in shown
    assert "revoke" not in shown
    listed = json.loads(run(cli.app, ["audit", "--json"]).output)
    assert [entry["action"] for entry in listed] == ["make key", "revoke key", "drop", "rename"]


def test_the_log_is_bounded_for_its_owner_alone_and_takes_no_line_of_anothers(tmp_path, monkeypatch):
    monkeypatch.setattr(audit, "MAX_BYTES", 2_000)
    with audit.acting("ann"):
        for number in range(300):
            audit.record(tmp_path, "delete", "kb", f"{number}\n{{\"who\": \"bob\"}}" + "x" * 5_000 * (number == 7))
    files = sorted(tmp_path.glob("audit*.jsonl"))
    assert len(files) == audit.KEPT + 1
    assert all(path.stat().st_size <= 2_000 for path in files)
    kept = [entry.what for entry in audit.entries(tmp_path)]
    assert [int(what.partition("\n")[0]) for what in kept] == list(range(300 - len(kept), 300))
    assert {entry.who for entry in audit.entries(tmp_path)} == {"ann"}
    if os.name == "posix":
        assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
