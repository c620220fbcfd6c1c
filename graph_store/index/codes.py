"""Quantise vectors to one byte per dimension, for a first comparison before the best are compared exactly.

A vector's largest component is 127 steps. The product of two codes is an integer, so it does not depend on batches or
threads. Its maximum distance from the vectors' own product is known.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...models.embedding.embedder import Vectors

_STEPS = 127
_AT_ONCE = 8192


class Codes(NamedTuple):
    """The codes of n vectors, shape (n, d), and the length of each one's step, shape (n,)."""

    codes: NDArray[np.int8]
    steps: NDArray[np.float32]


def coded(vectors: Vectors) -> Codes:
    """Quantise vectors, shape (n, d)."""
    codes = np.zeros(vectors.shape, np.int8)
    steps = np.zeros(len(vectors), np.float32)
    for start in range(0, len(vectors), _AT_ONCE):
        block = vectors[start:start + _AT_ONCE]
        step = np.abs(block).max(axis=1, initial=0) / np.float32(_STEPS)
        whole = np.divide(block, step[:, None], out=np.zeros_like(block), where=step[:, None] > 0)
        codes[start:start + _AT_ONCE], steps[start:start + _AT_ONCE] = np.rint(whole), step
    return Codes(codes, steps)


def farthest(vectors: Vectors, codes: Codes) -> float:
    """Return the largest Euclidean distance between a vector and its code; 0 without vectors."""
    most = 0.0
    for start in range(0, len(vectors), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        apart: NDArray[Any] = vectors[part] - codes.codes[part] * codes.steps[part, None]
        most = max(most, float(np.linalg.norm(apart, axis=1).max()))
    return most
