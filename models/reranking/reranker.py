"""The optional cross-encoder: reads a question and a passage together and scores how well they fit."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...config import Settings
from ...schemas.errors import BanyanError

Scores = NDArray[np.float32]


class RerankerError(BanyanError):
    """The cross-encoder that the settings name cannot be used."""


class Reranker(Protocol):
    """Scores texts for a question. Safe to call from several threads."""

    def scores(self, question: str, texts: Sequence[str]) -> Scores:
        """How well each text fits the question: the higher the better, on a scale of the model's own.

        Returns:
            Shape (n,), finite; that of a text does not depend on the others.
        """


def load_reranker(settings: Settings) -> Reranker | None:
    """The cross-encoder that the settings name; None where they name none. Nothing is downloaded.

    Raises:
        RerankerError: it is missing, cannot be read, or does not score pairs.
    """
    if not settings.reranker:
        return None
    if settings.reranker_base_url:
        from .endpoint_reranker import EndpointReranker  # noqa: PLC0415  (as below)

        return EndpointReranker(settings)
    from .cross_encoder import CrossEncoderReranker  # noqa: PLC0415  (heavy libraries, for this alone)

    return CrossEncoderReranker(settings.reranker, settings.embedding_batch)
