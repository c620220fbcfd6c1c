"""Several knowledge bases with embedding models of their own: bundled ones beside an endpoint's."""

import banyan
import pytest
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.graph_store.store_errors import EmbeddingMismatchError

from ...hashed_embedding import HashedEmbedder


class NamedEmbedder(HashedEmbedder):
    """Stands for a model of any name, where the settings say that it is."""

    def __init__(self, settings):
        self.name = settings.embedding_model
        self.fingerprint = f"{self.name}:{settings.embedding_base_url}:{settings.embedding_query_prefix}"


class FakedModels(Resources):
    def _load_embedder(self, settings):
        return NamedEmbedder(settings)


def open_with(home, **settings):
    return FakedModels(Settings(home=home, _env_file=None, **settings))


def test_a_base_with_the_bundled_model_is_asked_together_with_one_of_an_endpoint(tmp_path):
    served = {"embedding_base_url": "http://127.0.0.1:9/v1", "embedding_query_prefix": "query: "}
    with open_with(tmp_path) as resources:
        banyan.open("local", resources=resources).add("Ada Lovelace was born in London.", id="ada")
    with open_with(tmp_path, embedding_model="served", **served) as resources:
        banyan.open("far", resources=resources).add("Ben Vasko was born in Graz.", id="ben")
        both = banyan.open(["local", "far"], resources=resources)
        assert "London" in both.ask("Where was Ada Lovelace born?").text
        assert "Graz" in both.ask("Where was Ben Vasko born?").text
        banyan.open("local", resources=resources).add("Ida Moser was born in Linz.", id="ida")
    with open_with(tmp_path, embedding_model="other", **served) as resources:
        assert "London" in banyan.open("local", resources=resources).ask("Where was Ada Lovelace born?").text
        with pytest.raises(EmbeddingMismatchError, match="embedding model 'served' and 'other'"):
            banyan.open("far", resources=resources).ask("Where was Ben Vasko born?")
        resources.reindex("far")
        assert "Graz" in banyan.open("far", resources=resources).ask("Where was Ben Vasko born?").text
