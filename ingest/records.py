"""Read files of records (csv, json and jsonl): each record is a document, or all together are a table."""

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from io import StringIO
from itertools import chain, groupby, islice
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from ..schemas.formats.small_files import check_depth
from ..text.cleaning import clean_text
from .grids import sheet_lines
from .objects import is_row, join_lines, read_fields, read_object, record_lines
from .reading import Content, Limits, UnreadableError, decode

_LOOKED_AT = 20  # the number of lines at the beginning of a file that decide whether it is a table
_LONG_LINE, _MOST_VALUES = 1_000_000, 100_000
"""The length from which a line's values are counted before it is parsed, and the most values that it may have."""
_TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"')
_SAMPLE, _ROWS = 64 * 1024, 50  # the characters and rows of a file that decide on its delimiter
_DECLARED = re.compile(r'"?sep=(?P<delimiter>.)"?\r?', re.IGNORECASE)


def read_csv(data: bytes, limits: Limits, name: str) -> Content:
    """Read the rows of a file of values separated by commas, semicolons, tabs or bars; `name` is the file's.

    If its first line has a column `text`, each row is a record. Otherwise the file is one document with tables.
    """
    csv.field_size_limit(limits.file_bytes)  # the default of 128 KB is too small for long documents
    numbered_rows = _csv_rows(decode(data), limits)
    header = next((row for _, row in numbered_rows if row), [])
    names = [column.strip() for column in header]
    if "text" in names:
        too_many = BadRecordError("more values than columns: quote values that hold commas")
        records = ((f"line {line}", dict(zip(names, row, strict=False)) if len(row) <= len(names) else too_many)
                   for line, row in numbered_rows if row)
        return Content("", records=read_records(records, limits))
    rows = ([cell.strip() for cell in row] for row in chain([header], (row for _, row in numbered_rows)))
    return Content(join_lines(sheet_lines(rows, name), limits))


def _csv_rows(text: str, limits: Limits) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a file, each with the number of its last line; a blank row is an empty list."""
    stream = StringIO(text, newline="")
    declared = _DECLARED.fullmatch(text.partition("\n")[0])  # as Excel writes it
    if declared:
        stream.readline()
    delimiter = declared["delimiter"] if declared else _find_delimiter(text[:_SAMPLE])
    # strict makes an unclosed quote an error; otherwise it would swallow the rest of the file.
    rows = csv.reader(stream, strict=True, delimiter=delimiter)
    skipped = int(declared is not None)  # the lines above those that the reader counts
    line = skipped
    try:
        for row in rows:
            if len(row) > limits.table_columns:
                raise UnreadableError(f"{len(row):,} columns in a row, at most {limits.table_columns:,} are read: "
                                      "split it")
            if row:
                line = skipped + rows.line_num
            yield line, row
    except csv.Error as error:
        raise UnreadableError(f"after line {line}: {error}: fix the quoting; the rows from there on were not "
                              "read") from error


def _find_delimiter(begin: str) -> str:
    """Return the delimiter with the longest run of rows of the same number of values, above one."""
    text = begin if len(begin) < _SAMPLE else begin[:begin.rfind("\n") + 1] or begin  # a sample ends inside a line
    longest_runs: dict[str, tuple[int, int]] = {}  # the number of rows, and the number of values in each
    for delimiter in ",;\t|":
        widths = list[int]()
        with suppress(csv.Error):  # this is not the delimiter, or the sample ends inside a quoted value
            for row in islice(csv.reader(StringIO(text, newline=""), strict=True, delimiter=delimiter), _ROWS):
                widths.append(len(row))
        runs = ((sum(1 for _ in run), width) for width, run in groupby(widths) if width > 1)
        longest_runs[delimiter] = max(runs, default=(0, 0))
    return max(longest_runs, key=longest_runs.__getitem__)


def read_jsonl(data: bytes, limits: Limits, name: str) -> Content:
    """Read a file with one JSON object on each line; `name` is the file's, and blank lines are skipped."""
    lines = [(f"line {number}", line) for number, line in enumerate(decode(data).split("\n"), 1) if line.strip()]
    parsed = ((place, _parse_line(line, limits)) for place, line in lines)
    first_values = [_parse_line(line, limits) for _, line in lines[:_LOOKED_AT]]
    is_table = all(is_row(value) for value in first_values if isinstance(value, dict))
    if not is_table or all(isinstance(value, ValueError) for value in first_values):
        return Content("", records=read_records(parsed, limits))
    values, problems = list[dict[str, object]](), list[str]()
    for place, value in parsed:
        if isinstance(value, dict):
            values.append(value)
        else:
            why = value if isinstance(value, ValueError) else 'a record is an object: write {"name": "value", ...}'
            problems.append(f"{place}: {why}")
    content = (read_object(values[0], limits) if len(values) == 1
               else Content(record_lines(list(map(read_fields, values)), name, limits)))
    return content._replace(unread="; ".join(problems[:limits.failures]))


