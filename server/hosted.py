"""What LangGraph's own server mounts (`http.app` in langgraph.json), so that one port serves everything.

The app is mounted under its own paths and keeps its middleware, error handlers and lifetime to itself: LangGraph's
server would put them around its own routes too, which Studio, a page of another origin, has to reach.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from ..agents.resources import default_resources
from .answers import ErrorDetail
from .app import create_app
from .errors import error_response
from .security.keys import Keys
from .security.langgraph_auth import NEEDS_KEY, is_local

PREFIXES = ("/api", "/assets", "/chat")
"""Of the app's paths, beside `/`; LangGraph's server has none of them."""


class Within(BaseRoute):
    """Hands the requests for an app's paths to it, as they are."""

    def __init__(self, app: FastAPI, keys: Keys) -> None:
        self.app = app
        self._keys = keys

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether the request is for the app."""
        path = scope["path"]
        ours = scope["type"] == "http" and (path == "/" or path.startswith(tuple(f"{prefix}/" for prefix in PREFIXES)))
        return (Match.FULL if ours else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI. Where no keys are set, it is for this machine alone: who started the server chose its address."""
        if is_local(scope) or self._keys.all():
            await self.app(scope, receive, send)
        else:
            await error_response(401, ErrorDetail(type="UnauthorizedError", message=NEEDS_KEY))(scope, receive, send)


def mounted(app: FastAPI, keys: Keys) -> Starlette:
    """An app that only serves another one, with its lifespan.

    Args:
        app: what is served below `/` and the prefixes.
        keys: without any, only this machine is answered.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with app.router.lifespan_context(app):
            yield

    return Starlette(routes=[Within(app, keys)], lifespan=lifespan)


app = mounted(create_app(hosted=True), Keys.of(default_resources().settings))
