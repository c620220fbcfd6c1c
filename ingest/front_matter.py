"""Markdown with metadata at its beginning: YAML between `---` lines, or TOML between `+++` lines."""

import datetime
import re
import tomllib
from collections.abc import Mapping
from typing import NamedTuple

import yaml

from ..text.cleaning import clean_text
from ..text.section_lines import Heading, headings
from .decoding import decode
from .markdown_cleaning import clean_markdown, count_in_markdown
from .metadata import MOST_FIELDS
from .reading import Content, Limits

_LONGEST = 20_000
"""Characters of front matter that are read as metadata."""
_YAML, _TOML = "---", "+++"
_TITLE_LINE = re.compile(r"\s*(?:\*\*[ \t]{0,3}(?P<bold>[^\n*]{3,120}?)[ \t]{0,3}\*\*|"
                         r"(?P<plain>(?![-*+>|!\[<#])[^\n:：]{3,120}?[^\s.。!！?？;；,，]))[ \t]*\n[ \t]*\n")
"""A first line that stands alone and is no sentence, item, link or field."""
_NUMBERED = re.compile(r"\d{1,2}[.)、 ]|[一二三四五六七八九十]{1,3}、")
_TAXONOMIES = ("taxonomies", "params", "extra")
"""Tables in the front matter of Hugo and Zola; their fields are fields of the document, too."""


class FrontMatter(NamedTuple):
    """The fields above a text, and the text below them."""

    fields: Mapping[str, object]
    text: str
    unread: str = ""
    """The reason why the fields above the text were not read; empty if they were, or if there are none."""


def read_markdown(data: bytes, _: Limits) -> Content:
    """Read a Markdown file: its front matter as metadata, and the text below it.

    The title is that of the front matter, or else the first heading, or the line above it if that is only the first
    section's. Pictures are not read but counted (`markdown_cleaning.py`).
    """
    front = split_front_matter(clean_text(decode(data)))
    metadata, text = dict(front.fields), clean_markdown(front.text)
    title = metadata.pop("title", "")
    first = next(headings(text), None)
    unread = front.unread
    if len(metadata) > MOST_FIELDS:
        unread = f"its front matter has {len(metadata):,} fields beside the title: the first {MOST_FIELDS} are read"
    title = title if isinstance(title, str) and title else _title_of_text(text, first)
    return Content(text, title, metadata, unread=unread, omitted=count_in_markdown(front.text))


def _title_of_text(text: str, first: Heading | None) -> str:
    """Return the title of a text by its first line and its first heading: "PMC 例会" above "## 参会人员"."""
    if first is None:
        return ""
    opens_section = first.level > 1 or _NUMBERED.match(first.title)
    above = _TITLE_LINE.match(text) if opens_section else None
    is_above = above is not None and above.end() <= first.start
    return " ".join((above["bold"] or above["plain"]).split()) if above and is_above else first.title


def split_front_matter(text: str) -> FrontMatter:
    """Split a cleaned text into the fields of its front matter and the rest.

    Without valid front matter all is text: a first line of dashes may be just a horizontal rule.
    """
    fence = text[:3]
    begin = text.find("\n") + 1
    if fence not in {_YAML, _TOML} or text[3:begin].strip():
        return FrontMatter({}, text)
    end = text.find(f"\n{fence}\n", begin - 1, _LONGEST)  # from the first line's end, as it may have no fields
    stop = end + len(fence) + 2
    if end < 0 and text.endswith(f"\n{fence}") and len(text) <= _LONGEST:  # nothing follows the closing fence
        end, stop = len(text) - len(fence) - 1, len(text)
    if end < 0:
        return FrontMatter({}, text, _explain_length(text, begin, fence))
    fields = (_read_yaml if fence == _YAML else _read_toml)(text[begin : end + 1])
    return FrontMatter({}, text) if fields is None else FrontMatter(fields, text[stop:])


def _explain_length(text: str, begin: int, fence: str) -> str:
    """Return the message for front matter that is too long to be read; "" if the text seems to have none."""
    second_line = text[begin:text.find("\n", begin)]
    is_field = (":" if fence == _YAML else "=") in second_line
    end = text.find(f"\n{fence}\n", _LONGEST) if is_field else -1
    if end < 0:
        return ""
    return (f"its front matter has {end:,} characters, and at most {_LONGEST:,} are read as "
            "metadata: it is read as text; shorten it")


def _read_yaml(text: str) -> dict[str, object] | None:
    """Return the fields of YAML as texts, lists and mappings of texts; None if it is not a mapping."""
    try:
        # Every scalar stays a string: YAML would turn some into numbers or dates.
        fields = yaml.load(text, yaml.BaseLoader)  # noqa: S506
    except (yaml.YAMLError, RecursionError, ValueError):
        return None
    return {str(name): value for name, value in fields.items()} if isinstance(fields, dict) else None


def _read_toml(text: str) -> dict[str, object] | None:
    """Return the fields of TOML, with those of the tables in `_TAXONOMIES`; None if it is not valid."""
    try:
        fields = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return None
    for table in _TAXONOMIES:
        inner = fields.pop(table, None)
        fields.update(inner if isinstance(inner, dict) else {})
    return {name: _text(value) for name, value in fields.items()}


def _text(value: object) -> object:
    """Return a date, time or truth value as text; any other value is returned unchanged."""
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else value
