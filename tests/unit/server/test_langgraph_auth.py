"""Who LangGraph's own server lets in, and what for."""

import asyncio
from types import SimpleNamespace
from typing import NamedTuple
from uuid import uuid4

import pytest
from banyan.config import Settings
from banyan.server.security import langgraph_auth
from banyan.server.security.clients import Clients
from banyan.server.security.keys import SCOPES, WORK, Keys
from langgraph_sdk import Auth

HERE, FAR = {"client": ("127.0.0.1", 7)}, {"client": ("10.0.0.7", 7)}
RETRIEVAL = {"assistant_id": "retrieval"}
RESUME = {"assistant_id": uuid4(), "kwargs": {"command": {"resume": {"all": "accept"}, "update": None}}}


@pytest.fixture
def keys(tmp_path, monkeypatch):
    settings = Settings(_env_file=None, home=tmp_path)
    keys = Keys.of(settings)
    monkeypatch.setattr(langgraph_auth, "_open_clients", lambda: Clients(settings))
    return keys


class User(NamedTuple):
    """A user as LangGraph's server hands on what `authenticate` said of it."""

    identity: str
    bases: list[str] | None = None

    def __getitem__(self, name):
        return getattr(self, name)


def who(headers, scope):
    return asyncio.run(langgraph_auth.authenticate(headers, scope))


def status_of(call, *arguments):
    """The status with which a call is refused; None if it is allowed."""
    try:
        call(*arguments)
    except Auth.exceptions.HTTPException as error:
        return error.status_code


@pytest.fixture(autouse=True)
def waiting_thread(monkeypatch):
    """Whatever thread is resumed waits for a decision; integration/test_langgraph_server looks at others."""
    async def look(*_):
        pass

    monkeypatch.setattr(langgraph_auth, "_check_waiting", look)
    monkeypatch.setattr(langgraph_auth, "_check_share", look)


def test_without_keys_this_machine_may_do_everything_and_others_nothing(keys):
    assert who({}, HERE) == {"identity": "local", "permissions": list(WORK), "bases": None}
    assert [status_of(who, {}, scope) for scope in (FAR, {"client": None}, {})] == [401] * 3


def test_with_keys_everybody_needs_one(keys):
    key = keys.make("ada", ["ask"])
    for scope in (HERE, FAR):
        assert status_of(who, {}, scope) == status_of(who, {b"x-api-key": b"wrong"}, scope) == 401
        for headers in ({b"x-api-key": key.encode()}, {b"authorization": f"Bearer {key}".encode()}):
            assert who(headers, scope) == {"identity": "ada", "permissions": ["ask"], "bases": None}
    some = keys.make("ada", ["ask"], ["papers", "notes"])
    assert who({b"x-api-key": some.encode()}, HERE) == {
        "identity": "ada:notes,papers", "permissions": ["ask"], "bases": ["notes", "papers"]}, "threads of their own"


@pytest.mark.parametrize(("resource", "action", "value", "scopes"), [
    ("threads", "create_run", RETRIEVAL, {"ask"}), ("threads", "create_run", {"assistant_id": uuid4()}, {"write"}),
    ("threads", "create_run", {"assistant_id": "construction", "kwargs": {"command": None}}, {"write"}),
    ("threads", "create_run", RESUME, {"review"}),
    ("threads", "create_run", {**RESUME, "kwargs": {"command": {"resume": 1, "goto": "x"}}}, {"write"}),
    ("threads", "create_run", {**RESUME, "kwargs": {**RESUME["kwargs"], "config": {"configurable": {
        "checkpoint_id": "1"}}}}, {"write"}),
    ("threads", "update", {"thread_id": uuid4()}, {"write"}),
    ("threads", "update", {"thread_id": uuid4(), "action": "interrupt"}, {"ask", "write", "review"}),
    ("threads", "read", {}, {"ask", "write", "review"}), ("assistants", "search", {}, set(WORK)),
    ("assistants", "create", {}, {"write"}), ("crons", "create", {}, {"write"}), ("store", "put", {}, {"write"})])
def test_each_request_needs_its_scope_and_leads_to_the_clients_own(resource, action, value, scopes):
    def permit(scope):
        given = {**value, "metadata": None}
        context = SimpleNamespace(resource=resource, action=action, permissions=[scope],
                                  user=User("ada"))
        return asyncio.run(langgraph_auth.permit(context, given)), given

    for scope in SCOPES:
        if scope not in scopes:
            with pytest.raises(Auth.exceptions.HTTPException, match="lacks the scope"):
                permit(scope)
            continue
        filters, given = permit(scope)
        owned = {"owner": "ada"} if resource in {"threads", "crons"} else None
        assert (filters, given["metadata"]) == (owned, owned)


def run_with(given=None, **more):
    return {"assistant_id": "retrieval", "kwargs": {"input": given, **more}}


@pytest.mark.parametrize(("resource", "action", "value", "status"), [
    ("threads", "create_run", run_with({"knowledge_base": "papers"}), None),
    ("threads", "create_run", {**RESUME, "kwargs": {"command": {"resume": {"all": "accept"}}}}, None),
    ("threads", "create_run", run_with({"knowledge_base": "others"}), 404),
    ("threads", "create_run", run_with({"knowledge_base": ["papers"]}), 404),
    ("threads", "create_run", run_with({"question": "Who?"}, context={"knowledge_base": "others"}), 404),
    ("threads", "create_run", run_with(), None),
    ("threads", "create_run", run_with(command={"resume": 1, "update": {"knowledge_base": "others"}}), 403),
    ("threads", "read", {}, None), ("threads", "update", {"thread_id": uuid4(), "action": "interrupt"}, None),
    ("threads", "update", {"thread_id": uuid4()}, 403), ("assistants", "search", {}, None),
    ("assistants", "create", {}, 403), ("store", "get", {}, 403), ("crons", "search", {}, 403)])
def test_a_key_of_some_knowledge_bases_names_no_other_and_reaches_nothing_shared(resource, action, value, status, keys):
    context = SimpleNamespace(resource=resource, action=action, permissions=SCOPES, user=User("ada:papers", ["papers"]))
    assert status_of(lambda: asyncio.run(langgraph_auth.permit(context, value))) == status
