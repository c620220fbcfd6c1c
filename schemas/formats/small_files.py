"""Read small files that a user names, in JSON, with limits."""

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ..errors import BanyanError

_Model = TypeVar("_Model", bound=BaseModel)
MAX_BYTES = 100 * 1024 * 1024  # benchmarks' question files have up to 60 MB; parsed, they take ten times as much
_TOO_DEEP = "it is nested more than {} levels deep: flatten it"
MAX_DEPTH = 64  # levels of nesting in JSON; legitimate files have fewer than ten


class SizeError(ValueError):
    """Data that is nested too deeply; the message names the fix."""


def read_text(path: Path, error: type[BanyanError], most: int = MAX_BYTES) -> str:
    """Read a regular file in UTF-8 of at most `most` bytes, or raise `error`; devices and pipes may never end."""
    if not path.is_file():
        raise error(f"there is no file {path}" if not path.exists() else
                    f"{path} is not a regular file: save its content to one")
    with path.open("rb") as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise error(f"{path} has {path.stat().st_size:,} bytes, at most {most:,} are read: split it")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as wrong:
        raise error(f"{path} is not UTF-8 text ({wrong}): save it as UTF-8") from wrong


def parse_json(text: str) -> Any:
    """Parse a JSON text; a ValueError if it is none, is nested too deeply, or has a number of thousands of digits."""
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise SizeError(_TOO_DEEP.format(MAX_DEPTH)) from error
    check_depth(value)
    return value


def parse_lines(text: str, where: object, error: type[BanyanError], line: int = 1) -> Any:
    """Parse a JSON text of a file, in which it begins with a line; an error of the class `error` names the place."""
    try:
        return parse_json(text)
    except json.JSONDecodeError as wrong:
        raise error(f"{where}: line {line + wrong.lineno - 1}, column {wrong.colno}: not JSON: {wrong.msg}") from wrong
    except ValueError as wrong:  # a number of thousands of digits, or nested too deeply
        raise error(f"{where}: line {line}: not usable JSON: {wrong}") from wrong


def json_lines(path: Path, error: type[BanyanError]) -> Iterator[tuple[str, Any]]:
    """Yield the values of a file with one JSON value per line, each with its position, as in "FILE: line 3"."""
    # Not splitlines: a JSON string may contain other line separators.
    for number, line in enumerate(read_text(path, error).split("\n"), 1):
        if line.strip():
            yield f"{path}: line {number}", parse_lines(line, path, error, number)


def json_records(path: Path, error: type[BanyanError]) -> Iterator[tuple[str, Any]]:
    """Yield the values of a JSON array or of JSON lines, each with its position, as in "FILE: record 2", from 0."""
    text = read_text(path, error)
    if text.lstrip().startswith("["):
        yield from ((f"{path}: record {number}", value) for number, value in enumerate(parse_lines(text, path, error)))
    else:
        for number, (where, value) in enumerate(json_lines(path, error)):
            yield f"{where}, record {number}", value


def validate_record(where: str, value: Any, model: type[_Model], error: type[BanyanError]) -> _Model:
    """Validate a JSON object as a model; an error of the class `error` names its position and the field."""
    if not isinstance(value, dict):
        raise error(f"{where}: an object is needed, not {str(value)[:60]!r}")
    try:
        return model.model_validate(value)
    except ValidationError as wrong:
        first = wrong.errors()[0]
        raise error(f"{where}, {'.'.join(map(str, first['loc']))}: {first['msg']}") from wrong


def check_depth(value: Any, most: int = MAX_DEPTH) -> None:
    """Raise SizeError if a decoded JSON value is nested more deeply than `most` levels."""
    level = [value]  # the values at one depth
    for _ in range(most + 1):
        containers = [part.values() if isinstance(part, dict) else part for part in level
                      if isinstance(part, dict | list)]
        level = list(chain.from_iterable(containers))
        if not containers:
            return
    raise SizeError(_TOO_DEEP.format(most))
