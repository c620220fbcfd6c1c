"""The vectors of entities, triples, relations and chunks in the index, by row, with codes of one byte per dimension.

Codes are for a first comparison before the best are compared exactly. A vector's largest component is 127 steps. The
product of two codes is an integer, so it does not depend on batches or threads. Its maximum distance from the vectors'
own product is known.
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
    """Return the vectors of ids: those of an earlier index, which are read fast, and else the store's.

    Args:
        kind: the kind of vectors.
        ids: their ids.
        before: the arrays of an earlier index; may be empty.
        store: the vectors in Chroma.
        folder: where they are collected in a temporary file, so that they take no memory; None collects them in memory.

    Returns:
        The vectors, shape (ids, d), zeros where there is none; and whether there is one, shape (ids,).
    """
    row_of, there = {key: row for row, key in enumerate(ids)}, np.zeros(len(ids), np.bool_)
    known, places = _find_earlier(kind, row_of, before)
    there[known] = True
    missing = [ids[row] for row in np.flatnonzero(~there).tolist()]

    def parts() -> Iterator[tuple[Rows, Vectors]]:
        for start in range(0, len(known), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            yield known[part], before[f"{kind}.vectors"][places[part]]
        for keys, vectors in store.pages(kind, missing):
            rows = np.array([row_of[key] for key in keys], np.intp)
            there[rows] = True
            yield rows, vectors

    shape = (len(ids), store.get(kind, []).shape[1])
    return (_in_file(parts(), shape, folder) if folder and ids else _in_memory(parts(), shape)), there


def _find_earlier(kind: Kind, row_of: Mapping[str, int], before: Arrays) -> tuple[Rows, Rows]:
    """Return the rows whose vectors an earlier index has, and their rows there."""
    if not before:
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    rows = np.array([row_of.get(key.decode(), -1) for key in before[kind].tolist()], np.intp)
    places = np.flatnonzero((rows >= 0) & (before[f"{kind}.steps"] > 0))  # zeros stand for no vector
    return rows[places], places


def _in_memory(parts: Iterable[tuple[Rows, Vectors]], shape: tuple[int, int]) -> Vectors:
    """Return an array with the vectors of some rows, zeros in the others."""
    collected = np.zeros(shape, np.float32)
    for rows, vectors in parts:
        collected[rows] = vectors
    return collected


def _in_file(parts: Iterable[tuple[Rows, Vectors]], shape: tuple[int, int], folder: Path) -> Vectors:
    """Return the same array, mapped from a temporary file."""
    # Mapped after it is written: writing to a mapped file kills the process on a full disk.
    with TemporaryFile(dir=folder, buffering=0) as file:
        length = shape[1] * np.dtype(np.float32).itemsize
        file.truncate(shape[0] * length)
        for rows, vectors in parts:
            for run in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(rows) != 1) + 1):
                file.seek(int(rows[run[0]]) * length)
                file.write(vectors[run].tobytes())
        return np.memmap(file, np.float32, "r", shape=shape)


def vectors_of(arrays: Arrays, kind: Kind, ids: Iterable[str]) -> Iterator[tuple[str, Vectors]]:
    """Yield those of some ids that have a vector in an index, with it, shape (d,)."""
    rows, vectors = Ids(arrays, kind), arrays[f"{kind}.vectors"]
    for key in ids:
        row = rows.get(key)
        if row is not None and vectors[row].any():
            yield key, np.asarray(vectors[row], np.float32)

