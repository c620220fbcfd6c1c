"""The vectors of entities, triples and chunks in the index, by row, with their codes of one byte per dimension.

Codes are for a first comparison before the best are compared exactly. A vector's largest component is 127 steps. The
product of two codes is an integer, so it does not depend on batches or threads. Its maximum distance from the vectors'
own product is known.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ...models.embedding.embedder import Vectors
from ..vectors.vector_store import Kind, VectorStore
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


@dataclass(frozen=True, eq=False)
class GatheredVectors:
    """Vectors by row that stay where they are until rows are asked for, so that writing an index holds no copy.

    Attributes:
        earlier: the vectors of an earlier index, mapped, shape (m, d).
        new: those that it lacks, shape (k, d).
        places: for each row its place among `earlier`, then among `new`; -1 for zeros; shape (n,).
    """

    earlier: Vectors
    new: Vectors
    places: NDArray[np.intp]

    dtype = np.dtype(np.float32)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, and of dimensions."""
        return len(self.places), self.earlier.shape[1]

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, rows: slice | Sequence[int] | NDArray[Any]) -> Vectors:
        """Return the vectors of some rows."""
        places, known = self.places[rows], len(self.earlier)
        found = np.zeros((len(places), self.shape[1]), np.float32)
        old, new = (places >= 0) & (places < known), places >= known
        found[old], found[new] = self.earlier[places[old]], self.new[places[new] - known]
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Vectors:
        """Return all vectors, for NumPy's functions."""
        return self[:]


def quantise(vectors: Vectors | GatheredVectors) -> Codes:
    """Quantise vectors, shape (n, d)."""
    codes = np.zeros(vectors.shape, np.int8)
    steps = np.zeros(len(vectors), np.float32)
    for start in range(0, len(vectors), _AT_ONCE):
        block = vectors[start:start + _AT_ONCE]
        step = np.abs(block).max(axis=1, initial=0) / np.float32(_STEPS)
        whole = np.divide(block, step[:, None], out=np.zeros_like(block), where=step[:, None] > 0)
        codes[start:start + _AT_ONCE], steps[start:start + _AT_ONCE] = np.rint(whole), step
    return Codes(codes, steps)


def farthest(vectors: Vectors | GatheredVectors, codes: Codes) -> float:
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

    vectors: Vectors | GatheredVectors
    codes: Codes
    farthest: float

    def __len__(self) -> int:
        return len(self.vectors)

    @classmethod
    def of(cls, vectors: Vectors | GatheredVectors) -> "StoredVectors":
        """Code some vectors."""
        codes = quantise(vectors)
        return cls(vectors, codes, farthest(vectors, codes))

    @classmethod
    def read(cls, arrays: Arrays, kind: Kind) -> "StoredVectors":
        """Return the vectors of a kind as `arrays` stores them."""
        return cls(arrays[f"{kind}.vectors"], Codes(arrays[f"{kind}.codes"], arrays[f"{kind}.steps"]),
                   float(arrays[f"{kind}.farthest"][0]))

    def arrays(self, kind: Kind) -> dict[str, NDArray[Any]]:
        """Return the arrays to store for a kind; vectors that are gathered can be written and compared alone."""
        return {f"{kind}.vectors": cast("Vectors", self.vectors), f"{kind}.codes": self.codes.codes,
                f"{kind}.steps": self.codes.steps, f"{kind}.farthest": np.array([self.farthest])}


def find_vectors(kind: Kind, ids: Sequence[str], before: Arrays, store: VectorStore, folder: Path | None,
                 ) -> tuple[Vectors | GatheredVectors, NDArray[np.bool_]]:
    """Return the vectors of ids: those of an earlier index, which are read fast, and else the store's.

    Args:
        kind: the kind of vectors.
        ids: their ids.
        before: the arrays of an earlier index; may be empty.
        store: the vectors in Chroma.
        folder: where the vectors of the store are spooled to a temporary file; None reads them into memory.

    Returns:
        The vectors, shape (ids, d), zeros where there is none; and whether there is one, shape (ids,).
    """
    places = np.full(len(ids), -1, np.intp)
    earlier = np.zeros((0, store.get(kind, []).shape[1]), np.float32)
    if before:
        earlier = before[f"{kind}.vectors"]
        row_of = {key.decode(): row for row, key in enumerate(before[kind].tolist())}
        places[:] = [row_of.get(key, -1) for key in ids]
        known = np.flatnonzero(places >= 0)
        places[known[before[f"{kind}.steps"][places[known]] == 0]] = -1  # zeros stand for no vector
    missing = np.flatnonzero(places < 0)
    row_of = {ids[row]: number for number, row in enumerate(missing.tolist())}
    new, there = _read_new(kind, row_of, store, earlier.shape[1], folder)
    places[missing[there]] = len(earlier) + np.flatnonzero(there)
    return GatheredVectors(earlier, new, places) if before else new, places >= 0


def _read_new(kind: Kind, row_of: Mapping[str, int], store: VectorStore, dimension: int, folder: Path | None,
              ) -> tuple[Vectors, NDArray[np.bool_]]:
    """Return the store's vectors by row, zeros where there is none; and whether there is one."""
    there, shape = np.zeros(len(row_of), np.bool_), (len(row_of), dimension)
    pages = (([row_of[key] for key in keys], vectors) for keys, vectors in store.pages(kind, list(row_of)))
    if folder is None or not row_of:
        new = np.zeros(shape, np.float32)
        for rows, vectors in pages:
            new[rows], there[rows] = vectors, True
        return new, there
    # Mapped after it is written: writing to a mapped file kills the process on a full disk.
    with TemporaryFile(dir=folder, buffering=0) as file:
        length = dimension * np.dtype(np.float32).itemsize
        file.truncate(len(row_of) * length)
        for rows, vectors in pages:
            there[rows] = True
            for row, vector in zip(rows, vectors, strict=True):
                file.seek(row * length)
                file.write(vector.tobytes())
        return np.memmap(file, np.float32, "r", shape=shape), there


def vectors_of(arrays: Arrays, kind: Kind, ids: Iterable[str]) -> Iterator[tuple[str, Vectors]]:
    """Yield those of some ids that have a vector in an index, with it, shape (d,)."""
    rows, vectors = Ids(arrays, kind), arrays[f"{kind}.vectors"]
    for key in ids:
        row = rows.get(key)
        if row is not None and vectors[row].any():
            yield key, np.asarray(vectors[row], np.float32)

