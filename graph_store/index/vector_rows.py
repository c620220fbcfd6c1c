"""The vectors of entities, triples, relations and chunks in the index, by row, with codes of one byte per dimension.

Codes serve for a first, fast comparison; then the best vectors are compared exactly. A code has each component as a
whole number of steps, and a vector's step is so long that its largest component is 127 steps. The product of two codes
is an integer, so it does not depend on batches or threads. How far it can be from the product of the vectors is known.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...models.embedding.embedder import Vectors
from ..vectors.vector_store import Kind, VectorStore
from .array_file import Arrays
from .columns import Ids, Rows

_STEPS = 127
_AT_ONCE = 8192


class Codes(NamedTuple):
    """The codes of n vectors, shape (n, d), and the length of each one's step, shape (n,)."""

    codes: NDArray[np.int8]
    steps: NDArray[np.float32]


def quantise(vectors: Vectors) -> Codes:
    """Return the codes of vectors, shape (n, d): each component as a whole number of steps from -127 to 127."""
    codes = np.zeros(vectors.shape, np.int8)
    steps = np.zeros(len(vectors), np.float32)
    for start in range(0, len(vectors), _AT_ONCE):
        block = vectors[start:start + _AT_ONCE]
        step = np.abs(block).max(axis=1, initial=0) / np.float32(_STEPS)
        whole = np.divide(block, step[:, None], out=np.zeros_like(block), where=step[:, None] > 0)
        codes[start:start + _AT_ONCE], steps[start:start + _AT_ONCE] = np.rint(whole), step
    return Codes(codes, steps)


def farthest(vectors: Vectors, codes: Codes) -> float:
    """Return the largest Euclidean distance between a vector and the vector of its code; 0 without vectors."""
    largest = 0.0
    for start in range(0, len(vectors), _AT_ONCE):
        block = slice(start, start + _AT_ONCE)
        differences: NDArray[Any] = vectors[block] - codes.codes[block] * codes.steps[block, None]
        largest = max(largest, float(np.linalg.norm(differences, axis=1).max()))
    return largest


@dataclass(frozen=True, eq=False)
class StoredVectors:
    """The vectors of one kind, by row.

    Attributes:
        vectors: shape (n, d); zeros for a row without a vector.
        codes: their codes.
        farthest: the largest Euclidean distance between a vector and the vector of its code.
    """

    vectors: Vectors
    codes: Codes
    farthest: float

    def __len__(self) -> int:
        return len(self.vectors)

    @classmethod
    def of(cls, vectors: Vectors) -> "StoredVectors":
        """Compute the codes of some vectors, and keep both."""
        codes = quantise(vectors)
        return cls(vectors, codes, farthest(vectors, codes))

    @classmethod
    def read(cls, arrays: Arrays, kind: Kind) -> "StoredVectors":
        """Return the vectors of a kind as `arrays` stores them."""
        return cls(arrays[f"{kind}.vectors"], Codes(arrays[f"{kind}.codes"], arrays[f"{kind}.steps"]),
                   float(arrays[f"{kind}.farthest"][0]))

    def arrays(self, kind: Kind) -> dict[str, NDArray[Any]]:
        """Return the arrays to store for a kind."""
        return {f"{kind}.vectors": self.vectors, f"{kind}.codes": self.codes.codes,
                f"{kind}.steps": self.codes.steps, f"{kind}.farthest": np.array([self.farthest])}


def find_vectors(kind: Kind, ids: Sequence[str], before: Arrays, store: VectorStore, folder: Path | None,
                 ) -> tuple[Vectors, NDArray[np.bool_]]:
    """Return the vectors of some ids, from an earlier index, which is faster, or else from the vector store.

    Args:
        kind: the kind of vectors.
        ids: their ids.
        before: the arrays of an earlier index; may be empty.
        store: the vectors in Chroma.
        folder: where to collect the vectors in a temporary file, to save memory; None collects them in memory.

    Returns:
        The vectors, shape (ids, d), zeros for an id without a vector; and whether an id has one, shape (ids,).
    """
    row_of, has_vector = {key: row for row, key in enumerate(ids)}, np.zeros(len(ids), np.bool_)
    known_rows, earlier_rows = _find_earlier(kind, row_of, before)
    has_vector[known_rows] = True
    missing = [ids[row] for row in np.flatnonzero(~has_vector).tolist()]

    def parts() -> Iterator[tuple[Rows, Vectors]]:
        """Yield rows with their vectors, in blocks; mark in `has_vector` what the store has."""
        for start in range(0, len(known_rows), _AT_ONCE):
            block = slice(start, start + _AT_ONCE)
            yield known_rows[block], before[f"{kind}.vectors"][earlier_rows[block]]
        for keys, vectors in store.pages(kind, missing):
            rows = np.array([row_of[key] for key in keys], np.intp)
            has_vector[rows] = True
            yield rows, vectors

    shape = (len(ids), store.get(kind, []).shape[1])  # the vectors of no ids have the model's dimension, too
    collected = _in_file(parts(), shape, folder) if folder and ids else _in_memory(parts(), shape)
    return collected, has_vector


def _find_earlier(kind: Kind, row_of: Mapping[str, int], before: Arrays) -> tuple[Rows, Rows]:
    """Return the rows whose vectors an earlier index has, and the rows that these vectors have in that index."""
    if not before:
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    rows = np.array([row_of.get(key.decode(), -1) for key in before[kind].tolist()], np.intp)  # -1: not wanted
    has_vector = before[f"{kind}.steps"] > 0  # a row without a vector has zeros
    earlier_rows = np.flatnonzero((rows >= 0) & has_vector)
    return rows[earlier_rows], earlier_rows


def _in_memory(parts: Iterable[tuple[Rows, Vectors]], shape: tuple[int, int]) -> Vectors:
    """Return an array with the given vectors in their rows, and zeros in the others."""
    collected = np.zeros(shape, np.float32)
    for rows, vectors in parts:
        collected[rows] = vectors
    return collected


def _in_file(parts: Iterable[tuple[Rows, Vectors]], shape: tuple[int, int], folder: Path) -> Vectors:
    """Return the array of `_in_memory`, but mapped from a temporary file in a folder."""
    # Write first and map then: on a full disk, writing to a mapped file would kill the process.
    with TemporaryFile(dir=folder, buffering=0) as file:
        length = shape[1] * np.dtype(np.float32).itemsize
        file.truncate(shape[0] * length)
        for rows, vectors in parts:
            # Adjacent rows are written together.
            for run in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(rows) != 1) + 1):
                file.seek(int(rows[run[0]]) * length)
                file.write(vectors[run].tobytes())
        return np.memmap(file, np.float32, "r", shape=shape)


def vectors_of(arrays: Arrays, kind: Kind, ids: Iterable[str]) -> Iterator[tuple[str, Vectors]]:
    """Yield the ids that have a vector in an index, each with its vector, shape (d,)."""
    rows, vectors = Ids(arrays, kind), arrays[f"{kind}.vectors"]
    for key in ids:
        row = rows.get(key)
        if row is not None and vectors[row].any():
            yield key, np.asarray(vectors[row], np.float32)

