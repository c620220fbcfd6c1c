"""An embedder for tests: hashed character trigrams. Fast, deterministic, no model."""

import hashlib
from collections.abc import Sequence
from functools import cache

import numpy as np
from banyan.models.embedding.embedder import Vectors
from banyan.schemas.naming import normalise


class HashedEmbedder:
    """Implements `Embedder`: texts that share trigrams have similar vectors."""

    name = "hashed-trigrams"
    dimension = 128
    fingerprint = "hashed-trigrams-128"

    def encode(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            padded = f"  {normalise(text)}  "
            places = [_place(padded[i : i + 3]) for i in range(len(padded) - 2)]
            vectors[row] = np.bincount(places, minlength=self.dimension)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@cache
def _place(trigram: str) -> int:
    digest = hashlib.blake2b(trigram.encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") % HashedEmbedder.dimension
