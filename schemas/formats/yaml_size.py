"""YAML that grows when it is read: aliases, by which a kilobyte can stand for a thousand million values."""

import yaml

MAX_VALUES = 1_000_000
"""Most values that a YAML file may stand for, each alias counted with all that it stands for."""
MAX_DEPTH = 64
"""Deepest nesting of YAML."""


class YamlSizeError(ValueError):
    """A YAML text that stands for more than is read; says how to fix it."""


def load_yaml(text: str) -> object:
    """The value of a YAML text.

    Raises:
        YamlSizeError: see `check_size`.
        yaml.YAMLError, ValueError, RecursionError: it is no YAML.
    """
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        check_size(node)
        return loader.construct_document(node)
    finally:
        loader.dispose()


def check_size(node: yaml.Node) -> None:
    """Check the size and the depth of a composed YAML document.

    Raises:
        YamlSizeError: it stands for more than `MAX_VALUES` values, is nested more than `MAX_DEPTH` levels deep,
            or contains itself.
    """
    _size(node, {}, 1)


def _size(node: yaml.Node, counted: dict[int, tuple[int, int]], depth: int) -> tuple[int, int]:
    """How many values a node stands for, and how deep it is; `counted` knows those of the nodes that were counted."""
    if id(node) not in counted:
        if depth > MAX_DEPTH:  # a node that contains itself is without end, too
            raise YamlSizeError(f"it is nested more than {MAX_DEPTH} levels deep, or contains itself: flatten it")
        parts = [_size(part, counted, depth + 1) for part in _parts(node)]
        counted[id(node)] = 1 + sum(size for size, _ in parts), 1 + max((deep for _, deep in parts), default=0)
    size, deep = counted[id(node)]
    if depth + deep - 1 > MAX_DEPTH:
        raise YamlSizeError(f"it is nested more than {MAX_DEPTH} levels deep: flatten it")
    if size > MAX_VALUES:
        raise YamlSizeError(f"line {node.start_mark.line + 1}: with its aliases it stands for more than "
                            f"{MAX_VALUES:,} values: write them out, or leave aliases out")
    return size, deep


def _parts(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []
