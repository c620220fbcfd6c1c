"""A server's app over one small knowledge base, and a client of it."""

import pytest
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.server.app import create_app

from ... import in_process, small_base


@pytest.fixture
def resources(tmp_path, hashed_embedder):
    small_base.people(tmp_path, "people", hashed_embedder)
    with Resources(Settings(home=tmp_path, llm_base_url=None, _env_file=None), hashed_embedder) as resources:
        yield resources


@pytest.fixture
def app(resources):
    return create_app(resources)


@pytest.fixture
def client(app):
    with in_process.client(app, raise_server_exceptions=False) as client:
        yield client
