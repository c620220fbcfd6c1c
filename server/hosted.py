"""What LangGraph's own server mounts (`http.app` in langgraph.json), so that one port serves everything.

The app is mounted under its own paths and keeps its middleware, error handlers and lifetime to itself: Studio, a page
of another origin, has to reach LangGraph's own routes. Those are behind a gate of their own, which lets in whom
upstream would, and closes what upstream leaves open to everybody.
"""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from ..agents.resources import default_resources
from ..config import Settings
from .answers import ErrorDetail
from .app import create_app
from .errors import error_response
from .security.clients import Clients
from .security.gate import Gate
from .security.hosts import Hosts, is_for_others

PREFIXES = ("/api", "/assets", "/chat", "/v1")
"""Of the app's paths, beside `/`; LangGraph's server has none of them."""
CLOSED = ("/internal", "/deploy")
"""Of upstream's paths that ask for no key: all threads are read and wiped below the one, the other starts a process."""
_IN_PROCESS = "/noauth"
"""The `root_path` of what the server asks itself; no request can set it."""


def is_ours(scope: Scope) -> bool:
    """Whether a request is for the app."""
    path = scope["path"]
    return scope["type"] == "http" and (path == "/" or _below(path, PREFIXES))


def _below(path: str, prefixes: tuple[str, ...]) -> bool:
    return any(path.startswith(f"{prefix}/") for prefix in prefixes)


class Within(BaseRoute):
    """Hands the requests for an app's paths to it, as they are."""

    def __init__(self, app: FastAPI) -> None:
        self.app = app

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether the request is for the app."""
        return (Match.FULL if is_ours(scope) else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        await self.app(scope, receive, send)


class LangGraphGate:
    """Stands before LangGraph's own routes: the same gate as before ours, which also asks for JSON.

    Studio's origins, those of `cors` in langgraph.json, may send requests as our own page may.
    """

    def __init__(self, app: ASGIApp, settings: Settings, clients: Clients, hosts: Hosts, needs_keys: bool) -> None:
        http = json.loads(os.environ.get("LANGGRAPH_HTTP") or "{}")
        self._app = app
        self._gate = Gate(app, settings=settings, clients=clients, hosts=hosts, needs_keys=needs_keys,
                          json_only=True,
                          origins=frozenset((http.get("cors") or {}).get("allow_origins", ())))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] == "lifespan" or is_ours(scope) or scope.get("root_path", "").startswith(_IN_PROCESS):
            await self._app(scope, receive, send)
        elif scope["type"] == "http" and _below(f"{scope['path']}/", CLOSED):
            await error_response(404, ErrorDetail(type="NotFoundError", message="this is closed here"))(
                scope, receive, send)
        else:
            await self._gate(scope, receive, send)


def mounted(app: FastAPI, settings: Settings, clients: Clients, hosts: Hosts) -> Starlette:
    """An app that only serves another one, with its lifespan.

    Args:
        app: what is served below `/` and the prefixes.
        settings: limits.
        clients: who has a key or a token; where none is needed, only this machine is answered.
        hosts: the names that LangGraph's routes answer to.

    Where BANYAN_SERVER_HOSTS names this server for others, nobody is answered without a key.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with app.router.lifespan_context(app):
            yield

    return Starlette(routes=[Within(app)], lifespan=lifespan,
                     middleware=[Middleware(LangGraphGate, settings, clients, hosts,
                                            is_for_others(settings.server_hosts))])


def _app() -> Starlette:
    settings = default_resources().settings
    # The address was chosen by whoever started the server. No page's name is an address.
    hosts = Hosts.bound("0.0.0.0", settings.server_hosts)  # noqa: S104
    ours = create_app(hosted=True, hosts=hosts, needs_keys=is_for_others(settings.server_hosts))
    service = ours.state.service
    service.resources.allowance_of = service.allowances.of
    return mounted(ours, settings, service.clients, hosts)


app = _app()
