"""The optional cross-encoder: it reads a question and a passage together, and scores how well they match."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...config import Settings
from ...schemas.errors import BanyanError

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
        from .endpoint_reranker import EndpointReranker  # noqa: PLC0415  (a twentieth of a second, for endpoints alone)

        return EndpointReranker(settings)
    from .cross_encoder import CrossEncoderReranker  # noqa: PLC0415  (heavy libraries, for this alone)

    return CrossEncoderReranker(settings.reranker, settings.embedding_batch)
