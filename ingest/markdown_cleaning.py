"""Markdown in the one form that later steps read: `#` headings, and words without the markup of pages around them."""

import re
from collections.abc import Iterator

from .html_in_markdown import strip_tags, with_pipe_tables

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
# Within a site; an address of the web says where something is, so it stays.
_LINK = re.compile(r"!?\[(?P<words>[^\[\]\n]{0,500})\]\((?!\s?[a-z]{2,10}:)[^()\n]{0,1000}\)", re.IGNORECASE)
_WIKI_LINK = re.compile(r"!?\[\[(?:[^\[\]|\n]{1,200}\|)?(?P<words>[^\[\]|\n]{1,200})\]\]")


def clean_markdown(text: str) -> str:
    r"""Return a Markdown text without comments, HTML tags, links within its site and marks of admonitions.

    Args:
        text: the text; `\n` is its only line break.

    Returns:
        The text, in which underlined headings are `#` headings, HTML tables are those of Markdown, and an admonition
        begins with its kind and title. Code stays as it is, and so does a tag of no known name.
    """
    return "\n".join(_headed(list(_lines(text))))


def words_outside_code(text: str) -> str:
    """Return a Markdown text without its code and comments."""
    return "\n".join(_CODE.sub(" ", _without_comments(part)) for part, is_code in _split_fences(text) if not is_code)


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines, and whether each is code."""
    for part, is_code in _split_fences(text):
        for line in (part if is_code else with_pipe_tables(_without_comments(part))).split("\n"):
            if is_code:
                yield line, True
            elif not _END.fullmatch(line):
                yield _clean_line(line), False


def _split_fences(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text between fences, and those with fences around them."""
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
    parts, begin, at = list[str](), 0, 0
    while found := _CODE_OR_COMMENT.search(text, at):
        at = found.end()
        if found[0] == _COMMENT:
            end = text.find(_COMMENT_END, at)
            if end < 0:
                break
            parts.append(text[begin : found.start()])
            begin = at = end + len(_COMMENT_END)
    return "".join([*parts, text[begin:]])


def _clean_line(line: str) -> str:
    found = _ADMONITION.fullmatch(line) if ":::" in line or "!" in line or "???" in line else None
    if found:
        kind = (found["a"] or found["b"] or found["c"]).lower()
        title = found["title"].strip(' "[]')
        return f"{found['set_in']}{'> ' if found['c'] else ''}{title or kind.capitalize()}:"
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


def _headed(lines: list[tuple[str, bool]]) -> Iterator[str]:
    """Yield the lines with underlined headings as `#` headings."""
    at = 0
    while at < len(lines):
        line, is_code = lines[at]
        below, below_is_code = lines[at + 1] if at + 1 < len(lines) else ("", False)
        is_first = at == 0 or not lines[at - 1][0].strip()
        if (is_first and not is_code and not below_is_code and _UNDERLINE.fullmatch(below)
                and len(line) <= _LONGEST_TITLE and not line.startswith("    ") and not _NO_TITLE.match(line)):
            yield f"{'#' if '=' in below else '##'} {line.strip()}"
            at += 2
        else:
            yield line
            at += 1
