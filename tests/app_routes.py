"""The routes of the server's app, one by one, however FastAPI keeps them."""

from collections.abc import Iterator
from typing import NamedTuple

from fastapi import FastAPI
from starlette.routing import BaseRoute


class AppRoute(NamedTuple):
    """One method of one route."""

    method: str
    path: str
    """The template, with its parameters in braces."""


def _single(app: FastAPI) -> Iterator[BaseRoute]:
    for route in app.routes:
        # FastAPI keeps the routes of an included router in it in newer versions, beside its own in older ones.
        included = getattr(route, "original_router", None)
        yield from (route,) if included is None else included.routes


def routes_of(app: FastAPI) -> list[AppRoute]:
    """Each route with each of its methods; of what is mounted the mount, as a GET."""
    return [AppRoute(method, getattr(route, "path", "")) for route in _single(app)
            for method in sorted({*(getattr(route, "methods", None) or ("GET",))} - {"HEAD"})]
