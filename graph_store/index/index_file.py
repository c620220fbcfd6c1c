"""The index of a knowledge base on disk: named arrays in one file, mapped into memory and shared by processes.

It is made again for another state of the ledger, or when it is damaged; processes that have mapped a replaced file can
still read it. The length of the header comes first, then the header in JSON with the type, shape and offset of each
array, then the arrays.
"""

import logging
import mmap
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import orjson
from numpy.typing import NDArray

from ...models.embedding.embedder import Embedder
from ...runtime.safe_files import whole_file
from ..ledger.version import Version

Arrays = Mapping[str, NDArray[Any]]

_LOG = logging.getLogger("banyan")
_FORMAT = "banyan-index-25"
"""Another number when the arrays change: an index of other arrays than the code reads is an error."""
_LENGTH_BYTES, _ALIGNED = 8, 64


class IndexDamagedError(ValueError):
    """The file is damaged; it can be rebuilt from the ledger."""


def write(path: Path, about: Mapping[str, Any], arrays: Arrays) -> None:
    """Replace a file atomically by one with these arrays; an OSError leaves the old file unchanged."""
    entries: dict[str, tuple[str, tuple[int, ...], int]] = {}
    end = 0
    for name, array in arrays.items():
        start = end + -end % _ALIGNED
        entries[name] = array.dtype.str, array.shape, start
        end = start + array.nbytes
    header = orjson.dumps({"format": _FORMAT, "about": dict(about), "arrays": entries, "size": end})
    header += b" " * (-(_LENGTH_BYTES + len(header)) % _ALIGNED)
    with whole_file(path) as file:
        file.write(len(header).to_bytes(_LENGTH_BYTES, "little") + header)
        begin = file.tell()
        for (_, _, start), array in zip(entries.values(), arrays.values(), strict=True):
            file.write(bytes(begin + start - file.tell()))
            if array.size:
                file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def load(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Map the arrays of a file into memory, and return what it is of, and the arrays by name.

    Raises:
        FileNotFoundError: there is no such file.
        IndexDamagedError: the file is cut short, not readable or of another format.
    """
    with path.open("rb") as file:
        header, begin = _read_header(path, file), file.tell()
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        if len(mapped) != begin + header["size"]:
            raise IndexDamagedError(f"{path} is cut short, or has something behind its end")
        arrays = {name: (np.ndarray(shape, np.dtype(kind), mapped, begin + start) if all(shape)
                         else np.zeros(shape, kind))
                  for name, (kind, shape, start) in header["arrays"].items()}
        return dict(header["about"]), arrays
    except (KeyError, TypeError, ValueError) as error:
        raise IndexDamagedError(f"{path} is damaged: {error}") from error


def _read_header(path: Path, file: BinaryIO) -> dict[str, Any]:
    length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
    try:
        header: dict[str, Any] = orjson.loads(file.read(min(length, path.stat().st_size)))
        if header["format"] == _FORMAT:
            return header
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise IndexDamagedError(f"{path} is damaged or of another format") from error
    raise IndexDamagedError(f"{path} is of another format")


class IndexStore:
    """Writes and maps the index of one knowledge base."""

    def __init__(self, path: Path, embedder: Embedder) -> None:
        self._path = path
        self._embedder = embedder

    def load(self, version: Version) -> Arrays | None:
        """Map the index of a state of the ledger; return None if it is missing, damaged or of another state."""
        try:
            with self._path.open("rb") as file:
                about = _read_header(self._path, file)["about"]
            is_current = all(about.get(key) == value for key, value in self._about(version).items())
            return load(self._path)[1] if is_current else None
        except FileNotFoundError:
            return None
        except IndexDamagedError as error:
            _LOG.warning("%s; it is made again", error)
            return None

    def save(self, version: Version, arrays: Arrays) -> None:
        """Write the arrays of a state of the ledger; an OSError leaves the old index unchanged."""
        write(self._path, self._about(version), arrays)

    def differs(self, expected: Arrays) -> bool:
        """Return True if the file's arrays differ from those that the ledger's state gives."""
        _, stored = load(self._path)
        return stored.keys() != expected.keys() or any(
            not np.array_equal(stored[name], expected[name]) for name in expected)

    def _about(self, version: Version) -> dict[str, Any]:
        return {"version": list(version), "embedding": self._embedder.fingerprint}

    def is_ahead(self, version: Version) -> bool:
        """Return True if the file is of a later state than the ledger's: an older ledger was put back."""
        try:
            with self._path.open("rb") as file:
                made_of = Version(*_read_header(self._path, file)["about"]["version"])
        except (FileNotFoundError, IndexDamagedError):
            return False
        return made_of.epoch == version.epoch and (made_of.position > version.position
                                                   or made_of.resolution > version.resolution)

    def load_earlier(self, version: Version) -> Arrays:
        """Return the arrays of the file if they are of the same epoch and embedding model; otherwise none."""
        try:
            about, arrays = load(self._path)
        except (FileNotFoundError, IndexDamagedError):
            return {}
        made_of = Version(*about["version"]).epoch, about["embedding"]
        return arrays if made_of == (version.epoch, self._embedder.fingerprint) else {}
