"""The pictures of pages and of Markdown: those of the document, which are not read and are therefore counted.

A picture belongs to the document if it is embedded, or lies beside the file. Those of the web (badges, hosted pictures)
are links as any others, and small embedded ones are icons.
"""

import re
from collections.abc import Iterable
from urllib.parse import unquote

from .markdown_cleaning import words_outside_code
from .reading import list_counts

_ELSEWHERE = re.compile(r"\s*(?:[a-z][a-z0-9+.-]{1,20}:|//|#|\{)", re.IGNORECASE)
_LEAST_EMBEDDED = 1500
"""The fewest characters of an embedded picture that is no icon."""
_FILE = r"(?P<source>[^()\s<>]{1,2000}|<[^<>\n]{1,2000}>)"
_MARKDOWN = (
    re.compile(rf"!\[[^\[\]\n]{{0,500}}\]\(\s?{_FILE}"),
    re.compile(r"!\[\[(?P<source>[^\[\]|\n]{1,300}\.(?:png|jpe?g|gif|webp|svg|bmp|tiff?|avif|heic))[^\[\]\n]{0,100}\]\]",
               re.IGNORECASE))
_REFERENCE = re.compile(r"!\[(?P<words>[^\[\]\n]{0,500})\](?:\[(?P<name>[^\[\]\n]{0,100})\])?(?!\()")
_DEFINITION = re.compile(rf"^ {{0,3}}\[(?P<name>[^\[\]\n]{{1,100}})\]:\s{{0,4}}{_FILE}", re.MULTILINE)
_SOURCE = re.compile(r"(?<!\\)<img\s(?:[^<>]{0,2000}\s)?src\s?=\s?"
                     r"(?:\"(?P<a>[^\"]*)\"|'(?P<b>[^']*)'|(?P<c>[^\s\"'>]+))", re.IGNORECASE)


def count_in_markdown(text: str) -> str:
    """Return the pictures of a Markdown text in words ("2 pictures"), or ""."""
    words = words_outside_code(text)
    targets = {link["name"].casefold(): link["source"] for link in _DEFINITION.finditer(words)}
    linked = [link["source"] for form in _MARKDOWN for link in form.finditer(words)]
    named = [targets.get((link["name"] or link["words"]).casefold(), "") for link in _REFERENCE.finditer(words)]
    tags = [source["a"] or source["b"] or source["c"] or "" for source in _SOURCE.finditer(words)]
    return count_sources([source.strip("<>") for source in (*linked, *named, *tags)])


def count_sources(sources: Iterable[str]) -> str:
    """Return the pictures with these sources in words, or ""; those of the web are not the document's."""
    found = {unquote(source).strip() for source in sources}
    return list_counts({"picture": sum(map(_is_own, found))})


def _is_own(source: str) -> bool:
    if source[:5].lower() == "data:":
        return len(source) >= _LEAST_EMBEDDED
    return bool(source) and not _ELSEWHERE.match(source)
