"""The common form of all benchmark datasets, and functions that find and read a dataset's files."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from banyan.evaluation.recall import DatasetError, DatasetQuestion
from banyan.schemas.documents import Frozen
from banyan.schemas.formats.small_files import json_records, validate_record
from pydantic import BaseModel, Field

DatasetName = Literal["hotpotqa", "2wiki", "musique", "gbench", "graphrag-bench", "anonyrag", "multihop-rag", "generic"]

Kind = Literal["short", "fill_in", "choice", "choices", "true_false", "open", "reversion"]
"""How an answer is scored. short: a name, number or date; fill_in: the missing word; choice and choices: the letters
of options; true_false; open: a text that only a judge can score; reversion: anonymous ids mapped to names."""


class BenchQuestion(DatasetQuestion):
    """A question of any dataset. `facts` are sentences of the gold documents, if the dataset has them."""

    kind: Kind = "short"
    facts: tuple[str, ...] = ()


class BenchDocument(Frozen):
    """A document of a dataset's corpus, in the form that a build takes."""

    id: str
    title: str
    text: str
    metadata: dict[str, str] = Field(default_factory=dict)


class Dataset(Frozen):
    """The questions of a dataset, and the documents that they are about."""

    name: DatasetName
    documents: tuple[BenchDocument, ...]
    questions: tuple[BenchQuestion, ...]


_Model = TypeVar("_Model", bound=BaseModel)

FORMATS = (".json", ".jsonl", ".parquet")


def the_file(folder: Path, patterns: Sequence[str], what: str, without: Sequence[str] = ()) -> Path:
    """Return the only file in a folder, or in folders below it, that fits a pattern.

    Args:
        folder: the folder.
        patterns: patterns for the file's name in lower case.
        what: what the file contains, for the message.
        without: patterns for the names of files to leave out.

    Raises:
        DatasetError: there is no such file, or more than one; the message names the patterns or the files.
    """
    files = any_files(folder, patterns, without)
    if not files:
        raise DatasetError(f"{folder} has no file of {what}: put it there, named as in {' or '.join(patterns)}")
    if len(files) > 1:
        names = ", ".join(path.name for path in files)
        raise DatasetError(f"{folder} has several files of {what} ({names}): leave one")
    return files[0]


def any_files(folder: Path, patterns: Sequence[str], without: Sequence[str] = ()) -> list[Path]:
    """Return the sorted files in a folder and the folders below it whose names fit a pattern and none of `without`.

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
    """Yield the rows of a file (a JSON array, JSON lines or parquet), each with its place for messages.

    Raises:
        DatasetError: the file cannot be read; the message names the line.
    """
    if path.suffix.lower() != ".parquet":
        yield from json_records(path, DatasetError)
        return
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415  (large, and only needed here)
    except ModuleNotFoundError as error:
        raise DatasetError(f"{path} is a parquet file: run `pip install pyarrow`, or save it as JSON lines") from error
    try:
        table = parquet.read_table(path)
    except (ArrowException, OSError) as error:
        raise DatasetError(f"{path}: not a parquet file: {error}") from error
    for number, row in enumerate(table.to_pylist()):
        yield f"{path}: row {number}", row


def models(path: Path, model: type[_Model]) -> Iterator[tuple[str, _Model]]:
    """Yield the rows of a file as instances of a pydantic model, each with its place for messages.

    Raises:
        DatasetError: the file cannot be read, or a row does not fit the model; the message names line and field.
    """
    for where, value in rows(path):
        yield where, validate_record(where, value, model, DatasetError)
