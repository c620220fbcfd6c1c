"""Fixtures of several files; for the web page's tests one server for all of them, started by the first to ask."""

import shutil

import httpx
import pytest

from .. import browsing, in_process, llm_server, oidc_issuer, serving


@pytest.fixture(scope="module")
def llm():
    with llm_server.LlmServer() as running:
        yield running


@pytest.fixture(scope="module")
def client(server):
    """A client of the module's own server."""
    with httpx.Client(base_url=server.url, timeout=60) as client:
        yield client


@pytest.fixture(scope="module")
def issuer():
    with oidc_issuer.serving() as issuer:
        yield issuer


@pytest.fixture(scope="module")
def resources(tmp_path_factory, hashed_embedder):
    """With the knowledge base "people", which no test changes."""
    with in_process.opened(tmp_path_factory.mktemp("home"), hashed_embedder, "people") as resources:
        yield resources


@pytest.fixture(scope="session")
def web_folder(english_store, tmp_path_factory):
    return shutil.copytree(english_store, tmp_path_factory.mktemp("web") / "copy")


@pytest.fixture(scope="session")
def web_server(web_folder):
    # Both languages in one base would be embedded by the multilingual model, at ten passages a second.
    with serving.served(web_folder, BANYAN_EMBEDDING_MODEL="all-MiniLM-L6-v2") as server:
        yield server.url


@pytest.fixture(scope="module")
def web_browser():
    """A headless Chromium; Playwright has one at a time in a process, and other files have their own."""
    with browsing.browsing() as browser:
        yield browser
