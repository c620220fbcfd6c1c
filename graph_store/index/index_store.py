"""The index of a knowledge base on disk: one file of arrays.

It is derived from one state of the ledger, which is noted in it. It is rebuilt for another state, or when it is
damaged. Readers map it, and need neither the graph nor Chroma. When the file is replaced, processes that have mapped
the old one can still read it.
"""

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ...models.embedding.embedder import Embedder, Vectors
from ..ledger.version import Version
from ..vectors.vector_store import Kind
from . import array_file
from .array_file import Arrays, IndexDamagedError
from .columns import Ids
from .contents import IndexSource, contents

_LOG = logging.getLogger("banyan")


class IndexStore:
    """Writes and maps the index of one knowledge base."""

    def __init__(self, path: Path, embedder: Embedder) -> None:
        """Use the index at a path, with vectors of this embedder."""
        self._path = path
        self._embedder = embedder

    def load(self, version: Version) -> Arrays | None:
        """Map the index of a state of the ledger; return None if it is missing, damaged or of another state."""
        try:
            return None if self._read_header(version) is None else array_file.load(self._path).arrays
        except FileNotFoundError:
            return None
        except IndexDamagedError as error:
            _LOG.warning("%s; it is made again", error)
            return None

    def counts(self, version: Version) -> list[int] | None:
        """Return the numbers of entities, triples and attributes; None if `load` would return None."""
        try:
            header = self._read_header(version)
        except (FileNotFoundError, IndexDamagedError):
            return None
        return header.get("counts") if header else None

    def _read_header(self, version: Version) -> dict[str, Any] | None:
        """Read only the index's header; return None if the index is of another state or embedding model."""
        header = array_file.about(self._path)
        is_current = all(header.get(key) == value for key, value in self._about(version).items())
        return header if is_current else None

    def save(self, version: Version, source: IndexSource) -> None:
        """Build the index of a state and write it.

        Raises:
            OSError: the disk is full or not writable; the old index is unchanged.
            StoreError: vectors cannot be read.
        """
        arrays = contents(source)
        array_file.write(self._path, self._about(version) | {"counts": arrays["counts"].tolist()}, arrays)

    def differs(self, source: IndexSource) -> bool:
        """Return True if the file's arrays differ from those that the ledger's state gives; vectors are not checked.

        The vectors are not read from the store again but from the file itself.
        """
        stored, expected = array_file.load(self._path).arrays, contents(source)
        return stored.keys() != expected.keys() or any(
            not np.array_equal(stored[name], expected[name]) for name in expected)

    def _about(self, version: Version) -> dict[str, Any]:
        return {"version": list(version), "embedding": self._embedder.fingerprint}

    def earlier(self, version: Version) -> Arrays:
        """Return the arrays of the file if its vectors can be used again; otherwise none.

        They can if the file is of the same epoch of the ledger and of the same embedding model.
        """
        try:
            found = array_file.load(self._path)
        except (FileNotFoundError, IndexDamagedError):
            return {}
        made_of = Version(*found.about["version"]).epoch, found.about["embedding"]
        return found.arrays if made_of == (version.epoch, self._embedder.fingerprint) else {}


def vectors_of(arrays: Arrays, kind: Kind, ids: Iterable[str]) -> dict[str, Vectors]:
    """Return the vectors of those of some ids that have one in an index, each of shape (d,)."""
    if kind not in arrays:
        return {}
    rows, vectors = Ids(arrays, kind), arrays[f"{kind}.vectors"]
    return {key: vectors[row] for key in ids if (row := rows.get(key)) is not None}
