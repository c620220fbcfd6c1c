"""Shared fixtures: endpoints of which the process knows nothing yet, and HTTP clients without sockets."""

import httpx2
import pytest
from banyan.models.llm import chat_model, http_client  # noqa: F401  (its imports subclass what a fixture replaces)
from banyan.models.llm.limits import process_endpoints


@pytest.fixture(autouse=True)
def fresh_endpoints():
    process_endpoints.cache_clear()
    yield
    process_endpoints.cache_clear()


@pytest.fixture
def serve(monkeypatch):
    """Answer requests by a function of the request."""
    def serve(answer):
        monkeypatch.setattr(http_client.openai, "DefaultAsyncHttpxClient", lambda **options: httpx2.AsyncClient(
            transport=httpx2.MockTransport(answer), **options))
    return serve
