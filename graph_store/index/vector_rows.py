"""Vectors in files that only grow at their end, so that what was written once is not written again.

Each kind has a file of float32 rows. Where the row of an id is stands in the index beside it, with the checksum of
each stretch that was added. Once most rows of a file belong to nothing any more, the others move to a new one.
"""

import mmap
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from ...models.embedding.embedder import Vectors
from ..vectors.store import Kind, VectorStore
from .array_file import IndexDamagedError

Rows = NDArray[np.int32]


class VectorFile:
    """The rows of one kind: those of a file, mapped, and those that were added since."""

    def __init__(self, folder: Path, kind: Kind, dimension: int, about: Mapping[str, Any] | None = None) -> None:
        """Open what `about` says is there, or begin a new file.

        Raises:
            FileNotFoundError: the file is not there.
            IndexDamagedError: it is not as it was written.
        """
        self._folder, self.kind, self._dimension = folder, kind, dimension
        # A file of that number may be mapped by readers.
        self._number: int = about["number"] if about else self._next_number()
        self._sums: list[list[Any]] = [list(entry) for entry in about["sums"]] if about else []
        self._fresh = about is None
        self.stored = self._mapped() if about else np.zeros((0, dimension), np.float32)
        self._added = np.zeros((0, dimension), np.float32)

    @property
    def path(self) -> Path:
        """The file."""
        return self._folder / f"index-{self.kind}-{self._number}.f32"

    def _mapped(self) -> Vectors:
        rows = sum(count for count, _ in self._sums)
        if not rows:
            return np.zeros((0, self._dimension), np.float32)
        with self.path.open("rb") as file:
            size = rows * self._dimension * 4
            if self.path.stat().st_size < size:
                raise IndexDamagedError(f"{self.path} is cut short")
            mapped = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
        begin, view = 0, memoryview(mapped)
        for count, checksum in self._sums:
            end = begin + count * self._dimension * 4
            if xxhash.xxh3_64_hexdigest(view[begin:end]) != checksum:
                raise IndexDamagedError(f"{self.path} is not as it was written")
            begin = end
        return np.frombuffer(mapped, np.float32).reshape(rows, self._dimension)

    def __len__(self) -> int:
        return len(self.stored) + len(self._added)

    def rows(self, places: NDArray[Any]) -> Vectors:
        """The vectors at some places, shape (places, d)."""
        if not len(self._added):
            return np.asarray(self.stored[places], np.float32)
        old = places < len(self.stored)
        found = np.empty((len(places), self._dimension), np.float32)
        found[old], found[~old] = self.stored[places[old]], self._added[places[~old] - len(self.stored)]
        return found

    def all(self) -> Vectors:
        """The vectors of all places."""
        return np.concatenate([self.stored, self._added]) if len(self._added) else self.stored

    def add(self, vectors: Vectors) -> None:
        """Take further rows, which are not written yet."""
        self._added = np.concatenate([self._added, vectors])

    def keep(self, places: NDArray[Any]) -> None:
        """Begin a new file with the rows of some places alone."""
        self._added = self.rows(places)
        self.stored, self._sums = np.zeros((0, self._dimension), np.float32), []
        self._number, self._fresh = self._next_number(), True

    def _next_number(self) -> int:
        taken = [int(path.stem.rpartition("-")[2]) for path in self._folder.glob(f"index-{self.kind}-*.f32")]
        return max(taken, default=-1) + 1

    def write(self) -> dict[str, Any]:
        """Write what was added behind what is noted, and return what is to be noted now.

        Raises:
            OSError: the disk is full or not writable; what is noted is unchanged.
        """
        if len(self._added) or self._fresh:
            data = np.ascontiguousarray(self._added)
            # Behind what is noted there may be what a writer left that was killed.
            with self.path.open("wb" if self._fresh else "r+b") as file:
                file.truncate(self.stored.nbytes)
                file.seek(self.stored.nbytes)
                file.write(data.data if data.size else b"")
                file.flush()
                os.fsync(file.fileno())
            if len(data):
                self._sums.append([len(data), xxhash.xxh3_64_hexdigest(data.tobytes())])
        return {"number": self._number, "sums": self._sums}


class VectorRows:
    """The vectors of all kinds that retrieval compares."""

    def __init__(self, files: Mapping[Kind, VectorFile], known: Mapping[Kind, Mapping[str, int]]) -> None:
        """Go on with some files; `known`: the place of each id that is in them."""
        self.files, self._known = files, known

    def place(self, kind: Kind, ids: Sequence[str], store: VectorStore) -> Rows:
        """The places of some ids' vectors; those that are not there yet are read from the store.

        Returns:
            Shape (ids,); -1 where the store has none either.
        """
        file, known = self.files[kind], dict(self._known[kind])
        kept = [known[key] for key in ids if key in known]
        if len(file) > 2 * len(kept):
            order = np.array(sorted(kept), np.int32)
            moved = dict(zip(order.tolist(), range(len(order)), strict=True))
            file.keep(order)
            known = {key: moved[known[key]] for key in ids if key in known}
        new = [key for key in ids if key not in known]
        absent = set(store.missing(kind, new))
        new = [key for key in new if key not in absent]
        known.update(zip(new, range(len(file), len(file) + len(new)), strict=True))
        if new:
            file.add(store.get(kind, new))
        return np.array([known.get(key, -1) for key in ids], np.int32)

    def write(self) -> dict[str, Any]:
        """Write all files; returns what is to be noted of them."""
        return {kind: file.write() for kind, file in self.files.items()}


def norms_of_means(vectors: VectorRows, places: Mapping[Kind, Rows], triples: Sequence[NDArray[Any]],
                   entities: Sequence[Sequence[int]]) -> NDArray[np.float32]:
    """The lengths of the means of some vectors: those of rows of triples or, where there are none, of entities."""
    norms = np.zeros(len(triples), np.float32)
    for row, (of_triples, of_entities) in enumerate(zip(triples, entities, strict=True)):
        kind: Kind = "triples" if len(of_triples) else "entities"
        rows = places[kind][np.asarray(of_triples if len(of_triples) else of_entities, np.intp)]
        if len(rows):
            norms[row] = np.linalg.norm(vectors.files[kind].rows(rows).mean(axis=0))
    return norms
