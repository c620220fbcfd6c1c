"""Line numbers printed beside the lines of a PDF: bylaws, bills, contracts and drafts that people discuss by line."""

import re
from collections.abc import Sequence
from itertools import pairwise

_NUMBERED = re.compile(r"(?<!\S)(\d{1,5})\s*$")
_FEWEST_PAGES = 2
_FEWEST_LINES = 15
"""Numbered lines of a page: shorter runs may be rows of a table."""
_SHARE = 0.8
"""Of the lines of a page that have text."""


def drop_line_numbers(pages: Sequence[str]) -> list[str]:
    """Return the pages without the numbers at the ends of their lines, which would be read as words.

    They are line numbers only where at least two pages have them at nearly all lines, each one more than the last.
    Such pages are numbered throughout or each from its first line; other pages of the file stay as they are.
    """
    numbered = {number: found for number, page in enumerate(pages) if (found := _line_numbers(page.split("\n")))}
    if len(numbered) < _FEWEST_PAGES:
        return list(pages)
    return [_without(page.split("\n"), numbered[number]) if number in numbered else page
            for number, page in enumerate(pages)]


def _line_numbers(lines: Sequence[str]) -> frozenset[int]:
    """Return the indices of the lines that end with a line number; none if the page is not numbered."""
    ends = [(index, int(match[1])) for index, line in enumerate(lines) if (match := _NUMBERED.search(line))]
    in_turn = {index for (above, first), (below, second) in pairwise(ends) if second == first + 1
               for index in (above, below)}
    texts = [index for index, line in enumerate(lines) if _NUMBERED.sub("", line).strip()]
    is_numbered = len(in_turn) >= _FEWEST_LINES and sum(index in in_turn for index in texts) >= _SHARE * len(texts)
    return frozenset(in_turn if is_numbered else ())


def _without(lines: Sequence[str], numbered: frozenset[int]) -> str:
    return "\n".join(_NUMBERED.sub("", line).rstrip() if index in numbered else line
                     for index, line in enumerate(lines))
