"""HTML within Markdown: tags, entities and tables, which many converters of other formats write."""

import html
import re
from collections.abc import Iterator

from ..text.cleaning import one_line
from .grids import GridCell
from .spans import SpanningCell, place_cells

_TAG = re.compile(r"(?<!\\)</?(?P<name>[A-Za-z][A-Za-z0-9]{0,20})(?:\s[^<>]{0,1000})?/?>")
_INLINE = frozenset((
    "a", "abbr", "b", "big", "cite", "code", "del", "dfn", "em", "font", "i", "img", "ins", "kbd", "mark", "q", "s",
    "samp", "small", "span", "strike", "strong", "sub", "sup", "svg", "tt", "u", "var"))
_BLOCKS = frozenset((
    "article", "aside", "blockquote", "br", "caption", "center", "col", "colgroup", "dd", "details", "div", "dl", "dt",
    "figcaption", "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "iframe", "li", "main", "nav",
    "ol", "p", "picture", "pre", "section", "source", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr",
    "ul", "video"))
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\dA-Fa-f]{1,6}|[A-Za-z]\w{1,30});")
_TABLE, _TABLE_END = re.compile(r"<table[\s>]", re.IGNORECASE), re.compile(r"</table>", re.IGNORECASE)
_PART = re.compile(r"</?(?P<name>tr|td|th|caption|thead|tbody|tfoot)(?P<attributes>\s[^<>]{0,1000})?>", re.IGNORECASE)
_SPAN = re.compile(r"(?P<way>col|row)span\s?=\s?[\"']?(?P<count>\d{1,3})\b", re.IGNORECASE)


def strip_tags(words: str) -> str:
    """Return a text without tags of known names, because others may be placeholders, and with entities as letters."""
    return _ENTITY.sub(lambda entity: html.unescape(entity[0]), _TAG.sub(_tag, words))


def _tag(tag: re.Match[str]) -> str:
    name = tag["name"].lower()
    if name in _INLINE:
        return ""
    return " " if name in _BLOCKS else tag[0]


def with_pipe_tables(text: str) -> str:
    """Return a text with its HTML tables as those of Markdown; tables within tables, which are layout, stay."""
    parts, at = list[str](), 0
    while (start := _TABLE.search(text, at)) and (end := _TABLE_END.search(text, start.end())):
        source = text[start.end() : end.start()]
        lines = [] if _TABLE.search(source) else list(_pipe_table(source))
        parts.append(text[at : start.start()])
        parts.append("\n".join(["", "", *lines, "", ""]) if lines else text[start.start() : end.end()])
        at = end.end()
    return "".join([*parts, text[at:]])


def _pipe_table(source: str) -> Iterator[str]:
    """Yield the lines of a table with at least two rows and columns."""
    grid = place_cells(_rows(source))
    width = max(map(len, grid), default=0)
    if len(grid) > 1 < width:
        for at, row in enumerate(grid):
            yield f"| {' | '.join([cell.text for cell in row] + [''] * (width - len(row)))} |"
            if not at:
                yield f"|{' --- |' * width}"


def _rows(source: str) -> list[list[SpanningCell]]:
    rows: list[list[SpanningCell]] = []
    parts = list(_PART.finditer(source))
    ends = [part.start() for part in parts[1:]] + [len(source)]
    for part, end in zip(parts, ends, strict=True):
        if part[0].startswith("</"):
            continue
        if part["name"].lower() == "tr":
            rows.append([])
        elif part["name"].lower() in {"td", "th"} and rows:
            spans = {span["way"].lower(): int(span["count"]) for span in _SPAN.finditer(part["attributes"] or "")}
            words = one_line(strip_tags(source[part.end() : end])).replace("|", "\\|")
            rows[-1].append(SpanningCell(GridCell(words), max(spans.get("col", 1), 1), max(spans.get("row", 1), 1)))
    return [row for row in rows if row]
