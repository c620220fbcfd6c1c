"""Builds of the server: what is uploaded, how many may wait and for whom, what ends them, what is left of them."""

import asyncio
import io
import os
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from banyan.agents.construction.state import BuildContext
from banyan.runtime.audit import LOCAL
from banyan.schemas.errors import BanyanError
from banyan.server.app import create_app
from banyan.server.responses import TooManyRequestsError
from banyan.server.runs.builds import FileNameError, reading_files, safe_names, sweep_files
from banyan.server.runs.jobs import MOST_OF_ONE, MOST_QUEUED, BuildOptions, Jobs, check_quotas, new_job
from banyan.server.security.keys import SCOPES, WORK
from banyan.server.server_database import ServerDatabase
from fastapi import UploadFile
from hypothesis import given
from hypothesis import strategies as st

from ... import in_process, rest, waiting

PLAIN, REVIEWED = BuildOptions(context=BuildContext()), BuildOptions(context=BuildContext(review=True))


def jobs(count, state, *, kb="kb{}", client="client{}", options=PLAIN):
    made = (new_job(kb.format(number), client=client.format(number), options=options) for number in range(count))
    return [job.having(id=f"{state}{number}", state=state) for number, job in enumerate(made)]


@pytest.mark.parametrize(("unfinished", "told"), [
    (jobs(MOST_QUEUED, "queued"), f"{MOST_QUEUED} builds are queued or running"),
    (jobs(MOST_OF_ONE, "queued", client="eve"), f"{MOST_OF_ONE} builds of yours are queued or running"),
    (jobs(MOST_OF_ONE, "running", kb="kb"), f"{MOST_OF_ONE} builds of 'kb' are queued or running")])
def test_what_is_too_many_is_told_and_one_less_is_not(unfinished, told):
    with pytest.raises(TooManyRequestsError, match=told):
        check_quotas(unfinished, new_job("kb", client="eve"))
    check_quotas(unfinished[1:], new_job("kb", client="eve"))
    if "of" in told:
        check_quotas(unfinished, new_job("other", client="bob"))


def test_builds_that_wait_for_a_person_keep_nobody_out_but_a_second_one_of_their_base(app, client):
    for job in jobs(MOST_OF_ONE + 1, "waiting", client=LOCAL, options=REVIEWED):
        app.state.service.builds.jobs.add(job)
    refused = client.post(f"{rest.KB}/kb7/builds", files=rest.sent({"a.md": "Ada."}), data={"review": "true"})
    assert (refused.status_code, refused.json()["error"]["message"]) == (
        409, "the build 'waiting7' of 'kb7' is to be reviewed: decide on it or cancel it first")
    for kb, review in (("kb7", "false"), ("new", "true")):
        rest.started(client, kb, {"a.md": "Ada was born in Bonn."}, review=review)


def test_an_uploaded_document_that_is_deleted_is_in_no_file_of_the_home_folder(app):
    """Nor in the log of the server's database, which keeps uploads until their build has ended."""
    home = app.state.service.resources.settings.home

    def has_words():
        return [file.name for file in sorted(home.rglob("*")) if file.is_file() and b"Zyxomma" in file.read_bytes()]

    with in_process.client(app) as client:
        documents = {"a.md": "Ada Lund was born in Bonn.", "secret.md": "Zyxomma Lund was born in Bonn."}
        assert rest.built(client, "kb", documents)["state"] == "done"
        assert {"ledger.sqlite", "ledger.sqlite-wal", "graph.json"} & set(has_words())
        waiting.wait_for(lambda: not {"server.sqlite", "server.sqlite-wal"} & set(has_words()))
        assert client.delete("/api/knowledge-bases/kb/document", params={"id": "secret.md"}).status_code == 204
        waiting.wait_for(lambda: not has_words())


def test_what_was_not_read_before_a_build_waited_is_in_its_report(app):
    with in_process.client(app) as client:
        build = rest.started(client, "chess", rest.DEFEATS | {"broken.pdf": "no PDF"}, review="true")

        assert rest.followed(client, build)[-1]["state"] == "waiting"
        decided = {"decisions": [{"kind": "attribute", "name": "defeat", "verdict": "accept"}], "who": "Ann"}
        assert client.post(f"/api/builds/{build}/decisions", json=decided).status_code == 200
        report = rest.followed(client, build)[-1]["report"]
        assert [line.partition(":")[0] for line in report["files_failed"]] == ["broken.pdf"]
        assert report["schema_version"] == 2, "the decision was carried out"


