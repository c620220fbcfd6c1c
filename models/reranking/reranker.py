"""The optional cross-encoder: it reads a question and a passage together, and scores how well they match."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...config import Settings
from ...schemas.errors import BanyanError
from ..reasoner import ReasonerError

Scores = NDArray[np.float32]


class RerankerError(BanyanError):
    """The cross-encoder in the settings cannot be used."""


class Reranker(Protocol):
    """A scorer of texts for a question. Safe to call from several threads."""

    def scores(self, question: str, texts: Sequence[str]) -> Scores:
        """Return how well each text matches the question: higher is better, on a scale of the model.

        Returns:
            Shape (n,), finite; a text's score does not depend on the other texts.
        """


def load_reranker(settings: Settings) -> Reranker | None:
    """Load the cross-encoder in the settings, or return None if they name none. Nothing is downloaded.

    Raises:
        RerankerError: the model is missing, cannot be read, or does not score pairs.
    """
    if not settings.reranker:
        return None
    if settings.reranker_base_url:
        return EndpointReranker(settings)
    from .cross_encoder import CrossEncoderReranker  # noqa: PLC0415  (heavy libraries, for this alone)

    return CrossEncoderReranker(settings.reranker, settings.embedding_batch)


class EndpointReranker:
    """A model behind `/rerank`, as Jina, Cohere, vLLM and llama.cpp have it, within the limits of the process."""

    def __init__(self, settings: Settings) -> None:
        """Store the settings; nothing is requested yet."""
        from ..llm.served import Request, ServedModel  # noqa: PLC0415  (a twentieth of a second, for endpoints alone)

        self._model = settings.reranker
        self._request_class = Request  # for `scores`: the module does not import it
        self._served = ServedModel(settings.model_copy(update={
            "llm_base_url": settings.reranker_base_url, "llm_api_key": settings.reranker_api_key,
            "llm_model": settings.reranker}), variables="BANYAN_RERANKER", operation="rerank")

    def scores(self, question: str, texts: Sequence[str]) -> Scores:
        """Score texts for a question; see `Reranker.scores`.

        Raises:
            RerankerError: the endpoint failed, or did not score every text.
        """
        if not texts:
            return np.zeros(0, np.float32)
        body = {"model": self._model, "query": question, "documents": list(texts), "top_n": len(texts)}
        try:
            (answer,) = self._served.post("/rerank", [self._request_class(body, [question, *texts])])
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
