"""Read YAML and TOML files: an object as the record of its document, a list of objects as a table, others as text."""

from collections.abc import Mapping

import yaml

from ..schemas.formats.small_files import check_depth
from ..text.cleaning import clean_text
from .markdown_files import read_head_fields
from .objects import is_row, read_fields, read_object, record_lines
from .reading import Content, Limits, decode

_LONGEST_PARSED = 200_000  # characters of a file that is parsed, which takes seconds; a longer one is text alone


def read_yaml(data: bytes, limits: Limits) -> Content:
    """Read a YAML file: one that lists objects as a table, an object as a record, and any other as its own text."""
    text = clean_text(decode(data))
    value = _parse("---", text, limits)
    if isinstance(value, list) and value and all(map(is_row, value)):
        comments = sum(line.lstrip().startswith("#") for line in text.splitlines())
        return Content(record_lines(list(map(read_fields, value)), "", limits),
                       omitted=f"{comments:,} comment{'s' * (comments > 1)}" if comments else "")
    return read_object(value, limits, text) if isinstance(value, Mapping) else Content(text)


def read_toml(data: bytes, limits: Limits) -> Content:
    """Read a TOML file as a record, or as its own text if it is mostly nested."""
    text = clean_text(decode(data))
    value = _parse("+++", text, limits)
    return read_object(value, limits, text) if isinstance(value, Mapping) else Content(text)


def _parse(fence: str, text: str, limits: Limits) -> object:
    """Return the value of YAML ("---") or TOML; None if it has none, is long or deep, or is several documents."""
    if len(text) > _LONGEST_PARSED:
        return None
    try:
        value = _parse_yaml(text) if fence == "---" else read_head_fields(fence, text)
        check_depth(value, limits.json_depth)
    except (yaml.YAMLError, RecursionError, ValueError):
        return None
    return value


def _parse_yaml(text: str) -> object:
    """Return the value of a YAML text, whose scalars stay texts; None if it has several, or refers to a part of it."""
    # What repeats a part by reference may say a lot in few words, and takes as much memory when it is written out.
    if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.BaseLoader)):
        return None
    # The loader makes texts, lists and mappings alone. A line of dashes at the end begins an empty document.
    values = [value for value in yaml.load_all(text, yaml.BaseLoader) if value]
    return values[0] if len(values) == 1 else None
