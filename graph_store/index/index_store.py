"""The index of a knowledge base on disk: one file of arrays.

It is derived from one state of the ledger, which it names: for another state, or once it is damaged, it is made again.
Readers map it and need neither the graph nor Chroma. A file that is replaced stays readable for those who have it
mapped.
"""

import logging
from pathlib import Path
from typing import Any

import numpy as np

from ...models.embedding.embedder import Embedder
from ..ledger.version import Version
from . import array_file
from .array_file import Arrays, IndexDamagedError
from .contents import IndexSource, contents

_LOG = logging.getLogger("banyan")


class IndexStore:
    """Writes and maps the index of one knowledge base."""

    def __init__(self, path: Path, embedder: Embedder) -> None:
        """Look for the index at a path."""
        self._path = path
        self._embedder = embedder

    def load(self, version: Version) -> Arrays | None:
        """Map the index of a state; None where it is of another one, missing or damaged."""
        try:
            return None if self._read_header(version) is None else array_file.load(self._path).arrays
        except FileNotFoundError:
            return None
        except IndexDamagedError as error:
            _LOG.warning("%s; it is made again", error)
            return None

    def counts(self, version: Version) -> list[int] | None:
        """Return how many entities, triples and attributes a state has; None where the index is not of it."""
        try:
            noted = self._read_header(version)
        except (FileNotFoundError, IndexDamagedError):
            return None
        return noted.get("counts") if noted else None

    def _read_header(self, version: Version) -> dict[str, Any] | None:
        """Read the index's header alone; return None if it is of another state."""
        noted = array_file.about(self._path)
        return noted if all(noted.get(key) == value for key, value in self._about(version).items()) else None

    def save(self, version: Version, source: IndexSource) -> None:
        """Write the index of a state.

        Raises:
            OSError: the disk is full or not writable; the old index is unchanged.
            StoreError: vectors cannot be read.
        """
        arrays = contents(source, self.earlier(version), self._path.parent)
        array_file.write(self._path, self._about(version) | {"counts": arrays["counts"].tolist()}, arrays)

    def differs(self, version: Version, source: IndexSource) -> bool:
        """Return True if the arrays of the file are not what a state gives, with the vectors that are in the file."""
        there, made = array_file.load(self._path).arrays, contents(source, self.earlier(version))
        return there.keys() != made.keys() or any(not np.array_equal(there[name], made[name]) for name in made)

    def _about(self, version: Version) -> dict[str, Any]:
        return {"version": list(version), "embedding": self._embedder.fingerprint}

    def earlier(self, version: Version) -> Arrays:
        """Return the arrays of the file, whose vectors can be used again, if it is of the same epoch and model."""
        try:
            found = array_file.load(self._path)
        except (FileNotFoundError, IndexDamagedError):
            return {}
        same = Version(*found.about["version"]).epoch, found.about["embedding"]
        return found.arrays if same == (version.epoch, self._embedder.fingerprint) else {}
