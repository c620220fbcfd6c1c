"""The index of a knowledge base on disk: one file of arrays, and for each kind one of vectors and one of their codes.

It is derived from one state of the ledger, which it names: for another state, or once a file is damaged, it is made
again. Readers map it and need neither the graph nor Chroma. Files that are replaced stay readable for those who have
them mapped.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...models.embedding.embedder import Embedder, Vectors
from ..ledger.version import Version
from ..vectors.store import Kind
from . import array_file
from .array_file import ArrayFile, Arrays, IndexDamagedError
from .columns import Ids
from .contents import Source, contents
from .vector_rows import StoredVectors, VectorFile, VectorRows

_LOG = logging.getLogger("banyan")
_KINDS: tuple[Kind, ...] = ("entities", "triples", "chunks")


class Index(NamedTuple):
    """The arrays that retrieval reads, and the stored vectors of each kind."""

    arrays: Arrays
    vectors: Mapping[Kind, StoredVectors]

    def vectors_of(self, kind: Kind, ids: Iterable[str]) -> Iterator[tuple[str, Vectors]]:
        """Yield those of some ids that have a vector, with it, shape (d,)."""
        rows, places, stored = Ids(self.arrays, kind), self.arrays[f"{kind}.places"], self.vectors[kind].vectors
        for key in ids:
            row = rows.get(key)
            if row is not None and places[row] >= 0:
                yield key, np.asarray(stored[places[row]], np.float32)


class IndexStore:
    """Writes and maps the index of one knowledge base."""

    def __init__(self, path: Path, embedder: Embedder) -> None:
        """Look for the index at a path; the files of vectors are beside it."""
        self._path = path
        self._embedder = embedder

    def load(self, version: Version) -> Index | None:
        """Map the index of a state; None where it is of another one, missing or damaged."""
        try:
            if self._read_header(version) is None:
                return None
            found, files = _open(self._path)
        except FileNotFoundError:
            return None
        except IndexDamagedError as error:
            _LOG.warning("%s; it is made again", error)
            return None
        return Index(found.arrays, {kind: files[kind].all() for kind in _KINDS})

    def counts(self, version: Version) -> list[int] | None:
        """How many entities, triples and attributes a state has; None where the index is not of it."""
        try:
            noted = self._read_header(version)
        except (FileNotFoundError, IndexDamagedError):
            return None
        return noted.get("counts") if noted else None

    def _read_header(self, version: Version) -> dict[str, Any] | None:
        """Read the index's header alone; return None if it is of another state."""
        noted = array_file.about(self._path)
        return noted if all(noted.get(key) == value for key, value in self._about(version).items()) else None

    def save(self, version: Version, source: Source) -> None:
        """Write the index of a state. Only vectors that are new are written, whatever their number.

        Raises:
            OSError: the disk is full or not writable; the old index is unchanged.
            StoreError: vectors cannot be read.
        """
        vectors = self._go_on(version)
        arrays = contents(source, vectors)
        array_file.write(self._path, self._about(version) | {
            "vectors": vectors.write(), "counts": arrays["counts"].tolist()}, arrays)
        used = {path for file in vectors.files.values() for path in file.paths}
        for path in self._path.parent.glob("index-*-*.*"):
            if path not in used:
                with suppress(OSError):  # where open files cannot be removed they go later
                    path.unlink()

    def make(self, source: Source) -> Index:
        """Make an index in memory, where it cannot be written or another process is writing."""
        vectors = self._empty()
        arrays = contents(source, vectors)
        return Index(arrays, {kind: vectors.files[kind].all() for kind in _KINDS})

    def differs(self, version: Version, source: Source) -> bool:
        """Whether the arrays of the files are not what a state gives, with the vectors that are in the files."""
        there, vectors = array_file.load(self._path).arrays, self._go_on(version)
        if not all(file.is_coded() for file in vectors.files.values()):
            return True
        made = contents(source, vectors)
        return there.keys() != made.keys() or any(not np.array_equal(there[name], made[name]) for name in made)

    def _about(self, version: Version) -> dict[str, Any]:
        return {"version": list(version), "embedding": self._embedder.fingerprint,
                "dimension": self._embedder.dimension}

    def _empty(self) -> VectorRows:
        return VectorRows({kind: VectorFile(self._path.parent, kind, self._embedder.dimension) for kind in _KINDS},
                          {kind: {} for kind in _KINDS})

    def _go_on(self, version: Version) -> VectorRows:
        """Return the vectors that are written already, if they are of the same epoch and model."""
        try:
            found, files = _open(self._path)
        except (FileNotFoundError, IndexDamagedError):
            return self._empty()
        before, embedding = Version(*found.about["version"]), found.about["embedding"]
        if (before.epoch, embedding) != (version.epoch, self._embedder.fingerprint):
            return self._empty()
        return VectorRows(files, {kind: _places(found.arrays, kind) for kind in _KINDS})


def damages(path: Path) -> Iterator[str]:
    """Yield the problems of an index's files; a missing file is none, as it is made again."""
    try:
        _open(path)
    except IndexDamagedError as error:
        yield str(error)
    except FileNotFoundError as error:
        if path.exists():
            yield f"{error.filename} is missing"


def _open(path: Path) -> tuple[ArrayFile, dict[Kind, VectorFile]]:
    found = array_file.load(path)
    return found, {kind: VectorFile(path.parent, kind, found.about["dimension"], found.about["vectors"][kind])
                   for kind in _KINDS}


def _places(arrays: Arrays, kind: Kind) -> dict[str, int]:
    ids: NDArray[np.bytes_] = arrays[kind]
    return {key.decode(): place for key, place in zip(ids.tolist(), arrays[f"{kind}.places"].tolist(), strict=True)
            if place >= 0}
