"""Requests whose paths nobody means: they are refused as the client's fault, and never a defect."""

import pytest
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.server.app import create_app

from ... import in_process


@pytest.fixture(scope="module")
def client(tmp_path_factory, hashed_embedder):
    home = tmp_path_factory.mktemp("home")
    with Resources(Settings(home=home, llm_base_url=None, requests_per_minute=100_000, _env_file=None),
                   hashed_embedder) as resources, \
            in_process.client(create_app(resources), raise_server_exceptions=False) as client:
        yield client


@pytest.mark.parametrize("part", ["%00", "a%00b", "a" * 5000, "%F0%9F%98%80" * 1000, "%ED%A0%80", "..%2f..%2fetc",
                                  "%FF%FE"])
@pytest.mark.parametrize("path", ["/{}", "/assets/{}", "/assets/{}/main.js", "/api/{}", "/api/knowledge-bases/{}",
                                  "/api/knowledge-bases/{}/documents", "/api/knowledge-bases/{}/backup",
                                  "/api/knowledge-bases/kb/document?id={}", "/api/threads/{}?kb=kb",
                                  "/api/threads?kb={}", "/api/shared/{}", "/api/builds/{}", "/api/samples/{}",
                                  "/chat/kb/{}"])
def test_a_strange_path_is_the_client_s_fault(client, path, part):
    status = client.get(path.format(part)).status_code
    if "%00" in part:
        assert status == 400
    else:
        assert status in {404, 405, 422} or (status == 200 and path == "/api/threads?kb={}")
