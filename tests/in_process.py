"""The server's app without a socket, asked as from this machine, and resources for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.models.embedding.embedder import Embedder
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.testclient import TestClient

from . import small_base


def client(app: Starlette, **more: Any) -> TestClient:
    return TestClient(app, base_url="http://127.0.0.1", client=("127.0.0.1", 7), **more)


@contextmanager
def opened(home: Path, embedder: Embedder, *names: str, **settings: Any) -> Iterator[Resources]:
    """Resources without a model, with the people of `small_base` as knowledge bases of these names."""
    for name in names:
        small_base.people(home, name, embedder)
    with Resources(Settings(home=home, llm_base_url=None, _env_file=None, **settings), embedder) as resources:
        yield resources


class AppRoute(NamedTuple):
    method: str
    path: str  # the template, with its parameters in braces


def _single(app: FastAPI) -> Iterator[BaseRoute]:
    for route in app.routes:
        # FastAPI keeps the routes of an included router in it in newer versions, beside its own in older ones.
        included = getattr(route, "original_router", None)
        yield from (route,) if included is None else included.routes


def routes_of(app: FastAPI) -> list[AppRoute]:
    """Each route with each of its methods; of what is mounted the mount, as a GET."""
    return [AppRoute(method, getattr(route, "path", "")) for route in _single(app)
            for method in sorted({*(getattr(route, "methods", None) or ("GET",))} - {"HEAD"})]
