"""Lines of a text with the headings above each, and which headings say what is below them."""

import re
from collections.abc import Container, Iterator
from typing import NamedTuple

from .scripts import is_han
from .titles import is_placeholder

BETWEEN = " > "
"""Separates headings, outermost first."""
_HEADING = re.compile(r"[ \t]{0,3}(?P<marks>#{1,6})[ \t]{1,4}(?P<name>[^\n]{1,100})$")
_FENCE = re.compile(r"[ \t]{0,3}(```|~~~)")
_BOLD = re.compile(r"\*\*(?P<name>[^*\n]{2,80})\*\*:?|\*\*(?P<named>[^*\n]{2,80}):\*\*")
_NUMBERING = re.compile(r"\A(?:[IVX]{1,4}\.|[A-Z]\.|\d{1,2}(?:\.\d{1,2}){0,3}[.)]?)\s+")
_MARKS = re.compile(r"[*`#]+")
_GENERAL = frozenset((  # noqa: SIM905
    "overview details detail contact contacts specification specifications summary information introduction general "
    "data facts key features about notes properties address hours opening times team people staff members agenda "
    "attendees present participants meeting slide page section chapter part appendix exhibit example examples "
    "quick reference test tests case cases result results parameter parameters constant constants configuration "
    "table tables field fields definition definitions value values list misc miscellaneous implementation motivation "
    "rationale background proposal terminology abstract preset presets existing and of the "
    "概况 简介 联系方式 基本信息 参数 规格 说明 原则 总则 附则 目录 背景 前言 principles").split())
"""Words of headings that say the same in any document."""
_LONGEST, _LONGEST_CAPTION = 80, 8
"""Characters of the headings that stand with a fact, and words of a line directly above rows that is their caption."""
_MOST_HEADINGS, _SHORT_HAN = 2, 6


class Line(NamedTuple):
    """A line of a text from character `start`: the headings above it, outermost first, and a caption below these."""

    start: int
    text: str
    above: tuple[str, ...]
    caption: str
    is_code: bool


def lines_under(text: str, heading: str, title: str = "") -> Iterator[Line]:
    """Yield the lines of a text.

    Args:
        text: a chunk's text.
        heading: the headings above it, outermost first. A text below headings has none of its own, only code like them.
        title: what stands above all headings.
    """
    path = [(0, name) for name in (title, *heading.split(BETWEEN)) if name]
    caption, before, fence, start = "", "", "", 0
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark is not None and fence in {"", mark[1]}:
            fence = "" if fence else mark[1]
        found = None if fence or heading else _HEADING.match(line)
        bold = None if fence else _BOLD.fullmatch(line.strip())
        if found is not None:
            level = len(found["marks"])
            path = [*(one for one in path if one[0] < level), (level, found["name"].strip(" *#"))]
            caption = ""
        elif bold is not None:
            caption = bold["name"] or bold["named"]
        elif line.startswith("| ") and _is_caption(before):
            caption = before.strip(" :：")
        yield Line(start, line, tuple(name for _, name in path), caption, bool(fence))
        before, start = line, start + len(line) + 1


def section_of(line: Line, label: str, known: Container[str]) -> str:
    """Return what the headings above a line say of it, the innermost ones; "" where they say nothing.

    Args:
        line: the line.
        label: what the document is called by, which stands before a single heading of one word.
        known: what is named beside it, which the headings need not repeat.
    """
    path = [*line.above, *([line.caption] if line.caption else [])]
    while path and not (is_telling(path[-1]) and path[-1] not in known):
        path.pop()
    said = list[str]()
    for heading in reversed(path):
        plain = " ".join(_NUMBERING.sub("", _MARKS.sub("", heading)).split()).rstrip(":：")
        if not is_telling(heading) or heading in known or re.search("[;；]", plain) or (
                len(BETWEEN.join([plain, *said])) > _LONGEST):
            break
        said.insert(0, plain)
        if len(said) == _MOST_HEADINGS:
            break
    is_word = len(said) == 1 and " " not in said[0] and len(said[0]) <= (_SHORT_HAN if is_han(said[0][0]) else _LONGEST)
    return BETWEEN.join([*([label] if label and is_word else []), *said])


def is_telling(heading: str) -> bool:
    """Return True for a heading with words other than those that any document has, such as "Overview"."""
    plain = _NUMBERING.sub("", _MARKS.sub("", heading)).strip()
    return not is_placeholder(plain) and any(
        word not in _GENERAL and not word.isdigit() for word in re.findall(r"[^\W_]+", plain.lower()))


def _is_caption(line: str) -> bool:
    """Return True for a short line that is no sentence, row, item or value."""
    words = line.split()
    is_short = 0 < len(words) <= _LONGEST_CAPTION and len(line) <= _LONGEST
    return is_short and ": " not in line and line[0] not in "|-*#>`" and (
        line.rstrip()[-1] not in ".。?？!！" and (is_han(line[0]) or line[0].isupper()))
