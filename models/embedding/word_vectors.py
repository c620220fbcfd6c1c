"""Vectors of single words: the input embeddings of the bundled MiniLM, which take no run of the model."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from safetensors import safe_open
from tokenizers import Tokenizer

from .embedder import Vectors
from .onnx_export import TOKENIZER, WEIGHTS, bundled_model, verify_model

_TABLE = "embeddings.word_embeddings.weight"
_WORDS_KEPT = 20_000
"""Words whose vectors are kept; 30 MB."""


def word_vectors(words: Sequence[str]) -> Vectors:
    """The vectors of some words in lower case: of words that are used alike ('price', 'cost') the cosines are high.

    Args:
        words: n words of English; those that the model cuts into pieces have the mean of these.

    Returns:
        float32 array of shape (n, d), rows of unit length.

    Raises:
        EmbeddingError: the bundled model is missing or was altered.
    """
    return np.stack([_vector(word) for word in words]) if words else np.zeros((0, _table().get_shape()[1]), np.float32)


@functools.lru_cache(_WORDS_KEPT)
def _vector(word: str) -> Vectors:
    pieces = _tokenizer().encode(word, add_special_tokens=False).ids
    table = _table()
    vector = sum((table[piece : piece + 1][0] for piece in pieces), np.zeros(table.get_shape()[1], np.float32))
    length = float(np.linalg.norm(vector))
    return np.asarray(vector / length if length else vector, np.float32)


@functools.cache
def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(bundled_model() / TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


@functools.cache
def _table() -> Any:
    """The rows, read from the mapped file as they are asked for."""
    model = bundled_model()
    verify_model(model, (TOKENIZER, WEIGHTS))
    tensors: Any = safe_open(str(model / WEIGHTS), "np")
    return tensors.get_slice(_TABLE)
