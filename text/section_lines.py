"""What stands above a line: headings, which of them say what is below, and the sentence that opens a list."""

import re
from collections.abc import Container, Iterator
from typing import NamedTuple

from .scripts import is_han
from .sentences import split_sentences
from .titles import is_placeholder

BETWEEN = " > "
"""Separates headings, outermost first."""
# A longer line is not a heading, because each heading is repeated with every chunk below it.
_MARKED = re.compile(r"^ {0,3}(?:(?P<level>#{1,6})(?=[ \t])(?P<title>[^\n]{1,200})$|(?P<fence>`{3,}+|~{3,}+))", re.M)
_CLOSING_MARKS = re.compile(r"(?<![ \t])[ \t]++#++[ \t]*+\Z")
_FORMATTED = re.compile(r"(?<![\w*])\*{1,3}(?=[^\s*])(?P<bold>[^*\n]{1,200}?)(?<!\s)\*{1,3}(?![\w*])|"
                        r"(?<![!\\])\[(?P<link>[^\[\]\n]{1,200})\]\([^()\s]{1,1000}\)")
"""Emphasis and links, which are no words of a heading."""
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
_ITEM = re.compile(r"[ \t]{0,12}(?:[-*+•·‣◦▪][ \t]|\(?(?:\d{1,3}|[A-Za-z])[.)][ \t]"
                   r"|[（(]?[\d一二三四五六七八九十]{1,3}[)、）])")
LIST_MARK = re.compile(r"\s*(?:[-*+•·–☐]\s|\d{1,3}[.)]|[（(]?[一二三四五六七八九十]{1,2}[）)、.]|[（(]\d{1,2}[）)])\s*")
"""The mark of a list's item in Markdown, English or Chinese: "- ", "6. " or "（二）"."""
_MOST_LINES = 2000
"""Lines that are looked back over; a longer list has no opening."""
_LONGEST_OPENING = 300


class Heading(NamedTuple):
    """A heading line from character `start` to `end` of the text; `level` counts from 1."""

    level: int
    title: str
    start: int
    end: int


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
    marked = {match.start(): match for match in _MARKED.finditer(text)}
    caption, before, fence, start = "", "", "", 0
    for line in text.split("\n"):
        mark = marked.get(start)
        fence = _fence_after(fence, mark) if mark else fence
        found = None if fence or heading or mark is None else _heading(mark)
        bold = None if fence else _BOLD.fullmatch(line.strip())
        if found is not None:
            path = [*(one for one in path if one[0] < found.level), (found.level, found.title)]
            caption = ""
        elif bold is not None:
            caption = (bold["name"] or bold["named"]).rstrip(" :：")
        elif line.startswith("| ") and _is_caption(before):
            caption = before.strip(" :：")
        yield Line(start, line, tuple(name for _, name in path), caption, bool(fence))
        before, start = line, start + len(line) + 1


def headings(text: str) -> Iterator[Heading]:
    """Yield the `#` headings of a text in order, except in fenced code; no title is blank."""
    fence = ""
    for mark in _MARKED.finditer(text):
        fence = _fence_after(fence, mark)
        if not fence and (heading := _heading(mark)):
            yield heading


def _fence_after(fence: str, mark: re.Match[str]) -> str:
    """Return the fence that is open after a marked line: the one before it, unless the line opens or closes one."""
    if not fence:
        return mark["fence"] or ""
    return "" if mark["fence"] and mark["fence"].startswith(fence) else fence


def _heading(mark: re.Match[str]) -> Heading | None:
    title = _CLOSING_MARKS.sub("", mark["title"] or "").strip()
    title = _FORMATTED.sub(lambda found: (found["bold"] or found["link"]).strip(), title)
    return Heading(len(mark["level"]), title, mark.start(), mark.end()) if title.strip("#") else None


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


def is_item(text: str, at: int) -> bool:
    """Return True if a list's item begins at a place of a text, which is the first of its line but for blanks."""
    return _ITEM.match(text, at) is not None and not text[text.rfind("\n", 0, at) + 1:at].strip()


def mark_length(text: str) -> int:
    """Return the characters of the mark with which an item of a list begins; 0 for other texts."""
    mark = LIST_MARK.match(text)
    return len(mark[0]) if mark else 0


def opening_of(text: str, start: int) -> str:
    """Return the sentence that opens a list.

    Args:
        text: any text.
        start: where a part of it begins.

    Returns:
        The last sentence before the list whose item begins there, if it ends with a colon or nothing separates it from
        the list; "" if no item begins there.
    """
    line = text.rfind("\n", 0, start) + 1
    if text[line:start].strip() or not is_item(text, line):
        return ""
    is_apart = False
    for _ in range(_MOST_LINES):
        if line == 0:
            return ""
        end, line = line - 1, text.rfind("\n", 0, line - 1) + 1
        said = text[line:end].strip()
        if not said:
            is_apart = True
        elif not is_item(text, line) and not text[line].isspace():
            return _last_sentence(said, is_apart=is_apart)
        else:
            is_apart = False
    return ""


def _last_sentence(line: str, *, is_apart: bool) -> str:
    if line.startswith(("#", "|")) or (is_apart and not line.endswith((":", "："))):
        return ""
    *_, (start, end) = split_sentences(line)
    return line[start:end] if end - start <= _LONGEST_OPENING else ""
