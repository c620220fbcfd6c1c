"""The sections of a text between its Markdown headings."""

import re
from collections.abc import Iterator
from typing import NamedTuple

# A longer line is not a heading, because each heading is repeated with every chunk below it.
_LINE = re.compile(r"^ {0,3}(?:(?P<level>#{1,6})(?=[ \t])(?P<title>[^\n]{1,200})$|(?P<fence>`{3,}+|~{3,}+))", re.M)
_CLOSING_MARKS = re.compile(r"(?<![ \t])[ \t]++#++[ \t]*+\Z")
_SEPARATOR = " > "


class Heading(NamedTuple):
    """A heading line from character `start` to `end` of the text; `level` counts from 1."""

    level: int
    title: str
    start: int
    end: int


class Section(NamedTuple):
    """The text under a heading from character `start` to `end`; `heading` joins the headings above it."""

    heading: str
    start: int
    end: int


def headings(text: str) -> Iterator[Heading]:
    """Yield the `#` headings of a text in order, except in fenced code.

    Args:
        text: any text.

    Yields:
        Each heading with its title, which is not blank.
    """
    fence = ""
    for match in _LINE.finditer(text):
        mark = match["fence"]
        if mark:
            if not fence:
                fence = mark
            elif mark.startswith(fence):
                fence = ""
        elif not fence:
            title = _CLOSING_MARKS.sub("", match["title"]).strip()
            if title.strip("#"):
                yield Heading(len(match["level"]), title, match.start(), match.end())


def sections(text: str) -> Iterator[Section]:
    """Yield the non-empty sections of a text in order.

    Args:
        text: any text.

    Yields:
        The parts between the headings. A heading with neither text nor a deeper heading under it is the text of its
        section, so no words are lost.
    """
    path: list[Heading] = []
    begin = 0
    for heading in headings(text):
        yield from _section(text, path, begin, heading.start, heading.level)
        path = [above for above in path if above.level < heading.level] + [heading]
        begin = heading.end
    yield from _section(text, path, begin, len(text), 0)


def _section(text: str, path: list[Heading], start: int, end: int, next_level: int) -> Iterator[Section]:
    """Yield the section from `start` to `end` under `path`, before a heading of `next_level` (0 at the end)."""
    if text[start:end].strip():
        yield Section(_SEPARATOR.join(heading.title for heading in path), start, end)
    elif path and next_level <= path[-1].level:
        above = _SEPARATOR.join(heading.title for heading in path[:-1])
        yield Section(above, path[-1].start, end)
