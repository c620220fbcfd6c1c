"""The app that LangGraph's own server mounts (`http.app` in langgraph.json), so one port serves everything.

The app has its own paths, middleware, error handlers and lifespan: Studio, a page of another origin, must be able to
reach LangGraph's routes. Those have a separate gate, which closes what upstream leaves open to everybody.
"""

import asyncio
import json
import os
from contextlib import suppress
from typing import Any
from uuid import UUID, uuid5

from fastapi import FastAPI
from langgraph_sdk import get_client
from langgraph_sdk.errors import NotFoundError
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from ..agents.resources import default_resources
from ..config import Settings
from ..graph_store.layout import knowledge_bases
from . import responses
from .app import create_app
from .security.gate import Gate, Hosts, Rate, is_for_others

# The app's paths besides `/` and `/mcp`; LangGraph's server uses none of them.
PREFIXES = ("/api/", "/assets/", "/chat/", "/v1/")
# Upstream paths without a key check: one reads and deletes all threads, the other starts a process.
CLOSED = ("/internal/", "/deploy/")
_IN_PROCESS = "/noauth"  # the `root_path` of the server's requests to itself; no client's request can have it
LISTINGS = ("/assistants/search", "/assistants/count")
_NAMESPACE = UUID("b7b3f1a5-0e9c-4c0b-9f0e-6d1c2f3a4b5c")  # of the ids of assistants, which all processes make alike
_OURS = {"created_by": "banyan"}  # the metadata of the assistants that are kept here; clients may make others
_MOST_LISTED = 1000


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


def mount(app: FastAPI, hosts: Hosts) -> Starlette:
    """Return the app that LangGraph's server mounts: its middleware leads to `app`, whose lifespan it runs."""
    lifespan: Any = lambda _: app.router.lifespan_context(app)  # noqa: E731
    return Starlette(lifespan=lifespan, middleware=[
        Middleware(LangGraphGate, app, hosts), Middleware(offer_assistants, app.state.service.resources.settings)])


_settings = default_resources().settings
# LangGraph's server tells no address here, so any IP address is accepted: pages that rebind DNS have a domain name.
_hosts = Hosts.bound("0.0.0.0", _settings.server_hosts)  # noqa: S104
app = mount(create_app(hosted=True, hosts=_hosts, needs_keys=is_for_others(_settings.server_hosts)), _hosts)
