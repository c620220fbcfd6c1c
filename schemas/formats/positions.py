"""Where the parts of a JSON or YAML text stand, so that an error can name the line of a field."""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import yaml

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


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
    """The places of a JSON text that `json.loads` accepts.

    Raises:
        RepeatedKeyError: an object has a key twice.
    """
    return _JsonPositions(text).place(_skip(text, 0))


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


class _JsonPositions:
    """Walks valid JSON; what is neither object nor array is left to the decoder of the library."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._breaks = [line_break.start() for line_break in re.finditer("\n", text)]

    def place(self, start: int) -> Position:
        position = Position(self._line(start))
        for key, key_start, value_start in self._members(start):
            position.add(key, self._line(key_start), self.place(value_start))
        return position

    def _line(self, offset: int) -> int:
        return bisect_right(self._breaks, offset) + 1

    def _members(self, start: int) -> Iterator[tuple[str | int, int, int]]:
        """Key, where it begins and where its value begins; the key of an array's element is its number."""
        opening, number = self._text[start], 0
        at = _skip(self._text, start + 1)
        while opening in "{[" and self._text[at] not in "]}":
            key: str | int = number
            key_start = at
            if opening == "{":
                key, at = _DECODER.raw_decode(self._text, at)
                at = _skip(self._text, _skip(self._text, at) + 1)
            yield key, key_start, at
            _, at = _DECODER.raw_decode(self._text, at)
            at = _skip(self._text, at)
            at = _skip(self._text, at + 1) if self._text[at] == "," else at
            number += 1


def _skip(text: str, at: int) -> int:
    spaces = _SPACE.match(text, at)
    return spaces.end() if spaces else at
