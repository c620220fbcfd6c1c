"""The vectors of entities, triples and chunks in the index, by row, with their codes of one byte per dimension.

Codes are for a first comparison before the best are compared exactly. A vector's largest component is 127 steps. The
product of two codes is an integer, so it does not depend on batches or threads. Its maximum distance from the vectors'
own product is known.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...models.embedding.embedder import Vectors
from ..vectors.store import Kind, VectorStore
from .array_file import Arrays
from .columns import Ids

COMPARED: tuple[Kind, ...] = ("entities", "triples", "chunks")
"""The kinds of vectors that retrieval compares."""
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


@dataclass(frozen=True, eq=False)
class StoredVectors:
    """The vectors of one kind by row, shape (n, d), zeros where there is none, and their codes.

    `farthest` is the largest distance between a vector and its code.
    """

    vectors: Vectors
    codes: Codes
    farthest: float

    def __len__(self) -> int:
        return len(self.vectors)

    @classmethod
    def of(cls, vectors: Vectors) -> "StoredVectors":
        """Code some vectors."""
        codes = coded(vectors)
        return cls(vectors, codes, farthest(vectors, codes))

    @classmethod
    def read(cls, arrays: Arrays, kind: Kind) -> "StoredVectors":
        """Return the vectors of a kind as `arrays` stores them."""
        return cls(arrays[f"{kind}.vectors"], Codes(arrays[f"{kind}.codes"], arrays[f"{kind}.steps"]),
                   float(arrays[f"{kind}.farthest"][0]))

    def arrays(self, kind: Kind) -> dict[str, NDArray[Any]]:
        """Return the arrays to store for a kind."""
        return {f"{kind}.vectors": self.vectors, f"{kind}.codes": self.codes.codes, f"{kind}.steps": self.codes.steps,
                f"{kind}.farthest": np.array([self.farthest])}


def find_vectors(kind: Kind, ids: Sequence[str], before: Arrays, store: VectorStore,
                 ) -> tuple[Vectors, NDArray[np.bool_]]:
    """Return the vectors of ids: those of an earlier index, which are read fast, and else the store's.

    Returns:
        The vectors, shape (ids, d), zeros where there is none; and whether there is one, shape (ids,).
    """
    known = {key.decode(): row for row, key in enumerate(before[kind].tolist())} if before else {}
    rows = np.array([known.get(key, -1) for key in ids], np.intp)
    vectors, there = np.zeros((len(ids), store.get(kind, []).shape[1]), np.float32), np.zeros(len(ids), bool)
    if before:
        vectors[rows >= 0] = before[f"{kind}.vectors"][rows[rows >= 0]]
        there = np.asarray(vectors.any(axis=1), bool)
    new = np.flatnonzero(~there).tolist()
    found = store.found(kind, [ids[row] for row in new])
    for row in new:
        if ids[row] in found:
            vectors[row], there[row] = found[ids[row]], True
    return vectors, there


def vectors_of(arrays: Arrays, kind: Kind, ids: Iterable[str]) -> Iterator[tuple[str, Vectors]]:
    """Yield those of some ids that have a vector in an index, with it, shape (d,)."""
    rows, vectors = Ids(arrays, kind), arrays[f"{kind}.vectors"]
    for key in ids:
        row = rows.get(key)
        if row is not None and vectors[row].any():
            yield key, np.asarray(vectors[row], np.float32)

