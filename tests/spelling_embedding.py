"""An embedder for tests of labels: alike is what is spelled with the same letters, however often."""

from collections.abc import Sequence

import numpy as np
from banyan.models.embedding.embedder import Vectors

ALPHABET = "abcdefghijklmnopqrstuvwxyz _"


class SpellingEmbedder:
    """Implements `Embedder`: a vector says which letters a text has; all other scripts are one unknown letter."""

    name = "spelling"
    dimension = len(ALPHABET) + 1
    fingerprint = "spelling"

    def encode(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            for letter in text:
                vectors[row, ALPHABET.find(letter)] = 1.0
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
