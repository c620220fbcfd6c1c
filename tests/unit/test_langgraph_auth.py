"""Who LangGraph's own server lets in, and what for."""

import asyncio
from types import SimpleNamespace
from uuid import uuid4

import pytest
from banyan.config import Settings
from banyan.server.security import langgraph_auth
from banyan.server.security.keys import SCOPES, Keys
from langgraph_sdk import Auth

HERE, FAR = {"client": ("127.0.0.1", 7)}, {"client": ("10.0.0.7", 7)}
RETRIEVAL = {"assistant_id": "retrieval"}
RESUME = {"assistant_id": uuid4(), "kwargs": {"command": {"resume": "accept", "update": None}}}


@pytest.fixture
def keys(tmp_path, monkeypatch):
    settings = Settings(_env_file=None, home=tmp_path)
    keys = Keys.of(settings)
    monkeypatch.setattr(langgraph_auth, "_keys", lambda: keys)
    return keys


def who(headers, scope):
    return asyncio.run(langgraph_auth.authenticate(headers, scope))


def refused(headers, scope):
    with pytest.raises(Auth.exceptions.HTTPException) as told:
        who(headers, scope)
    return told.value.status_code


def test_without_keys_this_machine_may_do_everything_and_others_nothing(keys):
    assert who({}, HERE) == {"identity": "local", "permissions": list(SCOPES)}
    assert [refused({}, scope) for scope in (FAR, {"client": None}, {})] == [401] * 3


def test_with_keys_everybody_needs_one(keys):
    key = keys.make("ada", ["ask"])
    for scope in (HERE, FAR):
        assert refused({}, scope) == refused({b"x-api-key": b"wrong"}, scope) == 401
        for headers in ({b"x-api-key": key.encode()}, {b"authorization": f"Bearer {key}".encode()}):
            assert who(headers, scope) == {"identity": "ada", "permissions": ["ask"]}


@pytest.mark.parametrize(("resource", "action", "value", "scopes"), [
    ("threads", "create_run", RETRIEVAL, {"ask"}), ("threads", "create_run", {"assistant_id": uuid4()}, {"write"}),
    ("threads", "create_run", {"assistant_id": "construction", "kwargs": {"command": None}}, {"write"}),
    ("threads", "create_run", RESUME, {"review"}),
    ("threads", "create_run", {**RESUME, "kwargs": {"command": {"resume": 1, "goto": "x"}}}, {"write"}),
    ("threads", "create_run", {**RESUME, "kwargs": {**RESUME["kwargs"], "config": {"configurable": {
        "checkpoint_id": "1"}}}}, {"write"}),
    ("threads", "update", {"thread_id": uuid4()}, {"write"}),
    ("threads", "update", {"thread_id": uuid4(), "action": "interrupt"}, {"ask", "write", "review"}),
    ("threads", "read", {}, {"ask", "write", "review"}), ("assistants", "search", {}, set(SCOPES)),
    ("assistants", "create", {}, {"write"}), ("crons", "create", {}, {"write"}), ("store", "put", {}, {"write"})])
def test_each_request_needs_its_scope_and_leads_to_the_clients_own(resource, action, value, scopes):
    def permit(scope):
        given = {**value, "metadata": None}
        context = SimpleNamespace(resource=resource, action=action, permissions=[scope],
                                  user=SimpleNamespace(identity="ada"))
        return asyncio.run(langgraph_auth.permit(context, given)), given

    for scope in SCOPES:
        if scope not in scopes:
            with pytest.raises(Auth.exceptions.HTTPException, match="lacks the scope"):
                permit(scope)
            continue
        filters, given = permit(scope)
        owned = {"owner": "ada"} if resource in {"threads", "crons"} else None
        assert (filters, given["metadata"]) == (owned, owned)
