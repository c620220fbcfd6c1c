"""Markdown with metadata at its beginning: YAML between `---` lines, or TOML between `+++` lines."""

import datetime
import re
import tomllib

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


def read_markdown(data: bytes, _: Limits) -> Content:
    """Read a Markdown file: its front matter as metadata, and the text below it.

    The title is that of the front matter, or else the first heading, or the line above it if that is only the first
    section's. Pictures are not read but counted (`markdown_cleaning.py`).
    """
    metadata, source, unread = _split_front_matter(clean_text(decode(data)))
    text = clean_markdown(source)
    title = metadata.pop("title", "")
    if len(metadata) > MOST_FIELDS:
        unread = f"its front matter has {len(metadata):,} fields beside the title: the first {MOST_FIELDS} are read"
    title = title if isinstance(title, str) and title else _title_of_text(text, next(headings(text), None))
    return Content(text, title, metadata, unread=unread, omitted=count_in_markdown(source))


def _title_of_text(text: str, first: Heading | None) -> str:
    """Return the title of a text by its first line and its first heading: "PMC 例会" above "## 参会人员"."""
    if first is None:
        return ""
    opens_section = first.level > 1 or _NUMBERED.match(first.title)
    above = _TITLE_LINE.match(text) if opens_section else None
    is_above = above is not None and above.end() <= first.start
    return " ".join((above["bold"] or above["plain"]).split()) if above and is_above else first.title


def _split_front_matter(text: str) -> tuple[dict[str, object], str, str]:
    """Return the fields of a text's front matter, the rest of the text, and why the fields were not read, or "".

    Without valid front matter all is text: a first line of dashes may be just a horizontal rule.
    """
    fence, begin = text[:3], text.find("\n") + 1
    if fence not in {_YAML, _TOML} or text[3:begin].strip():
        return {}, text, ""
    end = f"{text}\n".find(f"\n{fence}\n", begin - 1)  # from the first line's end, as it may have no fields
    if end < 0:
        return {}, text, ""
    if end > _LONGEST:
        is_field = (":" if fence == _YAML else "=") in text[begin : text.find("\n", begin)]
        return {}, text, (f"its front matter has {end:,} characters, and at most {_LONGEST:,} are read as metadata: it "
                          "is read as text; shorten it" if is_field else "")
    fields = (_read_yaml if fence == _YAML else _read_toml)(text[begin : end + 1])
    return ({}, text, "") if fields is None else (fields, text[end + len(fence) + 2:], "")


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
    return {name: str(value).lower() if isinstance(value, bool)
            else value.isoformat() if isinstance(value, datetime.date | datetime.time) else value
            for name, value in fields.items()}
