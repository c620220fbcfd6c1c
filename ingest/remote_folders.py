"""Copies of folders in object stores and repositories, as fsspec reaches them, which are read like other folders."""

import hashlib
import shutil
from pathlib import Path, PurePosixPath
from typing import Any

from fsspec.core import url_to_fs

from .reading import IngestError

_STORES = frozenset({"s3", "gs", "gcs", "az", "abfs", "github", "git", "sftp", "ssh", "webdav", "hf", "memory"})
"""Kinds of stores that hold folders; no other address is opened."""
_MIRRORS = ".mirrors"
_SEPARATOR = "://"


def is_remote(folder: str) -> bool:
    """Return True for the address of a store, such as s3://reports/2024."""
    return _SEPARATOR in folder


def mirror_folder(home: Path, address: str) -> Path:
    """Copy a folder of a store and return the copy, which has exactly the store's files; unchanged ones are kept.

    Args:
        home: where knowledge bases are; the copies are beside them.
        address: the folder's address.

    Raises:
        IngestError: the store's kind is unknown or needs a package, or the folder cannot be read; nothing of an
            earlier copy is removed then.
    """
    kind = address.partition(_SEPARATOR)[0]
    if kind not in _STORES:
        raise IngestError(f"{address}: stores are {', '.join(sorted(_STORES - {'memory'}))}; {kind!r} is none of them")
    copy = home / _MIRRORS / hashlib.sha256(address.encode()).hexdigest()[:16]
    try:
        system, root = url_to_fs(address)
        files: dict[str, dict[str, Any]] = system.find(root, detail=True)
        inside = {_inside(root, name): name for name in sorted(files)}
        for place, name in inside.items():
            _copy(system, name, files[name], copy / place)
    except (ImportError, IngestError) as error:
        raise IngestError(f"{address}: {error}") from error
    except Exception as error:  # each store has errors of its own
        raise IngestError(f"{address} cannot be read ({type(error).__name__}: {error}): check its spelling, your "
                          "rights and the network") from error
    _remove_others(copy, {copy / place for place in inside})
    return copy


def _inside(root: str, name: str) -> str:
    """Return a file's path in its folder.

    Raises:
        IngestError: the path leads out of the folder.
    """
    place = name.lstrip("/").removeprefix(root.strip("/")).lstrip("/") or PurePosixPath(name).name
    if not {"..", "."}.isdisjoint(PurePosixPath(place).parts):
        raise IngestError(f"{name}: a part of its path is `.` or `..`")
    return place


def _copy(system: Any, name: str, about: dict[str, Any], target: Path) -> None:
    """Copy a file unless the copy has its version: the store's tag, time or, if it has none, always again."""
    version = next((str(about[key]) for key in ("ETag", "etag", "sha", "mtime", "LastModified", "updated", "hex")
                    if about.get(key)), "")
    mark = target.with_name(f".{target.name}.version")
    if version and target.is_file() and mark.is_file() and mark.read_text() == version:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.partial")
    system.get_file(name, str(partial))
    partial.replace(target)
    mark.write_text(version)


def _remove_others(copy: Path, kept: set[Path]) -> None:
    """Remove what is not of the store any more."""
    for entry in sorted(copy.rglob("*"), reverse=True) if copy.is_dir() else ():
        if entry.is_dir():
            if not any(file.is_relative_to(entry) for file in kept):
                shutil.rmtree(entry)
        elif not entry.name.startswith(".") and entry not in kept:
            entry.unlink()
