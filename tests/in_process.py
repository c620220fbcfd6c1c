"""The server's app without a socket, asked as from this machine."""

from typing import Any

from starlette.applications import Starlette
from starlette.testclient import TestClient


def client(app: Starlette, **more: Any) -> TestClient:
    return TestClient(app, base_url="http://127.0.0.1", client=("127.0.0.1", 7), **more)
