"""Markdown whose tables become self-contained rows of text; the rest stays as it is."""

import re
from collections.abc import Iterator, Sequence

from ..text.section_lines import Line, is_telling, lines_under
from .table_lines import table_lines

_BAR = re.compile(r"(?<!\\)\|")
_MARKS = re.compile(r"`(?P<code>[^`\n]*)`|!?\[([^\[\]\n]*)\]\([^()\n]*\)|<br ?/?>|`|"
                    r"(?<!\w)(?P<mark>\*\*|__)(?P<strong>(?=\S)[^\n]*?\S)(?P=mark)(?!\w)|"
                    r"(?<![\w*])\*(?P<words>[^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])")


def with_rows(text: str, title: str) -> str:
    r"""Write the tables of a Markdown text as rows.

    Args:
        text: the text; `\n` is its only line break.
        title: the subject of a table that is under no heading with a subject of its own.

    Returns:
        The text in which each pipe table outside fenced code is written by `table_lines`.
    """
    if "|" not in text:
        return text
    return "\n".join(_lines(list(lines_under(text, "", title)), title))


def _lines(lines: Sequence[Line], title: str) -> Iterator[str]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.is_code and "|" in line.text and at + 1 < len(lines) and _is_rule(lines[at + 1].text):
            end = at + 2
            while end < len(lines) and "|" in lines[end].text:
                end += 1
            subject = next(filter(is_telling, reversed(line.above)), title)
            yield from table_lines(_cells(line.text), [_cells(row.text) for row in lines[at + 2 : end]], subject)
            at = end
        else:
            yield line.text
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
    return mark["code"] or mark[2] or mark["strong"] or mark["words"] or (" " if mark[0].startswith("<") else "")
