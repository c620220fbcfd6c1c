"""Store vectors in append-only files, and in files beside them their codes of one byte per dimension.

The index next to them has each id's row and a checksum of each appended stretch. Once most rows of a file are unused,
the others move to a new file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...models.embedding.embedder import Vectors
from ..vectors.store import Kind, VectorStore
from .codes import code_row, coded, farthest
from .row_file import RowFile

Rows = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class StoredVectors:
    """The vectors of one kind by place, shape (places, d), and their codes."""

    vectors: Vectors
    codes: NDArray[np.int8]
    """Shape (places, d)."""
    steps: NDArray[np.float32]
    """The length of each code's step."""
    farthest: float
    """The largest distance between a vector and its code."""

    def __len__(self) -> int:
        return len(self.vectors)


class VectorFile:
    """The vectors of one kind: the rows mapped from files, and rows added since."""

    def __init__(self, folder: Path, kind: Kind, dimension: int, about: Mapping[str, Any] | None = None) -> None:
        """Open the files that `about` describes, or begin new ones.

        Raises:
            FileNotFoundError: a file is missing.
            IndexDamagedError: a file is damaged.
        """
        self._folder, self.kind, self.dimension = folder, kind, dimension
        self._added = np.zeros((0, dimension), np.float32)
        if about:
            self._open(about["number"], about)
        else:
            self._begin()

    def _begin(self) -> None:
        # Files of other numbers may be mapped by readers.
        taken = [int(path.stem.rpartition("-")[2]) for path in self._folder.glob(f"index-{self.kind}-*.f32")]
        self._open(max(taken, default=-1) + 1, {})

    def _open(self, number: int, about: Mapping[str, Any]) -> None:
        self._number = number
        row = np.dtype([("vector", np.float32, (self.dimension,))])
        stem = self._folder / f"index-{self.kind}-{number}"
        self._vectors = RowFile(stem.with_suffix(".f32"), row, about.get("sums"))
        self._codes = RowFile(stem.with_suffix(".i8"), code_row(self.dimension), about.get("codes"))
        self._farthest: float = about.get("farthest", 0.0)
        self.stored: Vectors = self._vectors.stored["vector"]

    @property
    def paths(self) -> tuple[Path, Path]:
        """The paths of the vectors and of their codes."""
        return self._vectors.path, self._codes.path

    def __len__(self) -> int:
        return len(self.stored) + len(self._added)

    def rows(self, places: NDArray[Any]) -> Vectors:
        """Return the vectors at some places, shape (places, d)."""
        if not len(self._added):
            return np.asarray(self.stored[places], np.float32)
        old = places < len(self.stored)
        found = np.empty((len(places), self.dimension), np.float32)
        found[old], found[~old] = self.stored[places[old]], self._added[places[~old] - len(self.stored)]
        return found

    def all(self) -> StoredVectors:
        """Return the vectors at all places, with their codes."""
        vectors, codes, far = self.stored, self._codes.stored, self._farthest
        if len(self._added):
            added = coded(self._added)
            vectors, codes = np.concatenate([vectors, self._added]), np.concatenate([codes, added])
            far = max(far, farthest(self._added, added))
        # Copy the steps, because reading them from between the codes is slow for every question.
        return StoredVectors(vectors, codes["code"], np.ascontiguousarray(codes["step"]), far)

    def is_coded(self) -> bool:
        """Return True if the stored codes are those of the stored vectors."""
        return np.array_equal(self._codes.stored, coded(self.stored))

    def add(self, vectors: Vectors) -> None:
        """Append rows, which `write` saves."""
        self._added = np.concatenate([self._added, vectors])

    def keep(self, places: NDArray[Any]) -> None:
        """Begin new files with only the rows at some places."""
        self._added = self.rows(places)
        self._begin()

    def write(self) -> dict[str, Any]:
        """Append the added rows to the files, and return the description to store in the index.

        Raises:
            OSError: the disk is full or not writable; the rows described so far are unchanged.
        """
        codes = coded(self._added)
        row = self._vectors.stored.dtype
        return {"number": self._number, "sums": self._vectors.append(np.ascontiguousarray(self._added).view(row)),
                "codes": self._codes.append(codes), "farthest": max(self._farthest, farthest(self._added, codes))}


class VectorRows:
    """The vectors of all kinds that retrieval compares."""

    def __init__(self, files: Mapping[Kind, VectorFile], known: Mapping[Kind, Mapping[str, int]]) -> None:
        """Continue with some files; `known` has the place of each id in them."""
        self.files, self._known = files, known
        self.dimension = files["triples"].dimension

    def place(self, kind: Kind, ids: Sequence[str], store: VectorStore) -> Rows:
        """Return the places of vectors by id, after adding missing ones from the store.

        Files that consist mostly of other ids' rows are replaced by new ones.

        Returns:
            Shape (ids,); -1 for ids that the store lacks too.
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
        """Write all files, and return the descriptions to store in the index."""
        return {kind: file.write() for kind, file in self.files.items()}


def directions_of_means(vectors: VectorRows, places: Mapping[Kind, Rows], triples: Sequence[NDArray[Any]],
                        entities: Sequence[Sequence[int]]) -> Vectors:
    """Return for each list of rows the mean vector of its triples, or of its entities if it has none, at unit length.

    Returns:
        Shape (lists, d); zeros for a list without vectors.
    """
    directions = np.zeros((len(triples), vectors.dimension), np.float32)
    for row, (of_triples, of_entities) in enumerate(zip(triples, entities, strict=True)):
        kind: Kind = "triples" if len(of_triples) else "entities"
        rows = places[kind][np.asarray(of_triples if len(of_triples) else of_entities, np.intp)]
        if len(rows):
            mean = vectors.files[kind].rows(rows).mean(axis=0)
            directions[row] = mean / (np.linalg.norm(mean) or 1)
    return directions
