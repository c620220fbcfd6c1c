"""Quantise vectors to one byte per dimension, for a first comparison before the best are compared exactly.

A vector's largest component is 127 steps. The product of two codes is an integer, so it does not depend on batches or
threads. Its maximum distance from the vectors' own product is known.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...models.embedding.embedder import Vectors

_STEPS = 127
_AT_ONCE = 8192


def code_row(dimension: int) -> np.dtype[Any]:
    """Return the data type of a coded vector: its code and the length of a step."""
    return np.dtype([("code", np.int8, (dimension,)), ("step", np.float32)])


def coded(vectors: Vectors) -> NDArray[Any]:
    """Quantise vectors, shape (n, d).

    Returns:
        Shape (n,), with the data type `code_row(d)`.
    """
    rows = np.zeros(len(vectors), code_row(vectors.shape[1]))
    for start in range(0, len(vectors), _AT_ONCE):
        block = vectors[start:start + _AT_ONCE]
        step = np.abs(block).max(axis=1, initial=0) / np.float32(_STEPS)
        whole = np.divide(block, step[:, None], out=np.zeros_like(block), where=step[:, None] > 0)
        rows["code"][start:start + _AT_ONCE], rows["step"][start:start + _AT_ONCE] = np.rint(whole), step
    return rows


def farthest(vectors: Vectors, codes: NDArray[Any]) -> float:
    """Return the largest Euclidean distance between a vector and its code; 0 without vectors."""
    most = 0.0
    for start in range(0, len(vectors), _AT_ONCE):
        block = codes[start:start + _AT_ONCE]
        apart = vectors[start:start + _AT_ONCE] - block["code"] * block["step"][:, None]
        most = max(most, float(np.linalg.norm(apart, axis=1).max()))
    return most
