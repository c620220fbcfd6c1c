"""A dataset's files in a folder, and their rows with positions."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from ...schemas.formats.small_files import json_records, validate_record
from ..datasets import DatasetError

_Model = TypeVar("_Model", bound=BaseModel)

FORMATS = (".json", ".jsonl", ".parquet")


def the_file(folder: Path, patterns: Sequence[str], what: str, without: Sequence[str] = ()) -> Path:
    """Return the only file in a folder whose name in lower case fits a pattern and none of `without`.

    Raises:
        DatasetError: there is none, or more than one; the message names the patterns, or the files.
    """
    files = any_files(folder, patterns, without)
    if not files:
        raise DatasetError(f"{folder} has no file of {what}: put it there, named as in {' or '.join(patterns)}")
    if len(files) > 1:
        names = ", ".join(path.name for path in files)
        raise DatasetError(f"{folder} has several files of {what} ({names}): leave one")
    return files[0]


def any_files(folder: Path, patterns: Sequence[str], without: Sequence[str] = ()) -> list[Path]:
    """Return the files in a folder, recursively, whose names fit a pattern and none of `without`, sorted.

    Raises:
        DatasetError: there is no such folder.
    """
    if not folder.is_dir():
        raise DatasetError(f"there is no folder {folder}: name the one with the dataset's files (--data)")

    def fits(path: Path, some: Sequence[str]) -> bool:
        return any(Path(path.name.lower()).match(pattern) for pattern in some)

    return sorted(path for path in folder.rglob("*") if path.is_file() and fits(path, patterns)
                  and not fits(path, without))


def rows(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the rows of a JSON array, of JSON lines or of a parquet file, each with its position.

    Raises:
        DatasetError: the file cannot be read; the message names the line.
    """
    if path.suffix.lower() != ".parquet":
        yield from json_records(path, DatasetError)
        return
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415  (large, and only needed here)
    except ModuleNotFoundError as error:
        raise DatasetError(f"{path} is a parquet file: run `pip install 'banyan-graphrag[bench]'`, or save it as JSON "
                           "lines") from error
    try:
        table = parquet.read_table(path)
    except (ArrowException, OSError) as error:
        raise DatasetError(f"{path}: not a parquet file: {error}") from error
    for number, row in enumerate(table.to_pylist()):
        yield f"{path}: row {number}", row


def models(path: Path, model: type[_Model]) -> Iterator[tuple[str, _Model]]:
    """Yield the rows as a model, each with its position.

    Raises:
        DatasetError: a row does not fit; the message names its line and the field.
    """
    for where, value in rows(path):
        yield where, validate_record(where, value, model, DatasetError)
