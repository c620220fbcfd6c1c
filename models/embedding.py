"""Embedding models: what turns texts into vectors."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors. Safe to call from several threads."""

    @property
    def name(self) -> str:
        """The model's name, as set by the user."""

    @property
    def dimension(self) -> int:
        """Length d of a vector."""

    @property
    def fingerprint(self) -> str:
        """Identifies the weights: a store made with another fingerprint holds other vectors."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The vectors of some texts.

        Args:
            texts: n texts; equal texts are encoded once.

        Returns:
            float32 array of shape (n, d), rows of unit length, independent of order and batching
            up to rounding.
        """
