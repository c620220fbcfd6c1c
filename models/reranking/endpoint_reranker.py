"""Rerankers behind an endpoint, with the `/rerank` request of Jina, Cohere, vLLM and llama.cpp."""

from collections.abc import Sequence

import numpy as np

from ...config import Settings
from ..llm.served import Request, ServedModel
from ..reasoner import ReasonerError
from .reranker import RerankerError, Scores


class EndpointReranker:
    """A model behind `/rerank`, within the limits of the process."""

    def __init__(self, settings: Settings) -> None:
        """Store the settings; nothing is requested yet."""
        self._model = settings.reranker
        self._served = ServedModel(settings.model_copy(update={
            "llm_base_url": settings.reranker_base_url, "llm_api_key": settings.reranker_api_key,
            "llm_model": settings.reranker}), "BANYAN_RERANKER", "rerank")

    def scores(self, question: str, texts: Sequence[str]) -> Scores:
        """Score texts for a question; see `Reranker.scores`.

        Raises:
            RerankerError: the endpoint failed, or did not score every text.
        """
        if not texts:
            return np.zeros(0, np.float32)
        body = {"model": self._model, "query": question, "documents": list(texts), "top_n": len(texts)}
        try:
            (answer,) = self._served.post("/rerank", [Request(body, [question, *texts])])
        except ReasonerError as error:
            raise RerankerError(f"The reranker failed: {error}") from error
        scores = np.full(len(texts), np.nan, np.float32)
        try:
            for result in answer["results"]:
                scores[result["index"]] = result["relevance_score"]
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise self._unreadable() from error
        if not np.isfinite(scores).all():
            raise self._unreadable()
        return scores

    def _unreadable(self) -> RerankerError:
        return RerankerError(f"The reranker {self._model!r} did not send a score for each passage: check "
                             "BANYAN_RERANKER_BASE_URL and BANYAN_RERANKER, or leave the latter empty")
