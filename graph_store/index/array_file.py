"""Named arrays in one file, mapped into memory: processes share its pages, and only what is read is loaded.

The file begins with the length and the checksum of its header. The header is JSON: the writer's notes, the type, shape
and offset of each array, and a checksum of the arrays. The arrays follow. Reading the file never runs code from it.
"""

import mmap
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
import xxhash
from numpy.typing import NDArray

from ...runtime.safe_files import whole_file

Arrays = Mapping[str, NDArray[Any]]

_FORMAT = "banyan-index-23"
_PREFIX = struct.Struct("<QQ")
_ALIGNED = 64
_KINDS = "biufS"


class IndexDamagedError(ValueError):
    """The file is damaged; it can be rebuilt from the ledger."""


class ArrayFile(NamedTuple):
    """The contents of a file: the writer's notes, and the arrays by name."""

    about: dict[str, Any]
    arrays: Arrays


def write(path: Path, about: Mapping[str, Any], arrays: Arrays) -> None:
    """Replace a file atomically by one with these arrays. Equal arrays are written only once.

    Args:
        path: the file.
        about: the writer's notes, which `about` and `load` return.
        arrays: the arrays by name.

    Raises:
        OSError: the disk is full or not writable; the old file is unchanged.
    """
    # The entry of each array in the header: type, shape and offset.
    entries: dict[str, list[Any]] = {}
    entry_of_content: dict[tuple[Any, ...], list[Any]] = {}
    end, digest = 0, xxhash.xxh3_64()
    parts: list[tuple[int, NDArray[Any]]] = []
    for name, array in arrays.items():
        gap = -end % _ALIGNED
        new_entry = [array.dtype.str, list(array.shape), end + gap]
        content = array.dtype.str, array.shape, xxhash.xxh3_128_digest(_bytes(array))
        entries[name] = entry = entry_of_content.setdefault(content, new_entry)
        if entry[2] == end + gap:  # otherwise an equal array is written already
            end += gap + int(np.prod(array.shape)) * array.dtype.itemsize
            parts.append((gap, array))

    def header() -> bytes:
        text = orjson.dumps({"format": _FORMAT, "about": dict(about), "arrays": entries, "size": end,
                             "checksum": digest.hexdigest()})
        return text + b" " * (-(_PREFIX.size + len(text)) % _ALIGNED)

    with whole_file(path) as file:
        begin = _PREFIX.size + len(header())  # the checksum, known at the end, does not change the length
        file.seek(begin)
        for gap, array in parts:
            for part in (bytes(gap), _bytes(array)):
                digest.update(part)
                file.write(part)
        file.seek(0)
        final = header()
        file.write(_PREFIX.pack(len(final), xxhash.xxh3_64_intdigest(final)))
        file.write(final)


def _bytes(array: NDArray[Any]) -> bytes | memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.size else b""


def about(path: Path) -> dict[str, Any]:
    """Return the writer's notes; only the file's header is read and checked.

    Raises:
        FileNotFoundError: there is no such file.
        IndexDamagedError: the header is damaged or of another format.
    """
    with path.open("rb") as file:
        return dict(_header(path, file.read(_PREFIX.size), file)["about"])


def load(path: Path) -> ArrayFile:
    """Check the checksum of a file, and map its arrays into memory.

    Raises:
        FileNotFoundError: there is no such file.
        IndexDamagedError: the file is damaged or of another format.
    """
    with path.open("rb") as file:
        header = _header(path, file.read(_PREFIX.size), file)
        begin = file.tell()
        if path.stat().st_size != begin + header["size"]:
            raise IndexDamagedError(f"{path} is cut short, or has something behind its end")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if xxhash.xxh3_64_hexdigest(memoryview(mapped)[begin:]) != header["checksum"]:
        raise IndexDamagedError(f"{path} is not as it was written")
    arrays = {}
    for name, (kind, shape, offset) in header["arrays"].items():
        dtype = np.dtype(kind)
        if dtype.kind not in _KINDS:
            raise IndexDamagedError(f"{path} has an array of the type {kind!r}")
        count = int(np.prod(shape))
        flat = np.frombuffer(mapped, dtype, count, begin + offset) if count else np.zeros(0, dtype)
        arrays[name] = flat.reshape(shape)
    return ArrayFile(dict(header["about"]), arrays)


def _header(path: Path, prefix: bytes, file: Any) -> dict[str, Any]:
    """Read a file's header and check its checksum and format; `prefix` is the start of the file, read before."""
    if len(prefix) == _PREFIX.size:
        length, checksum = _PREFIX.unpack(prefix)
        if length <= path.stat().st_size:
            header = file.read(length)
            if xxhash.xxh3_64_intdigest(header) == checksum:
                found: dict[str, Any] = orjson.loads(header)
                if found["format"] == _FORMAT:
                    return found
    raise IndexDamagedError(f"{path} is damaged or of another format")
