"""The pictures of pages and of Markdown: those of the document, which are not read and are therefore counted.

A picture belongs to the document if it is embedded, or lies beside the file. Those of the web (badges, hosted pictures)
are links as any others, and icons say nothing.
"""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote

from .markdown_cleaning import words_outside_code
from .reading import list_counts

_ELSEWHERE = re.compile(r"\s*(?:[a-z][a-z0-9+.-]{1,20}:|//|#|\{)", re.IGNORECASE)
_LEAST_EMBEDDED = 1500
"""The fewest characters of an embedded picture that is no icon."""
_LARGEST_ICON = 48
"""In pixels."""
_FILE = r"(?P<source>[^()\s<>]{1,2000}|<[^<>\n]{1,2000}>)"
_MARKDOWN = (
    re.compile(rf"!\[[^\[\]\n]{{0,500}}\]\(\s?{_FILE}"),
    re.compile(r"!\[\[(?P<source>[^\[\]|\n]{1,300}\.(?:png|jpe?g|gif|webp|svg|bmp|tiff?|avif|heic))[^\[\]\n]{0,100}\]\]",
               re.IGNORECASE))
_REFERENCE = re.compile(r"!\[(?P<words>[^\[\]\n]{0,500})\](?:\[(?P<name>[^\[\]\n]{0,100})\])?(?!\()")
_DEFINITION = re.compile(rf"^ {{0,3}}\[(?P<name>[^\[\]\n]{{1,100}})\]:\s{{0,4}}{_FILE}", re.MULTILINE)
_TAG = re.compile(r"(?<!\\)<img\s(?P<attributes>[^<>]{1,100000})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"(?P<name>[a-z]{1,20})\s?=\s?(?:\"(?P<a>[^\"]*)\"|'(?P<b>[^']*)'|(?P<c>[^\s\"'>]+))",
                        re.IGNORECASE)


def count_in_markdown(text: str) -> str:
    """Return the pictures of a Markdown text in words ("2 pictures"), or ""."""
    words = words_outside_code(text)
    targets = {link["name"].casefold(): link["source"] for link in _DEFINITION.finditer(words)}
    linked = [link["source"] for form in _MARKDOWN for link in form.finditer(words)]
    named = [targets.get((link["name"] or link["words"]).casefold(), "") for link in _REFERENCE.finditer(words)]
    tags = ({part["name"].lower(): part["a"] or part["b"] or part["c"] or ""
             for part in _ATTRIBUTE.finditer(tag["attributes"])} for tag in _TAG.finditer(words))
    return _count([{"src": source.strip("<>")} for source in (*linked, *named)], tags)


def count_in_page(tags: Iterable[Mapping[str, object]]) -> str:
    """Return the pictures of a page in words, or "".

    Args:
        tags: the attributes of its `img` tags.
    """
    return _count({name: str(value) for name, value in attributes.items()} for attributes in tags)


def _count(*tags: Iterable[Mapping[str, str]]) -> str:
    sources = {unquote(attributes.get("src", "")).strip() for some in tags for attributes in some
               if not _is_icon(attributes)}
    return list_counts({"picture": sum(map(_is_own, sources))})


def _is_own(source: str) -> bool:
    if source[:5].lower() == "data:":
        return len(source) >= _LEAST_EMBEDDED
    return bool(source) and not _ELSEWHERE.match(source)


def _is_icon(attributes: Mapping[str, str]) -> bool:
    """Return True for a picture that its page calls decoration (an empty `alt`), or that is small."""
    lengths = (attributes.get(name, "").removesuffix("px") for name in ("width", "height"))
    sizes = [int(size) for size in lengths if size.isdecimal()]
    return attributes.get("alt") == "" or (bool(sizes) and max(sizes) <= _LARGEST_ICON)
