"""Builds of the server: how many may wait and for whom, what ends them, and what is left of them."""


import asyncio
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from banyan.agents.construction.state import BuildContext
from banyan.schemas.errors import BanyanError
from banyan.server.app import create_app
from banyan.server.responses import StateError, TooManyRequestsError
from banyan.server.runs.jobs import (
    MOST_OF_ONE,
    MOST_QUEUED,
    Build,
    BuildOptions,
    BuildProgress,
    Job,
    check_quotas,
    new_job,
)
from banyan.server.security.keys import SCOPES, WORK

from ... import in_process, rest, waiting

PLAIN, REVIEWED = BuildOptions(context=BuildContext()), BuildOptions(context=BuildContext(review=True))


def jobs(count, state, *, kb="kb{}", client="client{}", options=PLAIN):
    return [Job(client=client.format(number), options=options, build=Build(
        id=f"{state}{number}", kb=kb.format(number), state=state, files=[], created_at="2026-01-01",
        progress=BuildProgress(step="", done=0, total=None))) for number in range(count)]


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


def test_builds_that_wait_for_a_person_keep_nobody_out_but_a_second_one_of_their_base(app):
    waiting = jobs(MOST_QUEUED + 8, "waiting", client="eve", options=REVIEWED)
    for job in waiting[:MOST_OF_ONE + 1]:
        app.state.service.builds.jobs.add(job)
    check_quotas(waiting, new_job("kb7", client="eve"))
    check_quotas(waiting, new_job("new", client="eve", options=REVIEWED))
    with pytest.raises(StateError, match=r"'waiting7' of 'kb7' is to be reviewed: decide on it or cancel it"):
        check_quotas(waiting, new_job("kb7", client="eve", options=REVIEWED))
    with in_process.client(app) as client:
        file = [("files", ("a.md", "Ada was born in Bonn.", "text/plain"))]
        at_kb7 = "/api/knowledge-bases/kb7/builds"
        assert client.post(at_kb7, files=file, data={"review": "true"}).status_code == 409
        assert client.post(at_kb7, files=file).status_code == 202


def test_an_uploaded_document_that_is_deleted_is_in_no_file_of_the_home_folder(app):
    """Nor in the log of the server's database, which keeps uploads until their build has ended."""
    home = app.state.service.resources.settings.home

    def has_words():
        return [file.name for file in sorted(home.rglob("*")) if file.is_file() and b"Zyxomma" in file.read_bytes()]

    with in_process.client(app) as client:
        documents = {"a.md": "Ada Lund was born in Bonn.", "secret.md": "Zyxomma Lund was born in Bonn."}
        assert rest.built(client, "kb", documents)["state"] == "done"
        assert {"ledger.sqlite", "graph.json"} & set(has_words())
        waiting.wait_for(lambda: not {"server.sqlite", "server.sqlite-wal"} & set(has_words()))
        assert client.delete("/api/knowledge-bases/kb/document", params={"id": "secret.md"}).status_code == 204
        waiting.wait_for(lambda: not has_words())


def test_what_was_not_read_before_a_build_waited_is_in_its_report(app):
    with in_process.client(app) as client:
        build = rest.started(client, "chess", rest.DEFEATS | {"broken.pdf": "no PDF"}, review="true")

        def shown():
            return client.get(f"/api/builds/{build}").json()

        waiting.wait_for(lambda: shown()["state"] == "waiting")
        decided = {"decisions": [{"kind": "attribute", "name": "defeat", "verdict": "accept"}], "who": "Ann"}
        assert client.post(f"/api/builds/{build}/decisions", json=decided).status_code == 200
        waiting.wait_for(lambda: shown()["state"] == "done")
        assert [line.partition(":")[0] for line in shown()["report"]["files_failed"]] == ["broken.pdf"]
        assert shown()["report"]["schema_version"] == 2, "the decision was carried out"


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


def test_documents_that_are_added_count_among_the_builds(resources, monkeypatch):
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
    with (in_process.client(create_app(resources)) as client,
          ThreadPoolExecutor(10) as threads):
        told = list(threads.map(lambda number: rest.mcp(client, "tools/call", name="add_document", arguments={
            "knowledge_base": f"kb{number}", "document": "x.md", "text": "Text."}), range(10)))
    assert [answer["content"][0]["text"] for answer in told] == ["Error executing tool add_document: enough"] * 10
    assert most == resources.settings.builds_at_once
