"""The files of Chroma's nearest-neighbour indexes: whether they can be loaded.

hnswlib trusts what it reads: a link that leads out of its array ends the whole process with a segmentation fault. So
the checksums of the files are noted when vectors were written, and compared before the files are loaded. Where none
are noted, because a writer was killed, a process of its own tries to load them (`probe`).
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from zlib import crc32

_CHECKSUMS = "checksums.json"
_FIRST_WRITTEN_WITH_ELEMENTS = "index_metadata.pickle"
_BLOCK = 1 << 20

_Entry = tuple[int, int, int]
"""Size, time of the last change in nanoseconds, checksum."""


def note(folder: Path) -> None:
    """Note the checksums of all index files in Chroma's folder; nobody may be writing to them.

    Raises:
        OSError: they cannot be read, or the note cannot be written.
    """
    before = _noted(folder) or {}
    now = {name: _entry(folder / name, before.get(name)) for name in _files(folder)}
    if now != before:
        temporary = folder / f".{_CHECKSUMS}"
        temporary.write_text(json.dumps(now), "utf-8")
        temporary.replace(folder / _CHECKSUMS)


def forget(folder: Path) -> None:
    """The index files are about to change."""
    (folder / _CHECKSUMS).unlink(missing_ok=True)


def damages(folder: Path) -> list[str]:
    """What is wrong with the index files in Chroma's folder.

    Returns:
        A line for each damaged file, or one for all that cannot be loaded; empty when all can be.
    """
    noted = _noted(folder)
    if noted is not None:
        return [f"{name} is not as it was written" for name, entry in noted.items() if _differs(folder / name, entry)]
    if _files(folder) and not _can_be_loaded(folder):
        return ["an index cannot be loaded"]
    return []


def _files(folder: Path) -> list[str]:
    # Chroma writes an index without elements at each opening; what is in it stands in its catalogue.
    return [str(file.relative_to(folder)) for metadata in sorted(folder.glob(f"*/{_FIRST_WRITTEN_WITH_ELEMENTS}"))
            for file in sorted(metadata.parent.iterdir())]


def _noted(folder: Path) -> dict[str, _Entry] | None:
    try:
        return {name: (size, changed, checksum) for name, (size, changed, checksum) in json.loads(
            (folder / _CHECKSUMS).read_text("utf-8")).items()}
    except (FileNotFoundError, ValueError, AttributeError, TypeError):
        return None  # a damaged note says nothing


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
    command = [sys.executable, "-P", "-m", f"{__package__}.probe", str(folder.absolute())]
    done = subprocess.run(  # noqa: S603  (a module of ours, by the interpreter that runs)
        command, stdin=subprocess.DEVNULL, capture_output=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    return done.returncode == 0
