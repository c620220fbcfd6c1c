"""Read small files that a user names, in JSON and YAML, with limits: aliases of YAML can expand to any size."""

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from ..errors import BanyanError

_Model = TypeVar("_Model", bound=BaseModel)
_Part = TypeVar("_Part")

MAX_BYTES = 100 * 1024 * 1024
"""The largest file. Parsed, it takes about ten times its size in memory. A question file of the usual benchmarks has up
to 60 MB, a schema less than 1 MB."""
MAX_DEPTH = 64
"""The deepest nesting of JSON; legitimate files have fewer than ten levels."""
MAX_VALUES = 1_000_000
"""The most values that a YAML file may expand to."""


class SizeError(ValueError):
    """Data that is nested too deeply or expands to too many values; the message names the fix."""


def read_text(path: Path, error: type[BanyanError], most: int = MAX_BYTES) -> str:
    """Read a regular file in UTF-8; devices and pipes may never end.

    Raises:
        error: the file is missing, larger than `most` bytes, or not UTF-8.
    """
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


def parse_json(text: str, most: int = MAX_DEPTH) -> Any:
    """Parse a JSON text; a ValueError if it is none, is nested too deeply, or has a number of thousands of digits."""
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise SizeError(_too_deep(most)) from error
    check_depth(value, most)
    return value


def json_lines(path: Path, error: type[BanyanError]) -> Iterator[tuple[str, Any]]:
    """Yield the values of a file with one JSON value per line, each with its position, as in "FILE: line 3"."""
    # Not splitlines: a JSON string may contain other line separators.
    for number, line in enumerate(read_text(path, error).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}: line {number}"
        try:
            yield where, parse_json(line)
        except json.JSONDecodeError as wrong:
            raise error(f"{where}, column {wrong.colno}: not JSON: {wrong.msg}") from wrong
        except ValueError as wrong:  # a number of thousands of digits, or nested too deeply
            raise error(f"{where}: not usable JSON: {wrong}") from wrong


def json_records(path: Path, error: type[BanyanError]) -> Iterator[tuple[str, Any]]:
    """Yield the values of a JSON array or of JSON lines, each with its position, as in "FILE: record 2", from 0."""
    text = read_text(path, error)
    if not text.lstrip().startswith("["):
        for number, (where, value) in enumerate(json_lines(path, error)):
            yield f"{where}, record {number}", value
        return
    try:
        values = parse_json(text)
    except json.JSONDecodeError as wrong:
        raise error(f"{path}: line {wrong.lineno}, column {wrong.colno}: not JSON: {wrong.msg}") from wrong
    except ValueError as wrong:  # a number of thousands of digits, or nested too deeply
        raise error(f"{path}: not usable JSON: {wrong}") from wrong
    yield from ((f"{path}: record {number}", value) for number, value in enumerate(values))


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
    check_size(value, _list_parts, most)


def check_size(whole: _Part, parts: Callable[[_Part], Iterable[_Part]], levels: int, size: int = 10**9) -> None:
    """Raise SizeError if a value's nesting or its number of parts, repeated ones included, exceeds a limit."""
    level, remaining = [whole], size
    for _ in range(levels):
        # At most one part more than is allowed, since there may be thousands of millions.
        level = list(islice((part for outer in level for part in parts(outer)), remaining + 1))
        remaining -= len(level)
        if remaining < 0:
            raise SizeError(f"with its aliases it has more than {size:,} values: write them out, or leave "
                            "aliases out")
        if not level:
            return
    raise SizeError(_too_deep(levels))


def _list_parts(value: Any) -> Iterator[Any]:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (part for part in parts if isinstance(part, dict | list))


def _too_deep(most: int) -> str:
    return f"it is nested more than {most} levels deep: flatten it"


class RepeatedKeyError(ValueError):
    """A mapping has a key twice; a parser would silently drop one of the values."""

    def __init__(self, key: str) -> None:
        super().__init__(f"{key!r} occurs twice in one mapping: keep one of them")


class Loader(yaml.SafeLoader):
    """A YAML loader that rejects repeated keys, and reads numbers with colons (`1:30`), which take minutes, as text."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Return a mapping, or raise RepeatedKeyError if it has a key twice."""
        check_keys([str(key.value) for key, _ in node.value])
        return super().construct_mapping(node, deep)

    def construct_number(self, node: yaml.ScalarNode) -> object:
        """Return the number in a scalar; one with colons is returned as text."""
        if ":" in node.value:
            return node.value
        return (self.construct_yaml_int if node.tag.endswith(":int") else self.construct_yaml_float)(node)


for _kind in ("int", "float"):
    Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", Loader.construct_number)


def check_keys(keys: Sequence[str]) -> None:
    """Raise RepeatedKeyError if a key occurs twice."""
    if len(set(keys)) < len(keys):
        raise RepeatedKeyError(next(key for key in keys if keys.count(key) > 1))


def load_yaml(text: str) -> Any:
    """Return the value of a YAML text; None for an empty one.

    Raises:
        SizeError: it expands to more than `MAX_VALUES` values, is nested too deeply, or contains itself.
        yaml.YAMLError, ValueError, RecursionError: it is not YAML.
    """
    loader = Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        check_size(node, _node_parts, MAX_DEPTH, MAX_VALUES)
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _node_parts(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []
