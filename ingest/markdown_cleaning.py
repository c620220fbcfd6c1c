"""Bring Markdown to the one form that later steps read: `#` headings, pipe tables, and text without other markup."""

import html
import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from ..text.cleaning import one_line
from .grids import GridCell, SpanningCell, place_cells
from .reading import list_counts

_FENCES = ("```", "~~~")
_COMMENT, _COMMENT_END = "<!--", "-->"
_CODE_OR_COMMENT = re.compile(r"`[^`\n]++`|<!--")
_UNDERLINE = re.compile(r" {0,3}(?:=++|-{2,}+)[ \t]*+")
_NO_TITLE = re.compile(r"\s*+(?:[-*+>|#]|\d+[.)]\s|$)")
_LONGEST_TITLE = 200
# `:::note Title` of Docusaurus, `!!! note "Title"` of MkDocs, `> [!NOTE] Title` of GitHub and Obsidian.
_ADMONITION = re.compile(r"(?P<set_in> {0,12})(?::{3,}+ ?(?P<a>[a-z]{1,20})|(?:!!!|\?\?\?\+?) (?P<b>[a-z]{1,20})|"
                         r"> ?\[!(?P<c>[A-Za-z]{1,20})\][-+]?)(?P<title>(?:[ \[\"][^\n]{0,200})?)")
_END = re.compile(r" {0,12}:{3,}+[ \t]*+")
_CODE = re.compile(r"`[^`\n]*+`")
# Links within a site. Links to the web stay, because their address is information.
_LINK = re.compile(r"!?\[(?P<words>[^\[\]\n]{0,500})\]\((?!\s?[a-z]{2,10}:)[^()\n]{0,1000}\)", re.IGNORECASE)
_WIKI_LINK = re.compile(r"!?\[\[(?:[^\[\]|\n]{1,200}\|)?(?P<words>[^\[\]|\n]{1,200})\]\]")
_TAG = re.compile(r"(?<!\\)</?(?P<name>[A-Za-z][A-Za-z0-9]{0,20})(?:\s[^<>]{0,1000})?/?>")
_INLINE = frozenset((
    "a", "abbr", "b", "big", "cite", "code", "del", "dfn", "em", "font", "i", "img", "ins", "kbd", "mark", "q", "s",
    "samp", "small", "span", "strike", "strong", "sub", "sup", "svg", "tt", "u", "var"))
_BLOCKS = frozenset((
    "article", "aside", "blockquote", "br", "caption", "center", "col", "colgroup", "dd", "details", "div", "dl", "dt",
    "figcaption", "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "iframe", "li", "main", "nav",
    "ol", "p", "picture", "pre", "section", "source", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr",
    "ul", "video"))
_HARD_BREAK = re.compile(r"(?<=[^\\])\\$")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\dA-Fa-f]{1,6}|[A-Za-z]\w{1,30});")
_TABLE, _TABLE_END = re.compile(r"<table[\s>]", re.IGNORECASE), re.compile(r"</table>", re.IGNORECASE)
_PART = re.compile(r"</?(?P<name>tr|td|th|caption|thead|tbody|tfoot)(?P<attributes>\s[^<>]{0,1000})?>", re.IGNORECASE)
_SPAN = re.compile(r"(?P<way>col|row)span\s?=\s?[\"']?(?P<count>\d{1,3})\b", re.IGNORECASE)
_ELSEWHERE = re.compile(r"\s*(?:[a-z][a-z0-9+.-]{1,20}:|//|#|\{)", re.IGNORECASE)
_LEAST_EMBEDDED = 1500
"""The fewest characters of a picture that is embedded in the text; shorter ones are icons."""
_FILE = r"(?P<source>[^()\s<>]{1,2000}|<[^<>\n]{1,2000}>)"
_PICTURES = (
    re.compile(rf"!\[[^\[\]\n]{{0,500}}\]\(\s?{_FILE}"),
    re.compile(r"!\[\[(?P<source>[^\[\]|\n]{1,300}\.(?:png|jpe?g|gif|webp|svg|bmp|tiff?|avif|heic))[^\[\]\n]{0,100}\]\]",
               re.IGNORECASE))
_NAMED_PICTURE = re.compile(r"!\[(?P<words>[^\[\]\n]{0,500})\](?:\[(?P<name>[^\[\]\n]{0,100})\])?(?!\()")
_DEFINITION = re.compile(rf"^ {{0,3}}\[(?P<name>[^\[\]\n]{{1,100}})\]:\s{{0,4}}{_FILE}", re.MULTILINE)
_IMG_TAG = re.compile(r"(?<!\\)<img\s(?:[^<>]{0,2000}\s)?src\s?=\s?"
                      r"(?:\"(?P<a>[^\"]*)\"|'(?P<b>[^']*)'|(?P<c>[^\s\"'>]+))", re.IGNORECASE)


def clean_markdown(text: str) -> str:
    r"""Return a Markdown text without comments, HTML tags, links within its site and marks of admonitions.

    Underlined headings become `#` headings, HTML tables become pipe tables, and an admonition begins with its title, or
    its kind if it has none. Code and tags with unknown names stay as they are.

    Args:
        text: the text; `\n` is its only line break.
    """
    return "\n".join(_write_headings(list(_lines(text))))


def words_outside_code(text: str) -> str:
    """Return a Markdown text without its code and comments."""
    return "\n".join(_CODE.sub(" ", _without_comments(part)) for part, is_code in _split_fences(text) if not is_code)


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the cleaned lines of a text, each with whether it is code; headings are not converted yet."""
    for part, is_code in _split_fences(text):
        for line in (part if is_code else with_pipe_tables(_without_comments(part))).split("\n"):
            if is_code:
                yield line, True
            elif not _END.fullmatch(line):
                yield _HARD_BREAK.sub("", _clean_line(line)), False


def _split_fences(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text in order, each with whether it is fenced code; code includes its fences."""
    fence, part = "", list[str]()
    for line in text.split("\n"):
        mark = line.lstrip()[:3]
        if mark in _FENCES and not fence:
            if part:
                yield "\n".join(part), False
            fence, part = mark, [line]
        elif fence and mark == fence:
            yield "\n".join([*part, line]), True
            fence, part = "", []
        else:
            part.append(line)
    if part or not text:
        yield "\n".join(part), bool(fence)


def _without_comments(text: str) -> str:
    """Return a text without HTML comments; what looks like a comment inside code marks stays."""
    parts, begin, at = list[str](), 0, 0
    while found := _CODE_OR_COMMENT.search(text, at):
        at = found.end()
        if found[0] == _COMMENT:
            end = text.find(_COMMENT_END, at)
            if end < 0:  # an open comment is text
                break
            parts.append(text[begin : found.start()])
            begin = at = end + len(_COMMENT_END)
    return "".join([*parts, text[begin:]])


def _clean_line(line: str) -> str:
    """Return a line without tags and links outside its code; a line that begins an admonition becomes its title."""
    admonition = _ADMONITION.fullmatch(line) if ":::" in line or "!" in line or "???" in line else None
    if admonition:
        kind = (admonition["a"] or admonition["b"] or admonition["c"]).lower()
        title = admonition["title"].strip(' "[]')
        return f"{admonition['set_in']}{'> ' if admonition['c'] else ''}{title or kind.capitalize()}:"
    if "<" not in line and "](" not in line and "[[" not in line and "&" not in line:
        return line
    end, parts = 0, list[str]()
    for code in _CODE.finditer(line):
        parts += [_plain(line[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*parts, _plain(line[end:])]).rstrip()


def _plain(words: str) -> str:
    words = _LINK.sub(lambda link: link["words"], words)
    words = _WIKI_LINK.sub(lambda link: link["words"], words)
    return strip_tags(words)


def _write_headings(lines: list[tuple[str, bool]]) -> Iterator[str]:
    """Yield the lines with underlined headings as `#` headings."""
    at = 0
    while at < len(lines):
        line, is_code = lines[at]
        below, below_is_code = lines[at + 1] if at + 1 < len(lines) else ("", False)
        begins_paragraph = at == 0 or not lines[at - 1][0].strip()
        may_be_title = len(line) <= _LONGEST_TITLE and not line.startswith("    ") and not _NO_TITLE.match(line)
        if (begins_paragraph and may_be_title and not is_code and not below_is_code
                and _UNDERLINE.fullmatch(below)):
            yield f"{'#' if '=' in below else '##'} {line.strip()}"
            at += 2
        else:
            yield line
            at += 1


def strip_tags(words: str) -> str:
    """Return a text without HTML tags, and with letters in place of entities such as `&amp;`.

    Tags with unknown names stay, because they may be placeholders such as `<your name>`.
    """
    return _ENTITY.sub(lambda entity: html.unescape(entity[0]), _TAG.sub(_replace_tag, words))


def _replace_tag(tag: re.Match[str]) -> str:
    """Return the replacement of a tag: nothing within a line, a blank between blocks, itself if it is unknown."""
    name = tag["name"].lower()
    if name in _INLINE:
        return ""
    return " " if name in _BLOCKS else tag[0]


def with_pipe_tables(text: str) -> str:
    """Return a text with pipe tables in place of its HTML tables.

    A table that contains another table serves for layout and stays as it is.
    """
    parts, at = list[str](), 0
    while (start := _TABLE.search(text, at)) and (end := _TABLE_END.search(text, start.end())):
        source = text[start.end() : end.start()]
        lines = [] if _TABLE.search(source) else list(_pipe_table(source))
        parts.append(text[at : start.start()])
        parts.append("\n".join(["", "", *lines, "", ""]) if lines else text[start.start() : end.end()])
        at = end.end()
    return "".join([*parts, text[at:]])


def _pipe_table(source: str) -> Iterator[str]:
    """Yield the lines of a pipe table for the inside of an HTML table; nothing if it has only one row or column."""
    grid = place_cells(_rows(source))
    width = max(map(len, grid), default=0)
    if len(grid) > 1 < width:
        for at, row in enumerate(grid):
            yield f"| {' | '.join([cell.text for cell in row] + [''] * (width - len(row)))} |"
            if not at:
                yield f"|{' --- |' * width}"


def _rows(source: str) -> list[list[SpanningCell]]:
    """Return the cells of an HTML table by row; empty rows are left out."""
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


def count_in_markdown(text: str) -> str:
    """Return the number of pictures in a Markdown text in words ("2 pictures"), or "" for none."""
    words = words_outside_code(text)
    targets = {link["name"].casefold(): link["source"] for link in _DEFINITION.finditer(words)}
    linked = [link["source"] for form in _PICTURES for link in form.finditer(words)]
    # `![words]` alone refers to a definition by its words.
    named = [targets.get((link["name"] or link["words"]).casefold(), "") for link in _NAMED_PICTURE.finditer(words)]
    tags = [source["a"] or source["b"] or source["c"] or "" for source in _IMG_TAG.finditer(words)]
    return count_sources([source.strip("<>") for source in (*linked, *named, *tags)])


def count_sources(sources: Iterable[str]) -> str:
    """Return the number of distinct pictures with these sources in words, or "" for none; see `_is_own`."""
    distinct = {unquote(source).strip() for source in sources}
    return list_counts({"picture": sum(map(_is_own, distinct))})


def _is_own(source: str) -> bool:
    """Return True if a picture belongs to the document: it is embedded and no icon, or a file, but not on the web."""
    if source[:5].lower() == "data:":
        return len(source) >= _LEAST_EMBEDDED
    return bool(source) and not _ELSEWHERE.match(source)
