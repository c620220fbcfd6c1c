"""Markdown with metadata at its beginning: YAML between `---` lines, or TOML between `+++` lines."""

import datetime
import tomllib
from collections.abc import Mapping
from typing import NamedTuple

import yaml

from ..text.cleaning import clean_text
from ..text.section_lines import headings
from .decoding import decode
from .markdown_cleaning import clean_markdown, count_in_markdown
from .metadata import MOST_FIELDS
from .reading import Content, Limits

_LONGEST = 20_000
"""Characters of front matter that are read as metadata."""
_YAML, _TOML = "---", "+++"
_TAXONOMIES = ("taxonomies", "params", "extra")
"""Tables of Hugo and Zola whose fields are as much the document's as those beside them."""


class FrontMatter(NamedTuple):
    """The fields above a text, and the text below them."""

    fields: Mapping[str, object]
    text: str
    unread: str = ""
    """Why there are none, though the text begins with some."""


def read_markdown(data: bytes, _: Limits) -> Content:
    """Read Markdown without its front matter; the title is that of the front matter, else the first heading.

    Its pictures are counted (`markdown_cleaning.py`).
    """
    front = split_front_matter(clean_text(decode(data)))
    metadata, text = dict(front.fields), clean_markdown(front.text)
    title = metadata.pop("title", "")
    first = next(headings(text), None)
    unread = front.unread
    if len(metadata) > MOST_FIELDS:
        unread = f"its front matter has {len(metadata):,} fields beside the title: the first {MOST_FIELDS} are read"
    title = title if isinstance(title, str) and title else first.title if first else ""
    return Content(text, title, metadata, unread=unread, omitted=count_in_markdown(front.text))


def split_front_matter(text: str) -> FrontMatter:
    """Return the fields at the beginning of a cleaned text; none if it begins with a rule between two paragraphs."""
    fence = text[:3]
    begin = text.find("\n") + 1
    if fence not in {_YAML, _TOML} or text[3:begin].strip():
        return FrontMatter({}, text)
    end = text.find(f"\n{fence}\n", begin - 1, _LONGEST)
    stop = end + len(fence) + 2
    if end < 0 and text.endswith(f"\n{fence}") and len(text) <= _LONGEST:
        end, stop = len(text) - len(fence) - 1, len(text)
    if end < 0:
        return FrontMatter({}, text, _explain_length(text, begin, fence))
    fields = (_read_yaml if fence == _YAML else _read_toml)(text[begin : end + 1])
    return FrontMatter({}, text) if fields is None else FrontMatter(fields, text[stop:])


def _explain_length(text: str, begin: int, fence: str) -> str:
    """Return why fields above a text are not read as metadata; "" if there seem to be none."""
    is_field = (":" if fence == _YAML else "=") in text[begin:text.find("\n", begin)]
    end = text.find(f"\n{fence}\n", _LONGEST) if is_field else -1
    return "" if end < 0 else (f"its front matter has {end:,} characters, and at most {_LONGEST:,} are read as "
                               "metadata: it is read as text; shorten it")


def _read_yaml(text: str) -> dict[str, object] | None:
    try:
        # Every scalar stays a string: YAML would turn some into numbers or dates.
        fields = yaml.load(text, yaml.BaseLoader)  # noqa: S506
    except (yaml.YAMLError, RecursionError, ValueError):
        return None
    return {str(name): value for name, value in fields.items()} if isinstance(fields, dict) else None


def _read_toml(text: str) -> dict[str, object] | None:
    try:
        fields = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return None
    for table in _TAXONOMIES:
        inner = fields.pop(table, None)
        fields.update(inner if isinstance(inner, dict) else {})
    return {name: _text(value) for name, value in fields.items()}


def _text(value: object) -> object:
    """Return a date or a truth value as it is written: other values are texts, numbers and lists already."""
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else value
