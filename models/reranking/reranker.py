"""The optional cross-encoder: it reads a question and a passage together, and scores how well they match."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

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
