"""Schemas as text for people to read and edit; `parse_schema` reads the same schema back."""

import json
import re
from typing import Any, Literal

import yaml

from ..graph_schema import GraphSchema

SchemaFormat = Literal["json", "yaml"]

_WIDTH = 120
_INDENT = 2
_SEPARATOR = re.compile("[\x85\u2028\u2029]")


def dump_schema(schema: GraphSchema, form: SchemaFormat = "json") -> str:
    """Write a schema as text, without fields that have their default.

    Args:
        schema: the schema.
        form: "json" or "yaml".

    Returns:
        The text, with a line break at its end.
    """
    data = schema.model_dump(mode="json", exclude_defaults=True)
    if form == "json":
        return _json(data) + "\n"
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=_WIDTH)


class _Dumper(yaml.SafeDumper):
    """A dumper that escapes line separators beyond ASCII, because PyYAML reads them as foldable spaces."""

    def represent_str(self, data: str) -> yaml.ScalarNode:
        return self.represent_scalar("tag:yaml.org,2002:str", data, style='"' if _SEPARATOR.search(data) else None)


_Dumper.add_representer(str, _Dumper.represent_str)


def _json(value: Any, depth: int = 0) -> str:
    """Write JSON with one element per line, or with several lines for a long element."""
    flat = json.dumps(value, ensure_ascii=False)
    if not value or not isinstance(value, dict | list) or (depth > _INDENT and depth + len(flat) < _WIDTH):
        return flat
    inner = " " * (depth + _INDENT)
    parts = ([f"{json.dumps(key, ensure_ascii=False)}: {_json(part, depth + _INDENT)}" for key, part in value.items()]
             if isinstance(value, dict) else [_json(part, depth + _INDENT) for part in value])
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n{inner}" + f",\n{inner}".join(parts) + f"\n{' ' * depth}{closing}"
