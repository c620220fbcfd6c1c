"""Files that hold many documents: csv, json and jsonl, each record with its text, id and title."""

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..schemas.formats.reading import check_depth
from .decoding import decode, open_text, read_bytes
from .failures import UnreadableError
from .limits import Limits

Report = Callable[[str], None]
"""Takes the reason why one record could not be read."""


class Record(NamedTuple):
    """One record: its place in the file (from 0, bad ones counted), its own id if it has one."""

    number: int
    id: str | None
    title: str
    text: str


class BadRecordError(ValueError):
    """A record is not JSON, or lacks what a document needs."""


def read_csv(path: Path, limits: Limits, report: Report) -> Iterator[Record]:
    """The rows of a comma-separated file whose first line names the columns.

    Args:
        path: the file; columns `text` and optionally `id` and `title`, others are ignored.
        limits: the largest size, of the file (json) or a record, and the deepest nesting.
        report: called for each row that cannot be read.

    Yields:
        The good rows, one at a time.

    Raises:
        UnreadableError: the file is no such table, or its quoting breaks off.
        OSError: the file cannot be read.
    """
    csv.field_size_limit(limits.file_bytes)  # the default of 128 KB is less than a long document
    with open_text(path, newline="") as stream:
        # strict: an unclosed quote is an error, rather than swallowing the rest of the file.
        rows = csv.DictReader(stream, strict=True)
        try:
            columns = rows.fieldnames or []
            if columns and "text" not in columns:
                raise UnreadableError(f"no column `text`, only {_listed(columns)}: name the columns in the "
                                      "first line and separate them by commas")
            for number, row in enumerate(rows):
                try:
                    yield _record(number, row, limits)
                except BadRecordError as error:
                    report(f"line {rows.line_num}: {error}")
        except csv.Error as error:
            raise UnreadableError(f"after line {rows.line_num}: {error}: fix the quoting; the rows from there "
                                  "on were not read") from error


def read_jsonl(path: Path, limits: Limits, report: Report) -> Iterator[Record]:
    """The records of a file with one JSON object on each line; blank lines are skipped.

    Args:
        path: the file.
        limits: the largest size, of the file (json) or a record, and the deepest nesting.
        report: called for each line that cannot be read.

    Yields:
        The good records, one at a time.

    Raises:
        UnreadableError: a line is larger than a document may be, or the file is no text.
        OSError: the file cannot be read.
    """
    for number, (line_number, line) in enumerate(lines(path, limits)):
        try:
            yield _record(number, parse(line), limits)
        except BadRecordError as error:
            report(f"line {line_number}: {error}")


def lines(path: Path, limits: Limits) -> Iterator[tuple[int, str]]:
    """The lines of a text file that are not blank, with their numbers from 1.

    Raises:
        UnreadableError: a line is larger than a document may be, or the file is no text.
        OSError: the file cannot be read.
    """
    with open_text(path, newline=None) as stream:
        for number, line in enumerate(iter(lambda: stream.readline(limits.file_bytes), ""), start=1):
            if len(line) == limits.file_bytes:
                raise UnreadableError(f"line {number} is longer than {limits.size()}: put each record on a line "
                                      "of its own; the rest was not read")
            if line.strip():
                yield number, line


def read_json(path: Path, limits: Limits, report: Report) -> Iterator[Record]:
    """The records of a JSON file: a list, an object that holds one as `documents` or `data`, or one.

    Args:
        path: the file.
        limits: the largest size, of the file (json) or a record, and the deepest nesting.
        report: called for each record that cannot be read.

    Yields:
        The good records.

    Raises:
        UnreadableError: the file is not JSON, or holds no records.
        OSError: the file cannot be read.
    """
    text = decode(read_bytes(path, limits))
    if not text.strip():
        return
    try:
        content = parse(text)
    except BadRecordError as error:
        raise UnreadableError(str(error)) from error
    for number, value in enumerate(_listed_records(content)):
        try:
            yield _record(number, value, limits)
        except BadRecordError as error:
            report(f"record {number}: {error}")


def _listed_records(content: object) -> list[object]:
    if isinstance(content, list):
        return content
    if isinstance(content, dict):
        for key in ("documents", "data"):
            if isinstance(content.get(key), list) and "text" not in content:
                return list(content[key])
        return [content]
    raise UnreadableError("neither a list of records nor an object: write "
                          '[{"text": "...", "id": "...", "title": "..."}, ...]')


def parse(text: str) -> Any:
    """The value of a JSON text; raises BadRecordError if it is none."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}" if "\n" in text.strip() else f"column {error.colno}"
        raise BadRecordError(f"not JSON at {place}: {error.msg}") from error
    except RecursionError as error:
        raise BadRecordError("nested without end: flatten it") from error
    except ValueError as error:  # a number of thousands of digits
        raise BadRecordError(f"not usable JSON: {error}") from error


def _record(number: int, value: object, limits: Limits) -> Record:
    try:
        check_depth(value, limits.json_depth)
    except ValueError as error:
        raise BadRecordError(str(error)) from error
    if not isinstance(value, dict):
        raise BadRecordError(f"a record is an object with `text`, not {_kind(value)}")
    if None in value:  # where csv.DictReader puts what is left over
        raise BadRecordError("more values than columns: quote values that hold commas")
    text = value.get("text")
    if text is None:
        raise BadRecordError(f"no `text`, only {_listed(value)}: add it")
    if not isinstance(text, str):
        raise BadRecordError(f"`text` is {_kind(text)}: make it a string")
    if not text.strip():
        raise BadRecordError("`text` is empty: fill it or take the record out")
    return Record(number, _name(value, "id"), _name(value, "title") or "", text)


def _name(value: dict[object, object], key: str) -> str | None:
    name = value.get(key)
    if name is None or name == "":
        return None
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise BadRecordError(f"`{key}` is {_kind(name)}: make it a string")
    return str(name)


def _kind(value: object) -> str:
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


def _listed(names: object) -> str:
    shown = [f"`{name}`" for name in names] if isinstance(names, list | dict) else []
    return ", ".join(shown[:10]) or "nothing"
