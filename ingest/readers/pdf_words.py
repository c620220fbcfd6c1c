"""The words of a PDF page with their places, and how they form lines and texts of cells."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from pdfplumber.page import Page

from ...text.hyphenation import CELL_BREAK
from ...text.scripts import CJK

_WORD_GAP = 0.15
"""The widest gap within a word as a share of the font size."""
_CJK_GAP = 0.4
"""The narrowest space between two CJK letters as a share of the size; narrower gaps are justification."""
_SAME_LINE = 0.5
"""The largest difference between the middles of words in one line, as a share of the smaller height."""
_ENDS_CJK = re.compile(f"[{CJK}\u3000-\u303f\uff00-\uff65]\\Z")
_BEGINS_CJK = re.compile(f"[{CJK}\u3000-\u303f\uff00-\uff65]")
_HYPHENATED = re.compile(r"(?<=[^\W\d_])-\Z")


class Box(NamedTuple):
    """A rectangle in points; y grows downwards."""

    x0: float
    top: float
    x1: float
    bottom: float


class PageWord(NamedTuple):
    """A word of a page; `number` is its position in the order in which the file draws the words."""

    number: int
    text: str
    box: Box
    size: float
    font: str
    upright: bool

    @property
    def center(self) -> tuple[float, float]:
        """The middle of the word."""
        return (self.box.x0 + self.box.x1) / 2, (self.box.top + self.box.bottom) / 2


def read_words(page: Page) -> list[PageWord]:
    """Return the words of a page in the order in which the file draws them."""
    return [_word(number, found) for number, found in enumerate(page.extract_words(
        use_text_flow=True, x_tolerance_ratio=_WORD_GAP, return_chars=True))]


def _word(number: int, found: dict[str, Any]) -> PageWord:
    first = found["chars"][0]
    return PageWord(number, found["text"], Box(found["x0"], found["top"], found["x1"], found["bottom"]), first["size"],
                    first["fontname"], first["upright"])


def sort_lines(words: Iterable[PageWord]) -> list[list[PageWord]]:
    """Return words as lines from top to bottom, each from left to right."""
    lines: list[list[PageWord]] = []
    for word in sorted(words, key=lambda word: (word.center[1], word.box.x0)):
        if lines and _is_level(lines[-1][0], word):
            lines[-1].append(word)
        else:
            lines.append([word])
    return [sorted(line, key=lambda word: word.box.x0) for line in lines]


def flow_lines(words: Sequence[PageWord]) -> list[list[PageWord]]:
    """Return words as lines in the order in which the file draws them."""
    lines: list[list[PageWord]] = []
    for word in words:
        if lines and _is_level(lines[-1][-1], word) and word.box.x0 >= lines[-1][-1].box.x0:
            lines[-1].append(word)
        else:
            lines.append([word])
    return lines


def line_text(line: Sequence[PageWord]) -> str:
    """Return a line's words with spaces where the page has them."""
    text = line[0].text
    for before, word in pairwise(line):
        gap = (word.box.x0 - before.box.x1) / max(word.size, 1.0)
        least = _CJK_GAP if _ENDS_CJK.search(text) and _BEGINS_CJK.match(word.text) else _WORD_GAP
        text += word.text if gap < least else f" {word.text}"
    return text


def cell_text(words: Iterable[PageWord]) -> str:
    """Return the words of a cell in one line, without spaces between Chinese at line ends.

    Words that are broken at line ends are marked (see `text/hyphenation.py`).
    """
    text = ""
    for line in sort_lines(words):
        words_of_line = line_text(line)
        if _HYPHENATED.search(text):
            text = text[:-1] + CELL_BREAK
        elif text and not (_ENDS_CJK.search(text) and _BEGINS_CJK.match(words_of_line)):
            text += " "
        text += words_of_line
    return text


def _is_level(word: PageWord, other: PageWord) -> bool:
    height = min(word.box.bottom - word.box.top, other.box.bottom - other.box.top)
    return abs(word.center[1] - other.center[1]) < _SAME_LINE * height
