"""The lines of the parts of a JSON or YAML text, so an error can name the line of a field."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import yaml

# JSON is YAML, except for tabs between its tokens and characters that YAML forbids.
_NOT_YAML = re.compile(rf"\t|{yaml.reader.Reader.NON_PRINTABLE.pattern}")


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