def _parse_line(line: str, limits: Limits) -> object:
    """Return the value of a line of JSON; return the error if it has none, or would take many times its own memory."""
    if len(line) > _LONG_LINE and _TEXTS.sub("", line).count(",") > _MOST_VALUES:
        return BadRecordError(f"more than {_MOST_VALUES:,} values in one record: write a record for each text")
    try:
        value = parse(line)
        check_depth(value, limits.json_depth)
    except ValueError as error:
        return error
    return value


RECORD_READERS: dict[str, Callable[[bytes, Limits, str], Content]] = {
    ".csv": read_csv, ".tsv": read_csv, ".jsonl": read_jsonl, ".ndjson": read_jsonl}


# --- values of JSON as records

class BadRecordError(ValueError):
    """A record cannot be used: it is not JSON, or lacks a required field."""


class Record(NamedTuple):
    """A record of a file, which becomes a document."""

    number: int  # its number in the file, from 0, bad records included
    id: str | None  # the id that the file gives it
    title: str
    text: str
    metadata: Mapping[str, object] = {}


class _TextRecord(BaseModel):
    """A record that is a document, with any further fields."""

    model_config = ConfigDict(extra="allow", coerce_numbers_to_str=True)
    text: str
    id: str | None = None
    title: str | None = None


def parse(text: str) -> Any:
    """Parse a JSON text; raise BadRecordError if it is not JSON."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise BadRecordError("nested too deeply: flatten it") from error
    except ValueError as error:  # it is not JSON, or has a number of thousands of digits
        raise BadRecordError(f"not usable JSON: {error}") from error


def read_records(values: Iterable[tuple[str, object]], limits: Limits) -> Iterator[Record | str]:
    """Yield the record for each value, given with its place; the reason for one that is none, or that is an error."""
    for number, (place, value) in enumerate(values):
        try:
            yield _read_record(number, value, limits)
        except ValueError as error:
            yield f"{place}: {error}"


def _read_record(number: int, value: object, limits: Limits) -> Record:
    """Return a JSON value as a record; raise ValueError if it is not one, or is nested too deeply."""
    if isinstance(value, ValueError):
        raise value
    check_depth(value, limits.json_depth)
    try:
        record = _TextRecord.model_validate(value)
    except ValidationError as error:
        wrong = error.errors()[0]
        raise BadRecordError(f"`{wrong['loc'][0] if wrong['loc'] else 'record'}`: {wrong['msg']}: write "
                             '{"text": "...", "id": "...", "title": "..."}') from error
    if not record.text.strip():
        raise BadRecordError("`text` is empty: add text or remove the record")
    title = " ".join((record.title or "").split())
    if len(title) > limits.title:
        raise BadRecordError(f"`title` has {len(title):,} characters, at most {limits.title} are kept for each chunk: "
                             "shorten it, or make it a part of `text`")
    return Record(number, record.id, clean_text(title), record.text, record.model_extra or {})
