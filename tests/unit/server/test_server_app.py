"""The app in process: what clients are told of errors, what the description promises, the page's files, commands."""

import json
import re
from pathlib import Path

import pytest
from banyan.agents.retrieval.state import QuestionError
from banyan.cli import main as cli
from banyan.config import Settings
from banyan.graph_store.store_errors import UnknownKnowledgeBaseError, WriterBusyError
from banyan.models.reasoner import ReasonerError
from banyan.server.responses import detail_of, status_of
from banyan.server.runs.jobs import new_job
from banyan.server.security.keys import KEYS_FILE, Keys
from typer.testing import CliRunner

from ... import in_process
from ...waiting import wait_for

KB = "/api/knowledge-bases"
HOME = Path("/srv/banyan-home")


@pytest.mark.parametrize(("error", "status"), [
    (UnknownKnowledgeBaseError("x", HOME, ["secret"]), 404), (WriterBusyError("x"), 409), (QuestionError("x"), 422),
    (ReasonerError(f"in {HOME}"), 503), (PermissionError(13, "Permission denied", f"{HOME}/x"), 503),
    (KeyError(f"{HOME}"), 500)])
def test_an_error_has_the_status_of_who_can_mend_it_and_tells_no_path(error, status):
    told = detail_of(error, Settings(home=HOME, _env_file=None)).message
    assert (status_of(error), str(HOME) in told, "secret" in told) == (status, False, False)


def test_a_defect_is_a_500_that_tells_no_more_than_its_id(client, resources, monkeypatch):
    monkeypatch.setattr(resources, "snapshot", lambda _: 1 / 0)
    said = client.get(f"{KB}/people/documents")
    error = said.json()["error"]
    assert (said.status_code, error["type"], bool(error["request_id"])) == (500, "InternalError", True)
    assert "division" not in said.text


@pytest.mark.sqlite
def test_a_damaged_knowledge_base_does_not_hide_the_others(client, tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "ledger.sqlite").write_bytes(b"no ledger" * 1000)
    listed = {one["name"]: one for one in client.get(KB).json()["items"]}
    assert listed["people"]["documents"] == 4
    assert listed["broken"]["problem"]
    assert client.get(f"{KB}/broken").status_code == 409


def test_a_build_that_ended_several_processes_is_not_taken_up_again(app):
    app.state.service.builds.jobs.add(new_job("people", taken_up=3).having(state="running"))
    with in_process.client(app) as client:
        wait_for(lambda: client.get("/api/builds").json()["items"][0]["state"] != "running")
        shown = client.get("/api/builds").json()["items"][0]
    assert (shown["state"], shown["error"]["type"]) == ("failed", "ServerStopped")
    assert "ended 4 times while it ran this build" in shown["error"]["message"]


def test_keys_are_made_listed_and_taken_back_by_a_command(monkeypatch, tmp_path):
    monkeypatch.setenv("BANYAN_HOME", str(tmp_path))
    run = CliRunner().invoke
    made, keys = run(cli.app, ["key", "ann", "--scope", "read", "--scope", "ask"]), Keys(tmp_path / KEYS_FILE)
    (secret,) = (line for line in made.output.splitlines() if line.startswith("banyan_"))
    assert keys.find(secret).scopes == ("read", "ask")
    assert "ann" in run(cli.app, ["key"]).output
    assert "--scope" in str(run(cli.app, ["key", "bob", "--scope", "everything"]).exception)
    assert run(cli.app, ["key", "ann", "--revoke"]).exit_code == 0
    made = run(cli.app, ["key", "bob", "--scope", "ask", "--kb", "papers", "--kb", "notes"])
    assert "there is no knowledge base papers yet" in made.output
    assert [(key.name, key.knowledge_bases) for key in keys.all()] == [("bob", ("notes", "papers"))]
    assert "notes, papers" in run(cli.app, ["key"], env={"COLUMNS": "200"}).output
    assert run(cli.app, ["key", "bob", "--revoke"]).exit_code == 0
    assert keys.all() == ()


WEB = Path(__file__).parents[3] / "server" / "web"
LANGUAGES = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted((WEB / "strings").glob("*.json"))}
PLACEHOLDER = re.compile(r"\{(\w+)\}")


def forms(text):
    return [text] if isinstance(text, str) else list(text.values())


def test_both_languages_have_the_same_texts_with_the_same_gaps():
    english, chinese = LANGUAGES["en"], LANGUAGES["zh"]
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        gaps = {gap for form in forms(text) for gap in PLACEHOLDER.findall(form)} | {"n"}
        for form in forms(chinese[key]):
            assert set(PLACEHOLDER.findall(form)) | {"n"} == gaps, key
