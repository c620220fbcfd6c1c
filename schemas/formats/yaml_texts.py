"""YAML with a limit on its expanded size: a kilobyte of aliases can expand to a thousand million values."""

from collections.abc import Hashable, Sequence
from typing import Any

import yaml

from .small_files import MAX_DEPTH, check_size

MAX_VALUES = 1_000_000
"""The most values that a YAML file may expand to."""


class RepeatedKeyError(ValueError):
    """A mapping that has a key twice; a parser would silently drop one value."""

    def __init__(self, key: str) -> None:
        super().__init__(f"{key!r} occurs twice in one mapping: keep one of them")


class Loader(yaml.SafeLoader):
    """A loader that reads numbers with colons as text, because adding up a sexagesimal of 300 KB would take minutes."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Return a mapping.

        Raises:
            RepeatedKeyError: it has a key twice.
        """
        check_keys([str(key.value) for key, _ in node.value])
        return super().construct_mapping(node, deep)

    def construct_number(self, node: yaml.ScalarNode) -> object:
        """Return the number that a scalar contains."""
        if ":" in node.value:
            return node.value
        return (self.construct_yaml_int if node.tag.endswith(":int") else self.construct_yaml_float)(node)


for _kind in ("int", "float"):
    Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", Loader.construct_number)


def check_keys(keys: Sequence[str]) -> None:
    """Raise RepeatedKeyError if a key occurs twice."""
    if repeated := next((key for key in keys if keys.count(key) > 1), None) if len(set(keys)) < len(keys) else None:
        raise RepeatedKeyError(repeated)


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
        check_size(node, _parts, MAX_DEPTH, MAX_VALUES)
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _parts(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []
