"""Where the parts of a JSON or YAML text stand, so that an error can name the line of a field."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import yaml

# JSON is YAML, but for tabs between its tokens, and for characters that YAML keeps out.
_NOT_YAML = re.compile(rf"\t|{yaml.reader.Reader.NON_PRINTABLE.pattern}")


class RepeatedKeyError(ValueError):
    """A mapping that has a key twice, of which a parser would silently keep one."""

    def __init__(self, key: str, line: int) -> None:
        super().__init__(f"{key!r} stands twice in one mapping: keep one of them")
        self.key, self.line = key, line


@dataclass(frozen=True)
class Position:
    """The line on which a value (with its key, if it has one) begins, from 1, and the places of its parts."""

    line: int
    parts: dict[str | int, "Position"] = field(default_factory=dict)

    def at(self, path: Sequence[str | int]) -> "Position":
        """The place of the part at a path, or of the nearest part that contains it."""
        part = self
        for step in path:
            if step not in part.parts:
                break
            part = part.parts[step]
        return part

    def add(self, key: str | int, line: int, value: "Position") -> None:
        """Add a part that begins on a line; raises RepeatedKeyError if there is one of that key."""
        if key in self.parts:
            raise RepeatedKeyError(str(key), line)
        self.parts[key] = Position(line, value.parts)


def json_positions(text: str) -> Position:
    """The places of a JSON text that `json.loads` accepts; of one that YAML cannot read, the first line alone.

    Raises:
        RepeatedKeyError: an object has a key twice.
    """
    try:
        node = yaml.compose(_NOT_YAML.sub(" ", text), yaml.SafeLoader)
    except yaml.YAMLError:  # a key of more than 1,024 characters
        node = None
    return yaml_positions(node) if node else Position(1)


def yaml_positions(node: yaml.Node) -> Position:
    """The places of a composed YAML document.

    Raises:
        RepeatedKeyError: a mapping has a key twice.
    """
    return _yaml_positions(node, {})


def _yaml_positions(node: yaml.Node, walked: dict[int, Position]) -> Position:
    # An alias is the node that it names: walked once, however often it is used, and even within itself.
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
