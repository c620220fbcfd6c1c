"""What LangGraph's own server mounts: the app (`http.app` in langgraph.json) and who may use its routes (`auth`).

The app has its own paths, middleware, error handlers and lifespan: Studio, a page of another origin, must be able to
reach LangGraph's routes. Those have a separate gate, which closes what upstream leaves open to everybody.

Without keys, clients on this machine may do everything on these routes, and others nothing. With keys, asking needs the
scope `ask`, a build `write`, and a decision on the schema `review`. Threads, runs and checkpoints belong to their key's
name. A key for some knowledge bases may run the graphs on these, answer the questions of its own runs, read the
assistants of its knowledge bases, and read and delete its threads: shared data, and a thread's state that is written
from outside, could give access to other knowledge bases. The graphs check the knowledge base of each run again, as an
assistant may name it.
"""

import asyncio
import json
import os
from contextlib import suppress
from typing import Any
from uuid import UUID, uuid5

from fastapi import FastAPI
from langgraph_sdk import Auth, get_client
from langgraph_sdk.errors import NotFoundError
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from ..agents.resources import default_resources
from ..config import Settings
from ..graph_store.layout import knowledge_bases
from ..graph_store.store_errors import UnknownKnowledgeBaseError
from ..runtime.audit import LOCAL
from . import responses
from .app import create_app
from .security.gate import Gate, Hosts, Rate, is_for_others
from .security.keys import SCOPES, WORK, Bases

Refusal = Auth.exceptions.HTTPException
auth = Auth()

# The app's paths besides `/` and `/mcp`; LangGraph's server uses none of them.
PREFIXES = ("/api/", "/assets/", "/chat/", "/v1/")
# Upstream paths without a key check: one reads and deletes all threads, the other starts a process.
CLOSED = ("/internal/", "/deploy/")
_IN_PROCESS = "/noauth"  # the `root_path` of the server's requests to itself; no client's request can have it
LISTINGS = ("/assistants/search", "/assistants/count")
_NAMESPACE = UUID("b7b3f1a5-0e9c-4c0b-9f0e-6d1c2f3a4b5c")  # of the ids of assistants, which all processes make alike
_OURS = {"created_by": "banyan"}  # the metadata of the assistants that are kept here; clients may make others
_MOST_LISTED = 1000
# LangGraph's server names the assistant of each graph in this namespace.
_RETRIEVAL_ASSISTANTS = {"retrieval", str(uuid5(UUID("6ba7b821-9dad-11d1-80b4-00c04fd430c8"), "retrieval"))}
_SCOPES: dict[str, set[str]] = {  # by the kind of a request: the scopes of which it needs one
    "question": {"ask"}, "build": {"write"}, "decision": {"review"}, "thread": {"ask", "write", "review"},
    "assistants": set(WORK), "other": {"write"}}
_WORKERS = 10  # LangGraph's default number of runs at once (`langgraph dev --n-jobs-per-worker`)


class LangGraphGate(Gate):
    """Middleware that passes requests for the app's paths to it, and puts its gate before LangGraph's own routes.

    Pages of the `cors` origins in langgraph.json, such as Studio's, may send changes as our own page may.
    """

    def __init__(self, app: ASGIApp, banyan: FastAPI, hosts: Hosts) -> None:
        self._banyan = banyan
        service = banyan.state.service
        settings = service.resources.settings
        http = json.loads(os.environ.get("LANGGRAPH_HTTP") or "{}")
        origins = (http.get("cors") or {}).get("allow_origins", ())
        # A build has its documents in the body, so every body may be as large as an upload. `/ok` tells only health.
        super().__init__(app, settings=settings, clients=service.clients, hosts=hosts, origins=frozenset(origins),
                         needs_keys=is_for_others(settings.server_hosts), for_anybody=frozenset({"/", "/ok"}),
                         uploads=".*")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the app, which has a gate of its own, or check it."""
        is_http = scope["type"] == "http"
        # `/mcp` has our tools instead of upstream's, which are the graphs with results in Python's notation.
        if is_http and (scope["path"] in {"/", "/mcp"} or scope["path"].startswith(PREFIXES)):
            await self._banyan(scope, receive, send)
        elif is_http and scope.get("root_path", "").startswith(_IN_PROCESS):
            await self.app(scope, receive, send)  # requests of the server to itself need no key
        else:
            await super().__call__(scope, receive, send)

    def check_head(self, scope: Scope, headers: Headers) -> None:
        """Refuse also a closed path."""
        super().check_head(scope, headers)
        if f"{scope['path']}/".startswith(CLOSED):
            raise responses.NotFoundError("this path is not available here: use another one")

    async def identify_client(self, scope: Scope, headers: Headers) -> Rate:
        """Identify the client; refuse `/metrics` to a key without the scope `metrics`."""
        rate = await super().identify_client(scope, headers)
        if scope["path"] == "/metrics" and "metrics" not in scope["state"]["scopes"]:
            raise responses.ForbiddenError("the key lacks the scope 'metrics': ask for another key")
        return rate


def offer_assistants(app: ASGIApp, settings: Settings) -> ASGIApp:
    """Return middleware that keeps a LangGraph assistant for each knowledge base, updated when a client lists them."""
    lock = asyncio.Lock()

    async def offer(scope: Scope, receive: Receive, send: Send) -> None:
        # The server's requests to itself have a `root_path`. The update makes such ones, which must not update again.
        if scope["type"] == "http" and scope["path"] in LISTINGS and not scope.get("root_path"):
            async with lock:
                await _update_assistants(settings)
        await app(scope, receive, send)

    return offer


async def _update_assistants(settings: Settings) -> None:
    """Create an assistant for each new knowledge base, and delete those of dropped ones."""
    names = set(await asyncio.to_thread(knowledge_bases, settings))
    async with get_client() as client:  # within this process, so it needs no key
        offered = {(assistant["metadata"] or {}).get("knowledge_base"): assistant["assistant_id"]
                   for assistant in await client.assistants.search(metadata=_OURS, limit=_MOST_LISTED)}
        for name in sorted(names - offered.keys()):
            await client.assistants.create(
                "retrieval", context={"knowledge_base": name}, metadata={**_OURS, "knowledge_base": name},
                assistant_id=str(uuid5(_NAMESPACE, name)), name=name, if_exists="do_nothing",
                description=f"Answers questions from the documents of the knowledge base {name!r}, with citations "
                            "that were checked, or says that the documents do not answer.")
        for dropped in offered.keys() - names:
            with suppress(NotFoundError):  # another process may have deleted it meanwhile
                await client.assistants.delete(offered[dropped])


@auth.authenticate
async def authenticate(scope: Scope) -> dict[str, Any]:
    """Return the client that the gate (`LangGraphGate`) has identified, which refuses others."""
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


def mount(app: FastAPI, hosts: Hosts) -> Starlette:
    """Return the app that LangGraph's server mounts: its middleware leads to `app`, whose lifespan it runs."""
    lifespan: Any = lambda _: app.router.lifespan_context(app)  # noqa: E731
    return Starlette(lifespan=lifespan, middleware=[
        Middleware(LangGraphGate, app, hosts), Middleware(offer_assistants, app.state.service.resources.settings)])


_settings = default_resources().settings
# LangGraph's server tells no address here, so any IP address is accepted: pages that rebind DNS have a domain name.
_hosts = Hosts.bound("0.0.0.0", _settings.server_hosts)  # noqa: S104
app = mount(create_app(hosted=True, hosts=_hosts, needs_keys=is_for_others(_settings.server_hosts)), _hosts)
