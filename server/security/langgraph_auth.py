"""Authorisation for LangGraph's own routes (`auth` in langgraph.json), with the keys and scopes of the app.

Without keys, clients on this machine may do everything, including Studio, and others nothing. With keys, asking needs
the scope `ask`, a build `write`, and a decision on the schema `review`. Threads, runs and checkpoints belong to their
key's name. A key for some knowledge bases may run the graphs on these, answer the questions of its own runs, read the
assistants of its knowledge bases, and read and delete its threads: shared data, and a thread's state that is written
from outside, could give access to other knowledge bases. The graphs check the knowledge base of each run again, as an
assistant may name it.
"""

import os
from typing import Any
from uuid import UUID, uuid5

from langgraph_sdk import Auth, get_client
from langgraph_sdk.errors import NotFoundError
from starlette.types import Scope

from ...agents.resources import default_resources
from ...graph_store.store_errors import UnknownKnowledgeBaseError
from ...runtime.audit import LOCAL
from .keys import SCOPES, WORK, Bases

Refusal = Auth.exceptions.HTTPException
auth = Auth()

# LangGraph's server names the assistant of each graph in this namespace.
_RETRIEVAL_ASSISTANTS = {"retrieval", str(uuid5(UUID("6ba7b821-9dad-11d1-80b4-00c04fd430c8"), "retrieval"))}
_SCOPES: dict[str, set[str]] = {  # by the kind of a request: the scopes of which it needs one
    "question": {"ask"}, "build": {"write"}, "decision": {"review"}, "thread": {"ask", "write", "review"},
    "assistants": set(WORK), "other": {"write"}}
_WORKERS = 10  # LangGraph's default number of runs at once (`langgraph dev --n-jobs-per-worker`)


@auth.authenticate
async def authenticate(scope: Scope) -> dict[str, Any]:
    """Return the client that the gate before LangGraph's routes (`hosted.py`) has identified, which refuses others."""
    state = scope.get("state", {})
    if not state.get("client"):
        raise Refusal(401, "an API key is needed: send it as `X-API-Key` or `Authorization: Bearer KEY`; `banyan key` "
                            "makes one")
    bases = None if state["bases"].names is None else sorted(state["bases"].names)  # None means all
    # Threads belong to an identity. It names the bases, so a key whose bases change cannot read threads about others.
    identity = state["client"] if bases is None else f"{state['client']}:{','.join(bases)}"
    return {"identity": identity, "permissions": [one for one in SCOPES if one in state["scopes"]], "bases": bases}


@auth.on
async def permit(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> dict[str, Any] | None:
    """Refuse what a client may not do, and return a filter by metadata for what it may see; None means no filter.

    A client sees only its own threads, and a key for some knowledge bases only their assistants.
    """
    kind = _kind_of(ctx.resource, ctx.action, value)
    if not _SCOPES[kind] & set(ctx.permissions):
        raise Refusal(403, f"the key lacks the scope {' or '.join(sorted(_SCOPES[kind]))}: ask for another key")
    bases, owner = ctx.user["bases"], ctx.user.identity  # the bases are None for all
    if bases is not None and kind == "other":
        raise Refusal(403, "the key covers some knowledge bases only, and this concerns all: ask for another key")
    if kind in {"question", "build", "decision"}:
        if bases is not None:
            _check_bases_of_run(Bases(frozenset(bases)), value)
        if owner != LOCAL:  # everybody without a key
            await _check_share(owner)
        if "resume" in _command(value):
            await _check_waiting(value.get("thread_id"), owner)
    if kind == "assistants" and bases is not None:
        # LangGraph requires two filters for `$or`; no knowledge base has the name "".
        return {"$or": [{"created_by": "system"}, *({"knowledge_base": name} for name in bases or [""])]}
    if ctx.resource not in {"threads", "crons"}:
        return None
    # Changed in place, because the server continues with these dictionaries.
    if value.get("metadata") is None:
        value["metadata"] = {}
    value["metadata"]["owner"] = owner
    return {"owner": owner}


def _kind_of(resource: str, action: str, value: dict[str, Any]) -> str:
    """Return what a request is about: a key of `_SCOPES`."""
    if action == "create_run":
        if str(value.get("assistant_id")) in _RETRIEVAL_ASSISTANTS:
            return "question"
        # A decision is a command that resumes the run and does nothing else. Other commands may change the state or go
        # to another node, and a run from an earlier checkpoint repeats later decisions.
        configurable = ((value.get("kwargs") or {}).get("config") or {}).get("configurable") or {}
        is_earlier = any(configurable.get(name) for name in ("checkpoint_id", "checkpoint_ns", "checkpoint_map"))
        return "decision" if _command(value).keys() == {"resume"} and not is_earlier else "build"
    # An `update` writes a thread's state from outside. One with an `action` ("interrupt" or "rollback") cancels a run.
    if resource == "threads" and (action != "update" or "action" in value):
        return "thread"
    return "assistants" if resource == "assistants" and action in {"read", "search"} else "other"


def _command(value: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of the command that a new run gets, such as `resume`; none if it has no command."""
    command = (value.get("kwargs") or {}).get("command") or {}
    return {name: content for name, content in command.items() if content is not None}


async def _check_share(owner: str) -> None:
    """Refuse a run if its client's other runs could take all of this server's workers but one."""
    most = max(1, int(os.environ.get("N_JOBS_PER_WORKER", _WORKERS)) - 1)
    async with get_client() as client:  # within this process, so it needs no key
        if await client.threads.count(metadata={"owner": owner}, status="busy") >= most:
            raise Refusal(429, f"{most} runs of this key have not ended: wait until one has")


async def _check_waiting(thread: UUID | None, owner: str) -> None:
    """Refuse to resume a thread that waits for no decision; upstream answers for one that the client may not see."""
    state: Any = {"metadata": {"owner": owner}}  # of a run without a thread, which cannot wait
    if thread is not None:
        async with get_client() as client:  # within this process, so it needs no key
            try:
                state = await client.threads.get(str(thread))
            except NotFoundError:
                return
    if state["metadata"].get("owner") == owner and not state.get("interrupts"):
        raise Refusal(409, "the thread waits for no decision, and nothing was changed: begin a run with an input")


def _check_bases_of_run(bases: Bases, value: dict[str, Any]) -> None:
    """Refuse a run that names another knowledge base, or whose command could change its state to do so."""
    if _command(value).keys() - {"resume"}:
        raise Refusal(403, "the key covers some knowledge bases only: it may resume a run, and give no other command")
    kwargs = value.get("kwargs") or {}
    for given in (kwargs.get("input"), kwargs.get("context")):
        name = given.get("knowledge_base") if isinstance(given, dict) else None
        if name and not bases.covers(str(name)):
            raise Refusal(404, str(UnknownKnowledgeBaseError(
                str(name), default_resources().settings.home, seen=sorted(bases.names or ()))))
