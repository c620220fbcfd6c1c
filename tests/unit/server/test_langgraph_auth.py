"""Who LangGraph's own server lets in, and what for."""

import asyncio
from types import SimpleNamespace
from uuid import uuid4

import pytest
from banyan.server import hosted
from banyan.server.security.keys import SCOPES, WORK, Bases
from langgraph_sdk import Auth

RETRIEVAL = {"assistant_id": "retrieval"}
RESUME = {"assistant_id": uuid4(), "kwargs": {"command": {"resume": {"all": "accept"}, "update": None}}}


class User(dict):
    """A user as LangGraph's server hands on what `authenticate` said of it."""

    def __init__(self, identity, bases=None):
        super().__init__(bases=bases)
        self.identity = identity


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

    monkeypatch.setattr(hosted, "_check_waiting", look)
    monkeypatch.setattr(hosted, "_check_share", look)


@pytest.mark.parametrize(("bases", "identity", "listed"), [
    (None, "ada", None), (frozenset({"papers", "notes"}), "ada:notes,papers", ["notes", "papers"])])
def test_whom_the_gate_let_in_is_the_client_and_others_are_refused(bases, identity, listed):
    def who(state):
        return asyncio.run(hosted.authenticate({"state": state}))

    state = {"client": "ada", "scopes": frozenset({"ask"}), "bases": Bases(bases)}
    assert who(state) == {"identity": identity, "permissions": ["ask"], "bases": listed}, "threads of their own"
    assert status_of(who, {**state, "client": ""}) == status_of(who, {}) == 401


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
        context = SimpleNamespace(resource=resource, action=action, permissions=[scope], user=User("ada"))
        return asyncio.run(hosted.permit(context, given)), given

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
def test_a_key_of_some_knowledge_bases_names_no_other_and_reaches_nothing_shared(resource, action, value, status):
    context = SimpleNamespace(resource=resource, action=action, permissions=SCOPES, user=User("ada:papers", ["papers"]))
    assert status_of(lambda: asyncio.run(hosted.permit(context, value))) == status
