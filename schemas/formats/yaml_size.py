"""YAML, of which a kilobyte can stand for a thousand million values: aliases, each with all that it stands for."""

from typing import Any

import yaml

from .reading import MAX_DEPTH, check_size

MAX_VALUES = 1_000_000
"""Most values that a YAML file may stand for."""


class Loader(yaml.SafeLoader):
    """Reads a number with colons as the text it is: a sexagesimal of 300 KB would take minutes to add up."""

    def construct_number(self, node: yaml.ScalarNode) -> object:
        """The number that a scalar writes."""
        if ":" in node.value:
            return node.value
        return (self.construct_yaml_int if node.tag.endswith(":int") else self.construct_yaml_float)(node)


for _kind in ("int", "float"):
    Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", Loader.construct_number)


def load_yaml(text: str) -> tuple[Any, yaml.Node | None]:
    """The value of a YAML text, and the node that it was made from; None of an empty text.

    Raises:
        SizeError: it stands for more than `MAX_VALUES` values, is nested too deeply, or contains itself.
        yaml.YAMLError, ValueError, RecursionError: it is no YAML.
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
