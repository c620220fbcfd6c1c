"""The app that LangGraph's own server mounts (`http.app` in langgraph.json), so one port serves everything.

The app is mounted at its own paths, with its own middleware, error handlers and lifespan: Studio, a page of another
origin, must be able to reach LangGraph's routes. Those have a separate gate, which admits the clients that upstream
would admit, and closes what upstream leaves open to everybody.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from uuid import UUID, uuid5

from fastapi import FastAPI
from langgraph_sdk import get_client
from langgraph_sdk.errors import NotFoundError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from ..agents.resources import default_resources
from ..config import Settings
from ..graph_store.layout import knowledge_bases
from .app import create_app
from .error_responses import error_response
from .responses import ErrorDetail
from .security.clients import Clients
from .security.gate import Gate
from .security.hosts import Hosts, is_for_others

PREFIXES = ("/api", "/assets", "/chat", "/v1")
"""The app's paths besides `/` and `/mcp`; LangGraph's server uses none of them."""
_MCP = "/mcp"
"""Our tools instead of upstream's, which are the graphs with results in Python's notation (`disable_mcp`)."""
CLOSED = ("/internal", "/deploy")
"""Upstream paths without a key check: one reads and deletes all threads, the other starts a process."""
_METRICS = "/metrics"
_IN_PROCESS = "/noauth"
"""The `root_path` of the server's requests to itself; no client's request can have it."""
LISTINGS = ("/assistants/search", "/assistants/count")
_NAMESPACE = UUID("b7b3f1a5-0e9c-4c0b-9f0e-6d1c2f3a4b5c")
_MARK = {"created_by": "banyan"}
_MOST = 1000


def is_ours(scope: Scope) -> bool:
    """Return True if a request is for the app."""
    path = scope["path"]
    return scope["type"] == "http" and (path in {"/", _MCP} or _below(path, PREFIXES))


def _below(path: str, prefixes: tuple[str, ...]) -> bool:
    return any(path.startswith(f"{prefix}/") for prefix in prefixes)


class Within(BaseRoute):
    """A route that passes requests for the app's paths to the app unchanged."""

    def __init__(self, app: FastAPI) -> None:
        self.app = app

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match requests for the app."""
        return (Match.FULL if is_ours(scope) else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        await self.app(scope, receive, send)


class LangGraphGate:
    """The same gate as for our routes, for LangGraph's own routes; it also requires JSON.

    Studio's origins, the `cors` origins in langgraph.json, may send requests as our own page may.
    """

    def __init__(self, app: ASGIApp, settings: Settings, clients: Clients, hosts: Hosts, needs_keys: bool) -> None:
        http = json.loads(os.environ.get("LANGGRAPH_HTTP") or "{}")
        self._app = app
        self._gate = Gate(self._pass_on, settings=settings, clients=clients, hosts=hosts, needs_keys=needs_keys,
                          json_only=True,
                          origins=frozenset((http.get("cors") or {}).get("allow_origins", ())))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] == "lifespan" or is_ours(scope) or scope.get("root_path", "").startswith(_IN_PROCESS):
            await self._app(scope, receive, send)
        elif scope["type"] == "http" and _below(f"{scope['path']}/", CLOSED):
            await error_response(404, ErrorDetail(type="NotFoundError", message="this path is not available here"))(
                scope, receive, send)
        else:
            await self._gate(scope, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on that the gate has admitted; upstream asks for no scope where it checks no key."""
        if scope["path"] == _METRICS and "metrics" not in scope["state"]["scopes"]:
            await error_response(403, ErrorDetail(type="ForbiddenError", message=(
                "the key lacks the scope 'metrics': ask for another key")))(scope, receive, send)
        else:
            await self._app(scope, receive, send)


class OfferedAssistants:
    """Offers an assistant for each knowledge base to Studio and other front ends, before they list assistants."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings
        self._alone = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] == "http" and scope["path"] in LISTINGS and not scope.get("root_path"):
            async with self._alone:
                await self._update()
        await self._app(scope, receive, send)

    async def _update(self) -> None:
        names = set(await asyncio.to_thread(knowledge_bases, self._settings))
        # A client within this process: it needs no key.
        async with get_client() as client:
            offered = {(assistant["metadata"] or {}).get("knowledge_base"): assistant["assistant_id"]
                       for assistant in await client.assistants.search(metadata=_MARK, limit=_MOST)}
            for name in sorted(names - offered.keys()):
                await client.assistants.create(
                    "retrieval", context={"knowledge_base": name}, metadata={**_MARK, "knowledge_base": name},
                    assistant_id=str(uuid5(_NAMESPACE, name)), name=name, if_exists="do_nothing",
                    description=f"Answers questions from the documents of the knowledge base {name!r}, with citations "
                                "that were checked, or says that the documents do not answer.")
            for gone in offered.keys() - names:
                with suppress(NotFoundError):  # another process may do the same
                    await client.assistants.delete(offered[gone])


def mount(app: FastAPI, settings: Settings, clients: Clients, hosts: Hosts) -> Starlette:
    """Wrap an app in another one that only serves it, with its lifespan.

    Args:
        app: the app for `/` and the prefixes.
        settings: limits.
        clients: the clients with a key or a token; if no key is needed, only this machine is served.
        hosts: the host names that LangGraph's routes accept.

    If BANYAN_SERVER_HOSTS names this server for other machines, every request needs a key.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with app.router.lifespan_context(app):
            yield

    return Starlette(routes=[Within(app)], lifespan=lifespan,
                     middleware=[Middleware(LangGraphGate, settings, clients, hosts,
                                            is_for_others(settings.server_hosts)),
                                 Middleware(OfferedAssistants, settings)])


def _app() -> Starlette:
    settings = default_resources().settings
    # Whoever started the server chose its address. A page's name is never an IP address.
    hosts = Hosts.bound("0.0.0.0", settings.server_hosts)  # noqa: S104
    ours = create_app(hosted=True, hosts=hosts, needs_keys=is_for_others(settings.server_hosts))
    service = ours.state.service
    service.resources.allowance_of = service.allowances.of
    return mount(ours, settings, service.clients, hosts)


app = _app()
