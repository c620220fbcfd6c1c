"""Embeddings and rerankers by endpoint, against llama.cpp's own paths, and the instructions of embedding models."""

import numpy as np
import pytest
from banyan.config import Settings
from banyan.models.embedding.embedder import EmbeddingError, InstructedEmbedder, as_queries
from banyan.models.embedding.embedding_models import load_embedder
from banyan.models.embedding.unbundled import RerankerError, load_reranker
from banyan.runtime.budgets import Budget, BudgetExceeded, charge_calls

from .. import llama_server

pytestmark = pytest.mark.integration
TEXTS = ["Marie Curie was born in Warsaw.", "林小雨", "", "Marie Curie was born in Warsaw.", "a \ud800 b"]


def test_an_endpoint_embeds_in_batches_and_its_tokens_are_counted(real_model):
    settings = Settings(_env_file=None, embedding_model="smollm2", embedding_base_url=real_model.base_url,
                        embedding_batch=2)
    embedder, budget = load_embedder(settings), Budget(1)
    with charge_calls(budget=budget):
        vectors = embedder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dimension) == (len(TEXTS), 576)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.array_equal(vectors[0], vectors[3])
    assert vectors[0] @ vectors[1] < 0.99
    with pytest.raises(BudgetExceeded):
        budget.check()
    assert embedder.encode([]).shape == (0, 576)


def test_an_endpoint_that_is_not_there_names_its_own_settings():
    for settings in ({"embedding_model": "m"}, {"embedding_model": "openai:m"}):
        with pytest.raises(EmbeddingError, match=r"127\.0\.0\.1:9: it cannot be reached.*BANYAN_EMBEDDING_BASE_URL"):
            load_embedder(Settings(_env_file=None, embedding_base_url="http://127.0.0.1:9/v1", llm_retries=0,
                                   **settings))


def test_a_reranker_scores_each_passage(tmp_path):
    if missing := llama_server.missing():
        pytest.skip(missing)
    with llama_server.LlamaServer("ranks", tmp_path / "log") as server:
        reranker = load_reranker(Settings(_env_file=None, reranker="smollm2", reranker_base_url=server.base_url))
        scores = reranker.scores("Where was she born?", TEXTS[:2])
        assert scores.shape == (2,)
        np.testing.assert_allclose(reranker.scores("Where was she born?", TEXTS[1::-1]), scores[::-1], atol=0.05)
        assert reranker.scores("Where?", []).shape == (0,)


def test_a_server_that_does_not_rerank_is_named(real_model):
    reranker = load_reranker(Settings(_env_file=None, reranker="m", reranker_base_url=real_model.base_url,
                                      llm_retries=0))
    with pytest.raises(RerankerError, match=r"The reranker failed: .*does not support reranking"):
        reranker.scores("Where?", ["a"])


def test_instructions_stand_before_questions_and_passages(hashed_embedder):
    embedder = InstructedEmbedder(hashed_embedder, "passage: ", "query: ")
    assert np.array_equal(embedder.encode(["a"]), hashed_embedder.encode(["passage: a"]))
    assert np.array_equal(as_queries(embedder).encode(["a"]), hashed_embedder.encode(["query: a"]))
    assert embedder.fingerprint != hashed_embedder.fingerprint
    assert as_queries(hashed_embedder) is hashed_embedder
