"""The sentence that opens a list, for items that are read without it."""

import re

from .sentences import split_sentences

_ITEM = re.compile(r"[ \t]{0,12}(?:[-*+•·‣◦▪][ \t]|\(?(?:\d{1,3}|[A-Za-z])[.)][ \t]"
                   r"|[（(]?[\d一二三四五六七八九十]{1,3}[)、）])")
LIST_MARK = re.compile(r"\s*(?:[-*+•·–☐]\s|\d{1,3}[.)]|[（(]?[一二三四五六七八九十]{1,2}[）)、.]|[（(]\d{1,2}[）)])\s*")
"""The mark of a list's item in Markdown, English or Chinese: "- ", "6. " or "（二）"."""
_MOST_LINES = 2000
"""Lines that are looked back over; a longer list has no opening."""
_LONGEST = 300


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
    return line[start:end] if end - start <= _LONGEST else ""
