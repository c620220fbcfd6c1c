"""The workers of a build on Ray, with tasks of this process: what they get, and what ends a build."""

from importlib.metadata import version
from types import SimpleNamespace

import pytest
from banyan.config import Settings
from banyan.ingest.reading import Limits

pytest.importorskip("ray", reason="Ray is not installed: pip install 'banyan-graphrag[ray]'")

from banyan.agents.cluster import ray_resources as pool


@pytest.fixture
def setups(monkeypatch):
    given = []

    def remote(setup, *_):
        given.append(setup)
        return version(pool.PACKAGE)

    monkeypatch.setattr(pool.ray, "cluster_resources", lambda: {"CPU": 2.0})
    monkeypatch.setattr(pool, "_TASK", SimpleNamespace(remote=remote))
    return given


def test_workers_are_given_no_secret(setups):
    secrets = {"llm_api_key": "sk-llm", "embedding_api_key": "sk-embedding", "reranker_api_key": "sk-reranker",
               "chroma_token": "chroma-secret", "database_url": "postgresql+psycopg://user:password@host/base"}
    pool.Workers(Settings(_env_file=None, llm_base_url="http://127.0.0.1:9/v1", **secrets), Limits())
    (setup,) = setups
    assert not [secret for secret in secrets.values() if secret in "".join(setup)]
    given = Settings.model_validate_json(setup[0])
    assert {given.model_dump()[name].get_secret_value() for name in secrets} == {""}
    assert given.llm_base_url == "http://127.0.0.1:9/v1"
