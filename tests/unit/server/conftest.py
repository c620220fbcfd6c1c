"""A server's app over one small knowledge base, and a client of it."""

import pytest
from banyan.server.app import create_app

from ... import in_process


@pytest.fixture
def resources(tmp_path, hashed_embedder):
    with in_process.opened(tmp_path, hashed_embedder, "people") as resources:
        yield resources


@pytest.fixture
def app(resources):
    return create_app(resources)


@pytest.fixture
def client(app):
    with in_process.client(app, raise_server_exceptions=False) as client:
        yield client
