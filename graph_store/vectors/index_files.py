"""Check that the files of Chroma's nearest-neighbour indexes are as they were written.

hnswlib does not validate the files it loads, and a damaged one can crash the whole process. Therefore checksums of the
files are stored after vectors are written, and compared before the files are loaded. They are removed before vectors
are written, so missing checksums show that a writer was killed.
"""

import json
import os
import struct
from pathlib import Path
from zlib import crc32

_CHECKSUMS = "checksums.json"
_METADATA = "index_metadata.pickle"  # first written when an index has elements
_NO_ELEMENTS = b"id_to_label}X"
"""The beginning of that file contains this if all elements were removed: an empty dictionary, and the next key."""
_BEGINNING = 256
_BLOCK = 1 << 20
_HEADER = struct.Struct("<iQQQQ")
"""hnswlib's header: version, offset, capacity in vectors, number of vectors, and bytes of each vector."""
_LENGTH_BYTES = 4
"""The number of bytes in which hnswlib stores a vector's length."""

_Entry = list[int]
"""Of a file: its size, the time of its last change in nanoseconds, and its checksum."""


def forget(folder: Path) -> dict[str, _Entry]:
    """Delete the stored checksums and return them; call this before the index files change."""
    before = _read_checksums(folder)
    (folder / _CHECKSUMS).unlink(missing_ok=True)
    return before or {}


def note(folder: Path, before: dict[str, _Entry]) -> None:
    """Store the checksums of all index files in Chroma's folder. No other process may be writing to it.

    Args:
        folder: Chroma's folder.
        before: the checksums from before the files changed. Files that have not changed since are not read again.

    Raises:
        OSError: a file cannot be read or written.
    """
    for header in folder.glob("*/header.bin"):
        if _stamp(header) != before.get(str(header.relative_to(folder)), [])[:2]:  # the index has changed
            _blank_unused(header)
    entries = {name: _entry(folder / name, before.get(name)) for name in _files(folder)}
    temporary = folder / f".{_CHECKSUMS}"
    temporary.write_text(json.dumps(entries), "utf-8")
    temporary.replace(folder / _CHECKSUMS)


def _blank_unused(header: Path) -> None:
    """Fill the unused space after the last vector in an index's files with zeros."""
    header_bytes = header.read_bytes()
    if len(header_bytes) < _HEADER.size:
        return  # a process that opens Chroma is writing an empty index
    _, _, _, count, vector_bytes = _HEADER.unpack_from(header_bytes)
    for name, bytes_each in (("data_level0.bin", vector_bytes), ("length.bin", _LENGTH_BYTES)):
        with header.with_name(name).open("r+b") as file:
            end = file.seek(0, os.SEEK_END)
            used = count * bytes_each
            file.seek(used)
            file.write(bytes(max(0, end - used)))


def are_noted(folder: Path) -> bool:
    """Return True if there are stored checksums, which means that the last writer finished."""
    return _read_checksums(folder) is not None


def damages(folder: Path) -> list[str]:
    """Return a line for each file that differs from its checksum; one line if there are files but no checksums."""
    if not are_noted(folder) and _files(folder):
        return ["it is being written, or its writer was killed"]
    return [f"{name} is not as it was written" for name, entry in (_read_checksums(folder) or {}).items()
            if _differs(folder / name, entry)]


def _files(folder: Path) -> list[str]:
    """Return the index files to check, relative to the folder."""
    return [str(file.relative_to(folder)) for metadata in sorted(folder.glob(f"*/{_METADATA}"))
            if _NO_ELEMENTS not in _read_beginning(metadata) for file in sorted(metadata.parent.iterdir())]


def _read_beginning(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(_BEGINNING)


def _read_checksums(folder: Path) -> dict[str, _Entry] | None:
    """Return the stored checksums by file; None if there are none or their file is damaged."""
    try:
        return {name: [size, changed, checksum] for name, (size, changed, checksum) in json.loads(
            (folder / _CHECKSUMS).read_text("utf-8")).items()}
    except (FileNotFoundError, ValueError, AttributeError, TypeError):
        return None


def _entry(file: Path, before: _Entry | None) -> _Entry:
    stamp = _stamp(file)
    return before if before and before[:2] == stamp else [*stamp, _checksum(file)]


def _stamp(file: Path) -> list[int]:
    """Return the first two parts of an entry: a file's size and the time of its last change."""
    stat = file.stat()
    return [stat.st_size, stat.st_mtime_ns]


def _differs(file: Path, entry: _Entry) -> bool:
    """Return True if a file has another size or checksum than its entry, or cannot be read."""
    size, _, checksum = entry
    try:
        return file.stat().st_size != size or _checksum(file) != checksum
    except OSError:
        return True


def _checksum(file: Path) -> int:
    """Return the CRC-32 of a file, which is read in blocks."""
    checksum = 0
    with file.open("rb") as stream:
        while block := stream.read(_BLOCK):
            checksum = crc32(block, checksum)
    return checksum
