"""YAML with a limit on its expanded size, and the lines of a text's parts, so an error can name that of a field.

A kilobyte of aliases can expand to a thousand million values.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from .small_files import MAX_DEPTH, check_size

# JSON is YAML, except for tabs between its tokens and characters that YAML forbids.
_NOT_YAML = re.compile(rf"\t|{yaml.reader.Reader.NON_PRINTABLE.pattern}")
MAX_VALUES = 1_000_000
"""The most values that a YAML file may expand to."""


class RepeatedKeyError(ValueError):
    """A mapping that has a key twice; a parser would silently drop one value."""

    def __init__(self, key: str, line: int) -> None:
        super().__init__(f"{key!r} occurs twice in one mapping: keep one of them")
        self.key, self.line = key, line


@dataclass(frozen=True)
class Position:
    """The first line of a value (including its key, if it has one) from 1, and the positions of its parts."""

    line: int
    parts: dict[str | int, "Position"] = field(default_factory=dict)

    def at(self, path: Sequence[str | int]) -> "Position":
        """Return the position of the part at a path, or of the nearest part that contains it."""
        part = self
        for step in path:
            if step not in part.parts:
                break
            part = part.parts[step]
        return part

    def add(self, key: str | int, line: int, value: "Position") -> None:
        """Add a part that begins on a line; raise RepeatedKeyError if the key exists."""
        if key in self.parts:
            raise RepeatedKeyError(str(key), line)
        self.parts[key] = Position(line, value.parts)


def json_positions(text: str) -> Position:
    """Return the positions of a valid JSON text; only the first line if YAML cannot read it.

    Raises:
        RepeatedKeyError: an object has a key twice.
    """
    try:
        node = yaml.compose(_NOT_YAML.sub(" ", text), yaml.SafeLoader)
    except yaml.YAMLError:  # a key of more than 1,024 characters
        node = None
    return yaml_positions(node) if node else Position(1)


def yaml_positions(node: yaml.Node) -> Position:
    """Return the positions of a composed YAML document.

    Raises:
        RepeatedKeyError: a mapping has a key twice.
    """
    return _yaml_positions(node, {})


def _yaml_positions(node: yaml.Node, walked: dict[int, Position]) -> Position:
    # An alias is the same node, so it is walked once, even if it contains itself.
    if id(node) in walked:
        return walked[id(node)]
    place = walked[id(node)] = Position(node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            place.add(str(key.value), key.start_mark.line + 1, _yaml_positions(value, walked))
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            place.add(number, value.start_mark.line + 1, _yaml_positions(value, walked))
    return place


class Loader(yaml.SafeLoader):
    """A loader that reads numbers with colons as text, because adding up a sexagesimal of 300 KB would take minutes."""

    def construct_number(self, node: yaml.ScalarNode) -> object:
        """Return the number that a scalar contains."""
        if ":" in node.value:
            return node.value
        return (self.construct_yaml_int if node.tag.endswith(":int") else self.construct_yaml_float)(node)


for _kind in ("int", "float"):
    Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", Loader.construct_number)


def load_yaml(text: str) -> tuple[Any, yaml.Node | None]:
    """Return the value of a YAML text and its node, or None for an empty text.

    Raises:
        SizeError: it expands to more than `MAX_VALUES` values, is nested too deeply, or contains itself.
        yaml.YAMLError, ValueError, RecursionError: it is not YAML.
    """
    loader = Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None, None
        check_size(node, _parts, MAX_DEPTH, MAX_VALUES)
        return loader.construct_document(node), node
    finally:
        loader.dispose()


def _parts(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []
