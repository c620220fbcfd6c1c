"""Check that the files of Chroma's nearest-neighbour indexes are as they were written.

hnswlib does not validate what it reads: a link out of its array crashes the whole process. Therefore checksums of the
files are removed before vectors are written, stored afterwards, and compared before the files are loaded.
"""

import json
import os
import struct
from pathlib import Path
from zlib import crc32

_CHECKSUMS = "checksums.json"
_FIRST_WRITTEN_WITH_ELEMENTS = "index_metadata.pickle"
_NO_ELEMENTS = b"id_to_label}X"
"""What the beginning of that file has once all elements are removed: an empty dictionary, and the next key."""
_BEGINNING = 256
_BLOCK = 1 << 20
_HEADER = struct.Struct("<iQQQQ")
"""hnswlib's: version, offset, the vectors that there is room for, those that there are, and the bytes of each."""
_LENGTH_BYTES = 4
"""What hnswlib stores of each vector's length."""

_Entry = list[int]
"""Size, time of the last change in nanoseconds, checksum."""


def forget(folder: Path) -> dict[str, _Entry]:
    """Delete the checksums before the index files change, and return them."""
    before = _read_checksums(folder)
    (folder / _CHECKSUMS).unlink(missing_ok=True)
    return before or {}


def note(folder: Path, before: dict[str, _Entry]) -> None:
    """Store the checksums of all index files in Chroma's folder, to which only the caller may be writing.

    Args:
        folder: Chroma's folder.
        before: the checksums from before the files changed; those that did not are not read.

    Raises:
        OSError: a file cannot be read or written.
    """
    for header in folder.glob("*/header.bin"):
        if _stamp(header) != before.get(str(header.relative_to(folder)), [])[:2]:
            _blank_unused(header)
    entries = {name: _entry(folder / name, before.get(name)) for name in _files(folder)}
    temporary = folder / f".{_CHECKSUMS}"
    temporary.write_text(json.dumps(entries), "utf-8")
    temporary.replace(folder / _CHECKSUMS)


def _blank_unused(header: Path) -> None:
    """Fill the room behind the last vector of an index with zeros.

    hnswlib writes what happens to be in its memory there, among it words of documents that the process had read.
    """
    beginning = header.read_bytes()
    if len(beginning) < _HEADER.size:
        return  # a process that opens Chroma is writing an empty index
    _, _, _, count, size = _HEADER.unpack_from(beginning)
    for name, bytes_each in (("data_level0.bin", size), ("length.bin", _LENGTH_BYTES)):
        with header.with_name(name).open("r+b") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(count * bytes_each)
            file.write(bytes(max(0, end - count * bytes_each)))


def are_noted(folder: Path) -> bool:
    """Return True if there are checksums: the last writer has ended well."""
    return _read_checksums(folder) is not None


def damages(folder: Path) -> list[str]:
    """Return a line for each file that differs from its checksum, or one line if there should be checksums."""
    if not are_noted(folder) and _files(folder):
        return ["it is being written, or its writer was killed"]
    return [f"{name} is not as it was written" for name, entry in (_read_checksums(folder) or {}).items()
            if _differs(folder / name, entry)]


def _files(folder: Path) -> list[str]:
    # Skip indexes without elements, which Chroma writes at each opening; their elements are in its catalogue.
    return [str(file.relative_to(folder)) for metadata in sorted(folder.glob(f"*/{_FIRST_WRITTEN_WITH_ELEMENTS}"))
            if _NO_ELEMENTS not in _read_beginning(metadata) for file in sorted(metadata.parent.iterdir())]


def _read_beginning(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(_BEGINNING)


def _read_checksums(folder: Path) -> dict[str, _Entry] | None:
    try:
        return {name: [size, changed, checksum] for name, (size, changed, checksum) in json.loads(
            (folder / _CHECKSUMS).read_text("utf-8")).items()}
    except (FileNotFoundError, ValueError, AttributeError, TypeError):
        return None  # a damaged file counts as missing


def _entry(file: Path, before: _Entry | None) -> _Entry:
    stamp = _stamp(file)
    return before if before and before[:2] == stamp else [*stamp, _checksum(file)]


def _stamp(file: Path) -> list[int]:
    stat = file.stat()
    return [stat.st_size, stat.st_mtime_ns]


def _differs(file: Path, entry: _Entry) -> bool:
    try:
        return file.stat().st_size != entry[0] or _checksum(file) != entry[2]
    except OSError:
        return True


def _checksum(file: Path) -> int:
    checksum = 0
    with file.open("rb") as stream:
        while block := stream.read(_BLOCK):
            checksum = crc32(block, checksum)
    return checksum