def test_a_build_whose_clients_key_was_revoked_does_not_run(app):
    service = app.state.service
    keys = service.clients.keys
    keys.make("ann", WORK)
    remaining = keys.make("bob", SCOPES)
    for name in ("ann", "bob"):
        service.builds.jobs.add(new_job("people", client=name))
    keys.revoke("ann")
    with in_process.client(app) as client:
        client.headers = {"X-API-Key": remaining}

        def builds():
            return client.get("/api/builds").json()["items"]

        waiting.wait_for(lambda: all(build["state"] in {"done", "failed"} for build in builds()))
        of_bob, of_ann = builds()
    assert (of_bob["state"], of_ann["state"]) == ("done", "failed")
    assert of_ann["error"] == {"type": "ForbiddenError", "message": (
        "the key 'ann', which started this build, was revoked: start the build again with another key")}


def test_documents_that_are_added_over_mcp_keep_the_limit_of_builds(resources, monkeypatch):
    at_work, most = 0, 0

    async def build(*_, **__):
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        await asyncio.sleep(0.1)
        at_work -= 1
        raise BanyanError("enough")
        yield

    monkeypatch.setattr("banyan.subagent.mcp_tools.construction_graph", lambda _: SimpleNamespace(astream=build))
    with in_process.client(create_app(resources)) as client, ThreadPoolExecutor(10) as threads:
        told = list(threads.map(lambda number: rest.mcp(client, "tools/call", name="add_document", arguments={
            "knowledge_base": f"kb{number}", "document": "x.md", "text": "Text."}), range(10)))
    assert [answer["content"][0]["text"] for answer in told] == ["Error executing tool add_document: enough"] * 10
    assert most == resources.settings.builds_at_once


@pytest.mark.parametrize(("name", "kept"), [
    ("a.md", "a.md"), ("folder/b.md", "folder/b.md"), ("folder\\b.md", "folder/b.md"), ("报告：一.md", "报告：一.md"),
    ("e\u0301.md", "\u00e9.md"), ("a b.md", "a b.md")])
def test_a_name_is_kept_in_one_form(name, kept):
    assert safe_names([name]) == [kept]


@given(st.text(max_size=40))
def test_whatever_is_kept_stays_below_its_folder_and_is_kept_again(name):
    try:
        (kept,) = safe_names([name])
    except FileNameError:
        return
    assert os.path.normpath(f"/root/{kept}") == f"/root/{kept}"
    assert [kept] == [unicodedata.normalize("NFC", kept)] == safe_names([kept])


@pytest.mark.parametrize("names", [*([name] for name in (
    "..a.md/x", "", "/a", "a//b", "../a", "a/..", "a/./b", "C:/a", "a:b", "a\x00", "a\x1b[31m", "NUL", "nul.txt",
    "x/com1.md", "a.", " a", "a /b", ".a", "\u202ea", "a\u200bb", "a\u00adb", "a\u2028b", "\ufeffa", "a" * 256,
    "é" * 128, "a/" * 600 + "a", "\ud800", "a*")),
    ("a", "A"), ("a", "a"), ("ß", "ss"), ("é", "e\u0301"), ("a", "a/b"), ("A/b", "a")])
def test_a_name_that_is_not_safe_and_two_that_would_be_one_file_are_refused(names):
    with pytest.raises(FileNameError):
        safe_names(names)


@pytest.mark.anyio
async def test_files_are_kept_privately_as_they_are(tmp_path):
    database = ServerDatabase(tmp_path / "server.sqlite")
    large = bytes(range(256)) * 10_000
    for job, files in (("b1", {"x/a.md": b"A", "b.md": large, "empty.md": b""}), ("b2", {"b.md": b"C"})):
        given = [UploadFile(io.BytesIO(content), filename=name) for name, content in files.items()]
        Jobs(database, 1).add(new_job("demo", safe_names(list(files))).having(id=job), given)
    for _ in range(2):  # another process goes on with it
        async with reading_files(database, tmp_path, "b1", "demo") as first:
            assert {path.name: path.read_bytes() for path in first.rglob("*.md")} == {
                "a.md": b"A", "b.md": large, "empty.md": b""}
            if os.name == "posix":
                assert (tmp_path / ".uploads").stat().st_mode & 0o077 == 0
            sweep_files(tmp_path, ["demo"])
            assert first.exists(), "what is being read is not swept"
        assert not first.exists()
    async with reading_files(database, tmp_path, "b2", "demo") as second:
        assert second == first, "a document's source does not change with the job"
