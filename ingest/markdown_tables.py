"""Markdown whose tables become self-contained rows of text; the rest stays as it is."""

import re
from collections.abc import Iterator, Sequence

from .sections import headings
from .table_lines import table_lines

_FENCES = ("```", "~~~")
_BAR = re.compile(r"(?<!\\)\|")
_MARKS = re.compile(r"`(?P<code>[^`\n]*)`|!?\[([^\[\]\n]*)\]\([^()\n]*\)|<br ?/?>|\*\*|__|`|"
                    r"(?<![\w*])\*(?P<words>[^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])")


def with_rows(text: str, title: str) -> str:
    r"""Write the tables of a Markdown text as rows.

    Args:
        text: the text; `\n` is its only line break.
        title: the subject of a table that is under no heading.

    Returns:
        The text in which each pipe table outside fenced code is written by `table_lines`.
    """
    if "|" not in text:
        return text
    return "\n".join(_lines(text.split("\n"), title))


def _lines(lines: Sequence[str], title: str) -> Iterator[str]:
    fence, at = "", 0
    while at < len(lines):
        line = lines[at]
        mark = line.lstrip()[:3]
        if mark in _FENCES and fence in {"", mark}:
            fence = "" if fence else mark
        elif not fence and line.startswith("#"):
            title = next((heading.title for heading in headings(line)), title)
        if not fence and "|" in line and at + 1 < len(lines) and _is_rule(lines[at + 1]):
            end = at + 2
            while end < len(lines) and "|" in lines[end]:
                end += 1
            yield from table_lines(_cells(line), map(_cells, lines[at + 2 : end]), title)
            at = end
        else:
            yield line
            at += 1


def _is_rule(line: str) -> bool:
    """Return True if a line separates a table's header from its rows."""
    parts = [part.strip() for part in line.strip().strip("|").split("|")]
    return "|" in line and all(part.strip(":") and not part.strip(":").strip("-") for part in parts)


def _cells(line: str) -> list[str]:
    line = line.strip().removeprefix("|")
    if line.endswith("|") and not line.endswith("\\|"):
        line = line[:-1]
    return [_MARKS.sub(_plain, part).replace("\\|", "|").strip() for part in _BAR.split(line)]


def _plain(mark: re.Match[str]) -> str:
    """Replace a mark: code and a link by their words, a line break by a space, emphasis by nothing."""
    return mark["code"] or mark[2] or mark["words"] or (" " if mark[0].startswith("<") else "")
