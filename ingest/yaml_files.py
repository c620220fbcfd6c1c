"""Read YAML and TOML files: fields of a document as its metadata, a list of objects as a table, others as text."""

from collections.abc import Mapping

import yaml

from ..text.cleaning import clean_text, one_line
from .markdown_files import read_head_fields
from .reading import Content, Limits, decode
from .records import is_row, read_fields, record_lines

_LONGEST_PARSED = 200_000  # characters of a file that is parsed, which takes seconds; a longer one is text alone


def read_yaml(data: bytes, limits: Limits) -> Content:
    """Read a YAML file: one that lists objects as a table, any other as its own text, with its fields as metadata."""
    text = clean_text(decode(data))
    value = _parse_yaml(text)
    if isinstance(value, list) and value and all(map(is_row, value)):
        comments = sum(line.lstrip().startswith("#") for line in text.splitlines())
        return Content(record_lines(list(map(read_fields, value)), "", limits),
                       omitted=f"{comments:,} comment{'s' * (comments > 1)}" if comments else "")
    return _with_fields(text, value)


def read_toml(data: bytes, _: Limits) -> Content:
    """Read a TOML file as its own text, with its fields as metadata."""
    text = clean_text(decode(data))
    try:
        fields = read_head_fields("+++", text) if len(text) <= _LONGEST_PARSED else None
    except (RecursionError, ValueError):  # not TOML: it is read as text
        fields = None
    return _with_fields(text, fields)


def _parse_yaml(text: str) -> object:
    """Return the value of a YAML text, whose scalars stay texts; None if it has none, or several documents."""
    if len(text) > _LONGEST_PARSED:
        return None
    try:
        # What repeats a part by reference may say a lot in few words, and takes as much memory when it is written out.
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.BaseLoader)):
            return None
        return yaml.load(text, yaml.BaseLoader)  # noqa: S506  # it makes texts, lists and mappings alone
    except (yaml.YAMLError, RecursionError, ValueError):
        return None


def _with_fields(text: str, value: object) -> Content:
    """Return a text with the flat fields of its value as metadata, if most are flat: a program's settings are not."""
    fields = {str(name): field for name, field in value.items()} if isinstance(value, Mapping) else {}
    flat = {name: field for name, field in fields.items() if _is_flat(field)}
    if len(flat) <= len(fields) / 2:
        return Content(text)
    title_field = next((name for name in flat if name.lower() == "title"), "")
    title = flat.pop(title_field, "")
    return Content(text, one_line(title) if isinstance(title, str) else "", flat)


def _is_flat(field: object) -> bool:
    """Return True for a scalar, and for a list or mapping of scalars; a list may hold objects with a name."""
    if isinstance(field, Mapping):
        return not any(isinstance(value, list | Mapping) for value in field.values())
    if isinstance(field, list):
        return all(not isinstance(item, list | Mapping) or (isinstance(item, Mapping) and "name" in item)
                   for item in field)
    return True
