"""The server's app without a socket, asked as from this machine, and resources for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.models.embedding.embedder import Embedder
from starlette.applications import Starlette
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
