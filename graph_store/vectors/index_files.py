"""Check whether the files of Chroma's nearest-neighbour indexes can be loaded.

hnswlib does not validate what it reads: a link out of its array crashes the whole process. Therefore checksums of the
files are stored after vectors were written, and compared before the files are loaded. If there are none, because a
writer was killed, a separate process tries to load the files (`main`).
"""

import json
import os
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from zlib import crc32

import numpy as np

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
_PAGE, _SEARCHED = 1000, 100
_LENGTH_ERROR = 1e-3

_Entry = tuple[int, int, int]
"""Size, time of the last change in nanoseconds, checksum."""


def note(folder: Path) -> None:
    """Store the checksums of all index files in Chroma's folder, which nobody may be writing to.

    Raises:
        OSError: a file cannot be read, or the checksums cannot be written.
    """
    before = _read_checksums(folder) or {}
    now = {name: _entry(folder / name, before.get(name)) for name in _files(folder)}
    if now != before:
        temporary = folder / f".{_CHECKSUMS}"
        temporary.write_text(json.dumps(now), "utf-8")
        temporary.replace(folder / _CHECKSUMS)


def blank_unused(folder: Path) -> None:
    """Fill the room behind the last vector of each index in Chroma's folder with zeros; only its writer may.

    hnswlib writes what happens to be in its memory there, among it words of documents that the process had read.

    Raises:
        OSError: a file cannot be read or written.
    """
    for header in folder.glob("*/header.bin"):
        beginning = header.read_bytes()
        if len(beginning) < _HEADER.size:
            continue  # a process that opens Chroma is writing an empty index
        _, _, _, count, size = _HEADER.unpack_from(beginning)
        for name, bytes_each in (("data_level0.bin", size), ("length.bin", _LENGTH_BYTES)):
            with header.with_name(name).open("r+b") as file:
                end = file.seek(0, os.SEEK_END)
                file.seek(count * bytes_each)
                file.write(bytes(max(0, end - count * bytes_each)))


def forget(folder: Path) -> None:
    """Delete the checksums before the index files change."""
    (folder / _CHECKSUMS).unlink(missing_ok=True)


def damages(folder: Path) -> list[str]:
    """Find damage to the index files in Chroma's folder.

    Returns:
        A line for each file that differs from its checksum or, without checksums, one line if an index cannot
        be loaded.
    """
    noted = _read_checksums(folder)
    if noted is not None:
        return [f"{name} is not as it was written" for name, entry in noted.items() if _differs(folder / name, entry)]
    if _files(folder) and not _can_be_loaded(folder):
        return ["an index cannot be loaded"]
    return []


def _files(folder: Path) -> list[str]:
    # Skip indexes without elements, which Chroma writes at each opening; their elements are in its catalogue.
    return [str(file.relative_to(folder)) for metadata in sorted(folder.glob(f"*/{_FIRST_WRITTEN_WITH_ELEMENTS}"))
            if _NO_ELEMENTS not in _read_beginning(metadata) for file in sorted(metadata.parent.iterdir())]


def _read_beginning(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(_BEGINNING)


def _read_checksums(folder: Path) -> dict[str, _Entry] | None:
    try:
        return {name: (size, changed, checksum) for name, (size, changed, checksum) in json.loads(
            (folder / _CHECKSUMS).read_text("utf-8")).items()}
    except (FileNotFoundError, ValueError, AttributeError, TypeError):
        return None  # a damaged file counts as missing


def _entry(file: Path, before: _Entry | None) -> _Entry:
    stat = file.stat()
    if before and before[:2] == (stat.st_size, stat.st_mtime_ns):
        return before
    return stat.st_size, stat.st_mtime_ns, _checksum(file)


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


def _can_be_loaded(folder: Path) -> bool:
    command = [sys.executable, "-P", "-m", __name__, str(folder.absolute())]
    done = subprocess.run(  # noqa: S603  (a module of ours, by the interpreter that runs)
        command, stdin=subprocess.DEVNULL, capture_output=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    return done.returncode == 0


def main(path: str) -> None:
    """Read every vector in Chroma's folder and search for some of them, in a process that a damaged index may end.

    Raises:
        ValueError: one is not of length 1, as all of ours are.
        ChromaError: something cannot be read.
    """
    from .chroma import folder_client  # noqa: PLC0415  (slow to import)

    with closing(folder_client(path)) as client:
        names = [collection.name for collection in client.list_collections()]
    for name in names:
        with closing(folder_client(path)) as client:  # an index stays in memory until its client is closed
            collection = client.get_collection(name, embedding_function=None)
            ids = collection.get(include=[])["ids"]
            for start in range(0, len(ids), _PAGE):
                page = ids[start:start + _PAGE]
                vectors = np.asarray(collection.get(ids=page, include=["embeddings"])["embeddings"])
                # Compared so that what is no number at all counts as wrong, too.
                if not (np.abs(np.linalg.norm(vectors, axis=1) - 1) < _LENGTH_ERROR).all():
                    raise ValueError(f"vectors in {name} are not of length 1")
                collection.query(query_embeddings=vectors[:_SEARCHED], n_results=1)


if __name__ == "__main__":
    main(sys.argv[1])
