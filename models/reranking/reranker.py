"""The optional cross-encoder: reads a question and a passage together and scores how well they fit."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

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
