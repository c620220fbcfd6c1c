"""The app that serves everything on one port."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse, RedirectResponse
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from ..agents.resources import Resources, default_resources
from ..subagent.mcp_tools import MAX_BODY, McpGate, mcp_server
from .metrics import count_calls
from .responses import ERROR_HANDLERS, ERRORS
from .routes import base_routes, build_routes, chat_routes, decision_routes, graph_routes
from .runs.turns import FAIR
from .security.gate import Envelope, Gate, Hosts
from .service import Service

_ROUTERS = (base_routes.router, base_routes.base_router, build_routes.router, chat_routes.router, graph_routes.router,
            graph_routes.content_router, build_routes.model_router, decision_routes.router,
            decision_routes.schema_router, chat_routes.openai_router)
WEB = Path(__file__).parent / "web"  # the web page, for anybody who can reach the server


def create_app(resources: Resources | None = None, *, hosted: bool = False, hosts: Hosts | None = None,
               needs_keys: bool = False, workers: int = 1) -> FastAPI:
    """Create the app over resources; None means those of the environment.

    `hosted`: LangGraph's own server mounts the app; it has its own `/metrics` and `/docs`, so the app serves neither.
    `hosts` are the names that the server accepts, None any. `needs_keys`: every request needs a key, even while none
    exists. `workers` is the number of processes that serve.
    """
    service = Service(resources or default_resources(), workers)
    mcp = _mcp_app(service)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with service.running(), mcp.router.lifespan_context(mcp):
            yield

    app = FastAPI(title="Banyan", version="1", lifespan=lifespan, openapi_url="/api/openapi.json", docs_url=None,
                  redoc_url=None, responses=ERRORS, exception_handlers=ERROR_HANDLERS)
    app.state.service = service
    for router in _ROUTERS:
        app.include_router(router, dependencies=[FAIR])
    count_calls()
    if find_spec("langserve"):  # an extra of its own, for its licence
        from .routes.langserve_chat import add_chat_routes  # noqa: PLC0415
        add_chat_routes(app, service)
    app.router.routes.extend(mcp.routes)

    @app.get("/", include_in_schema=False)
    async def index() -> FileResponse:
        return FileResponse(WEB / "index.html")

    if not hosted:
        app.include_router(base_routes.metrics_router, dependencies=[FAIR])

        @app.get("/docs", include_in_schema=False)
        async def docs() -> RedirectResponse:
            return RedirectResponse("/#/api")

    app.mount("/assets", StaticFiles(directory=WEB, check_dir=False), name="assets")
    app.add_middleware(Gate, settings=service.resources.settings, clients=service.clients, hosts=hosts,
                       needs_keys=needs_keys, workers=workers)
    app.add_middleware(Envelope)
    return app


def _mcp_app(service: Service) -> Starlette:
    """Return the app of MCP, whose tools go by a client's rights and shares as other routes do."""
    server = mcp_server(
        service.resources, decides=True, gate=McpGate(
            permits=lambda request, scope: scope in request.state.scopes,
            sees=lambda request, name: request.state.bases.covers(name),
            turn=lambda request: service.questions.turn(request.state.client, request),
            share=lambda request, changes: service.shares.take_thread(request, changes=changes)))
    # Without sessions, any worker can answer. The library's check of host names is off, as the gate checks them.
    app = server.streamable_http_app(
        stateless_http=True, max_request_body_size=MAX_BODY,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False))
    for route in app.routes:
        if isinstance(route, Route):
            route.app = service.shares.limit_calls(route.app)
    return app
