"""The app that serves everything on one port."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import anyio.to_thread
from fastapi import FastAPI
from mcp.server.transport_security import TransportSecuritySettings

from ..agents.resources import Resources, default_resources
from ..runtime.budgets import charge
from ..subagent.mcp_server import mcp_http_app
from .error_responses import add_error_handlers
from .metrics import count_calls
from .routes import build_routes as routes_builds
from .routes import conversation_routes as routes_conversations
from .routes import edit_routes as routes_edits
from .routes import evidence_routes as routes_evidence
from .routes import graph_routes as routes_graph
from .routes import managing as routes_managing
from .routes import metrics_routes as routes_metrics
from .routes import model as routes_model
from .routes import openai_chat as routes_openai
from .routes import question_routes as routes_asking
from .routes import reading_routes as routes_reading
from .routes import schema_routes as routes_schema
from .routes import table_routes as routes_tables
from .routes.chat_routes import add_chat_routes
from .security.gate import Envelope, Gate
from .security.hosts import Hosts
from .service import Service
from .web_files import add_pages

_ROUTERS = (routes_reading.router, routes_builds.router, routes_asking.router, routes_conversations.router,
            routes_graph.router, routes_evidence.router, routes_tables.router, routes_schema.router,
            routes_model.router, routes_managing.router, routes_edits.router, routes_openai.router)


def create_app(resources: Resources | None = None, *, hosted: bool = False, hosts: Hosts | None = None,
               needs_keys: bool = False, workers: int = 1) -> FastAPI:
    """Create the app.

    Args:
        resources: models and open knowledge bases; None means those of the environment.
        hosted: whether LangGraph's own server mounts the app; that server has its own metrics.
        hosts: the host names that the server accepts; None accepts any.
        needs_keys: whether every request needs a key, even while no key exists.
        workers: the number of processes that serve, including this one.
    """
    service = Service(resources or default_resources(), workers)
    settings = service.resources.settings

    @asynccontextmanager
    async def build_turn(kb: str) -> AsyncIterator[None]:
        async with service.builds.turn(kb):
            await anyio.to_thread.run_sync(charge().look)
            yield

    # The gate has already checked the request's host and origin.
    mcp = mcp_http_app(
        service.resources, permits=lambda request, access: access in request.state.scopes,
        sees=lambda request, name: request.state.bases.hold(name),
        turn=lambda request: service.questions.turn(request.state.client), build_turn=build_turn,
        security=TransportSecuritySettings(enable_dns_rebinding_protection=False))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(service.running())
            await stack.enter_async_context(mcp.router.lifespan_context(mcp))
            yield

    app = FastAPI(title="Banyan", version="1", lifespan=lifespan, openapi_url="/api/openapi.json", docs_url=None,
                  redoc_url=None)
    app.state.service = service
    add_error_handlers(app)
    for router in _ROUTERS:
        app.include_router(router)
    if not hosted:  # LangGraph's server has a route of that name
        app.include_router(routes_metrics.router)
    count_calls()
    add_chat_routes(app, service)
    app.router.routes.extend(mcp.routes)
    add_pages(app, hosted=hosted)
    app.add_middleware(Gate, settings=settings, clients=service.clients, allowances=service.allowances, hosts=hosts,
                       needs_keys=needs_keys, workers=workers)
    app.add_middleware(Envelope)
    return app
