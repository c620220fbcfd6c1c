"""Who may use LangGraph's own routes (`auth` in langgraph.json): the same keys and scopes as for the app's.

Where no keys are set, whoever is on this machine may do everything, Studio included, and nobody else anything. With
keys, asking needs the scope `ask`, a build `write`, a decision on the schema `review`; threads, runs and checkpoints
are those of their key's name. A key of some knowledge bases names one of them in the input of each run, and may do
nothing else but answer what a run of its own asks, read its threads and delete them: what all share, and a thread's
state that is written from outside, could lead to other knowledge bases.
"""

import asyncio
from typing import Any
from uuid import UUID, uuid5

from langgraph_sdk import Auth
from starlette.datastructures import Headers
from starlette.types import Scope

from ...agents.resources import default_resources
from ...graph_store.errors import UnknownKnowledgeBaseError
from ...runtime.budgets import AllowanceSpent
from ...runtime.once import once
from ..errors import RefusedError
from .bases import Bases
from .clients import Clients
from .gate import LOCAL, key_in
from .hosts import is_local
from .keys import SCOPES, WORK

auth = Auth()

NEEDS_KEY = "an API key is needed: send it as `X-API-Key` or `Authorization: Bearer KEY`; `banyan key` makes one"
_GRAPHS = UUID("6ba7b821-9dad-11d1-80b4-00c04fd430c8")
"""Under which LangGraph's server names the assistant of each graph."""
_RETRIEVAL = {"retrieval", str(uuid5(_GRAPHS, "retrieval"))}
_OWNED = {"threads", "crons"}


@once
def _clients() -> Clients:
    return Clients.of(default_resources().settings)


@auth.authenticate
async def authenticate(headers: dict[bytes, bytes], scope: Scope) -> dict[str, Any]:
    """Who sends a request.

    Raises:
        Auth.exceptions.HTTPException: 401, where a key is needed and none that is known is sent; 503, where it cannot
            be known now whether a token counts.
    """
    clients = await asyncio.to_thread(_clients)  # which may wait for a database
    await clients.refresh()
    if is_local(scope) and not await asyncio.to_thread(clients.needed):  # the keys are a file
        return {"identity": LOCAL, "permissions": list(WORK), "bases": None}
    try:
        client = await clients.find(key_in(Headers(raw=list(headers.items()))))
    except RefusedError as error:
        raise Auth.exceptions.HTTPException(status_code=error.status, detail=str(error)) from error
    if client is None:
        raise Auth.exceptions.HTTPException(status_code=401, detail=NEEDS_KEY)
    # Threads of a time when it was for others hold answers from them. No name has a colon.
    only = None if client.bases.names is None else sorted(client.bases.names)
    identity = client.name if only is None else f"{client.name}:{','.join(only)}"
    scopes = [scope for scope in SCOPES if scope in client.scopes]
    return {"identity": identity, "permissions": scopes, "bases": only}


@auth.on
async def permit(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> dict[str, str] | None:
    """Which of all there is a request is about: what its client owns.

    Raises:
        Auth.exceptions.HTTPException: 403, where the key lacks a scope, or this is not for keys of some knowledge
            bases; 404, where it is not for the knowledge base; 429, where its client has spent what it may.
    """
    wanted = _wanted(ctx.resource, ctx.action, value)
    if not wanted & set(ctx.permissions):
        raise Auth.exceptions.HTTPException(
            status_code=403, detail=f"the key lacks the scope {' or '.join(sorted(wanted))}: ask for another key")
    only = ctx.user["bases"]
    if only is not None:
        _check_base(Bases(frozenset(only)), ctx.resource, ctx.action, value)
    if ctx.action == "create_run":
        await asyncio.to_thread(_check_allowance, ctx.user.identity.partition(":")[0])
    if ctx.resource not in _OWNED:
        return None
    owner = {"owner": ctx.user.identity}
    # Changed where it stands: the server goes on with this very dictionary.
    metadata = value.get("metadata")
    if metadata is None:
        value["metadata"] = metadata = {}
    metadata.update(owner)
    return owner


def _check_allowance(client: str) -> None:
    """Check that a client may still spend something today.

    Raises:
        Auth.exceptions.HTTPException: 429, where it may not; says until when.
    """
    allowance = default_resources().allowance_of(client)
    if allowance is None:
        return
    try:
        allowance.look()
        allowance.check()
    except AllowanceSpent as spent:
        raise Auth.exceptions.HTTPException(status_code=429, detail=str(spent),
                                            headers={"Retry-After": str(spent.seconds)}) from None


def _check_base(bases: Bases, resource: str, action: str, value: dict[str, Any]) -> None:
    """Check what a key of some knowledge bases wants.

    Raises:
        Auth.exceptions.HTTPException: see `permit`.
    """
    if action == "create_run":
        kwargs = value.get("kwargs") or {}
        command = {name: content for name, content in (kwargs.get("command") or {}).items() if content is not None}
        given = kwargs.get("input")
        if given is None and command.keys() == {"resume"}:
            return
        # The context may name one, too, also an assistant's; the input's goes first.
        name = given.get("knowledge_base") if isinstance(given, dict) and not command else None
        if isinstance(name, str) and name and bases.hold(name):
            return
        if isinstance(name, str) and name:
            raise Auth.exceptions.HTTPException(
                status_code=404, detail=str(UnknownKnowledgeBaseError(name, default_resources().settings.home)))
        raise Auth.exceptions.HTTPException(
            status_code=403, detail="the key is for some knowledge bases only: name one in the input of each run")
    own = resource == "threads" and (action != "update" or "action" in value)
    if not own and not (resource == "assistants" and action in {"read", "search"}):
        raise Auth.exceptions.HTTPException(
            status_code=403,
            detail="the key is for some knowledge bases only, and this concerns all: ask for another key")


def _wanted(resource: str, action: str, value: dict[str, Any]) -> set[str]:
    """The scopes of which a request needs one.

    A thread's state and metadata (`update`) say where its next run goes on, and as which graph's: `write`.
    """
    if action == "create_run":
        if str(value.get("assistant_id")) in _RETRIEVAL:
            return {"ask"}
        # A command may also change the state, or go to another node: no part of a decision.
        kwargs = value.get("kwargs") or {}
        parts = [name for name, content in (kwargs.get("command") or {}).items() if content is not None]
        # Nor is an earlier checkpoint: what was decided, or built, since then would be again.
        configurable = (kwargs.get("config") or {}).get("configurable") or {}
        earlier = any(configurable.get(name) for name in ("checkpoint_id", "checkpoint_ns", "checkpoint_map"))
        return {"review"} if parts == ["resume"] and not earlier else {"write"}
    if resource == "threads" and (action != "update" or "action" in value):  # `action`: a run is cancelled
        return {"ask", "write", "review"}
    if resource == "assistants" and action in {"read", "search"}:
        return set(WORK)
    return {"write"}
