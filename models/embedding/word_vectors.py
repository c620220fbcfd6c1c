"""Vectors of single words: the input embeddings of the bundled MiniLM, which take no run of the model."""

import functools
from collections.abc import Sequence

import numpy as np

from .embedder import Vectors
from .onnx_export import bundled_tokenizer, word_table

_WORDS_KEPT = 20_000
"""The most words whose vectors are cached; 30 MB."""


def word_vectors(words: Sequence[str]) -> Vectors:
    """Return vectors of lower-case words: words that are used alike ('price', 'cost') have high cosines.

    Args:
        words: n English words; a word that the model splits into pieces gets the mean of their vectors.

    Returns:
        float32 array of shape (n, d), rows of unit length.

    Raises:
        EmbeddingError: the bundled model is missing or was altered.
    """
    return np.stack([_vector(word) for word in words]) if words else np.zeros((0, word_table().shape[1]), np.float32)


@functools.lru_cache(_WORDS_KEPT)
def _vector(word: str) -> Vectors:
    pieces = bundled_tokenizer().encode(word, add_special_tokens=False).ids
    vector = word_table()[pieces].sum(axis=0)
    length = float(np.linalg.norm(vector))
    return np.asarray(vector / length if length else vector, np.float32)
