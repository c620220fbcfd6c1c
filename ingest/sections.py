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
        The parts between the headings. A heading with neither text nor a deeper heading under it ends the section
        before it, or begins the first one where none is before it: no words are lost, and no section is a heading.
    """
    path: list[Heading] = []
    begin, found, lone = 0, list[Section](), list[Heading]()
    for heading in [*headings(text), Heading(0, "", len(text), len(text))]:
        if text[begin:heading.start].strip():
            start = lone[0].start if lone else begin
            found.append(Section(_SEPARATOR.join(above.title for above in path), start, heading.start))
            lone = []
        elif path and heading.level <= path[-1].level:
            if found:
                found[-1] = found[-1]._replace(end=path[-1].end)
            else:
                lone.append(path[-1])
        path = [above for above in path if above.level < heading.level] + [heading]
        begin = heading.end
    if lone:
        found.append(Section("", lone[0].start, lone[-1].end))
    yield from found
