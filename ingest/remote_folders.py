"""Copy folders from object stores and repositories, through fsspec, so that they are read like local folders."""

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
    """Bring the local copy of a store's folder up to date, and return it.

    Only files that have changed are copied, and files that the store no longer has are removed.

    Args:
        home: the folder with all knowledge bases; the copies are in a folder beside these.
        address: the address of the store's folder.

    Raises:
        IngestError: the kind of store is unknown or needs a package, or the folder cannot be read. No file of an
            earlier copy is removed then.
    """
    kind = address.partition(_SEPARATOR)[0]
    if kind not in _STORES:
        raise IngestError(f"{address}: stores are {', '.join(sorted(_STORES - {'memory'}))}; {kind!r} is none of them")
    copy = home / _MIRRORS / hashlib.sha256(address.encode()).hexdigest()[:16]
    try:
        system, root = url_to_fs(address)
        files: dict[str, dict[str, Any]] = system.find(root, detail=True)
        names = {_path_inside(root, name): name for name in sorted(files)}
        for path, name in names.items():
            _copy(system, name, files[name], copy / path)
    except (ImportError, IngestError) as error:
        raise IngestError(f"{address}: {error}") from error
    except Exception as error:  # each kind of store raises its own errors
        raise IngestError(f"{address} cannot be read ({type(error).__name__}: {error}): check its spelling, your "
                          "rights and the network") from error
    _remove_others(copy, {copy / path for path in names})
    return copy


def _path_inside(root: str, name: str) -> str:
    """Return a file's path relative to the store's folder."""
    path = name.lstrip("/").removeprefix(root.strip("/")).lstrip("/") or PurePosixPath(name).name
    if not {"..", "."}.isdisjoint(PurePosixPath(path).parts):
        raise IngestError(f"{name}: a part of its path is `.` or `..`")
    return path


def _copy(system: Any, name: str, about: dict[str, Any], target: Path) -> None:
    """Copy a file of a store, unless the local copy has the same version, which is noted in a file beside it."""
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
    """Remove the files and folders of a copy that the store no longer has; `kept` are the files that it has."""
    for entry in sorted(copy.rglob("*"), reverse=True) if copy.is_dir() else ():
        if entry.is_dir():
            if not any(file.is_relative_to(entry) for file in kept):
                shutil.rmtree(entry)
        elif not entry.name.startswith(".") and entry not in kept:
            entry.unlink()
