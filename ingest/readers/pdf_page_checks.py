"""Checks of PDF pages by pypdf's text and drawing: possible tables, wrong or doubled letters, line numbers."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import groupby, pairwise

_LINE = re.compile(rb"(?<!\S)(?:re|l)(?!\S)")
"""The operators that draw a rectangle and a straight line."""
_FEWEST_ROWS = 3
_FEWEST_NUMBERS = 2
_SHARE_OF_NUMBERS = 0.25
_FEWEST = 20
"""The fewest characters that are judged."""
_UNUSABLE, _RARE = 0.05, 0.4
_FEWEST_LETTERS, _FEWEST_DIFFERENT, _FEWEST_FREQUENT = 200, 12, 0.25
_FREQUENT = frozenset("etaoinsrETAOINSR")
"""Letters that make up more than half of a text in most languages, and a third of random letters."""
_MOST_SINGLE, _SHORTEST_REPEATED = 6, 4
_NUMBERED = re.compile(r"(?<!\S)(\d{1,5})\s*$")
_FEWEST_PAGES = 2
_FEWEST_LINES = 15
"""Numbered lines of a page: shorter runs may be rows of a table."""
_SHARE = 0.8
"""Of the lines of a page that have text."""


def count_lines(drawing: bytes) -> int:
    """Return how many straight lines and rectangles the content of a page draws, except in its pictures."""
    return len(_LINE.findall(drawing))


def has_rows_of_numbers(text: str) -> bool:
    """Return True if several consecutive lines are largely numbers, like the rows of a table without rules."""
    rows = 0
    for line in text.split("\n"):
        words = line.split()
        numbers = sum(map(_is_number, words))
        rows = rows + 1 if numbers >= max(_FEWEST_NUMBERS, _SHARE_OF_NUMBERS * len(words)) else 0
        if rows == _FEWEST_ROWS:
            return True
    return False


def _is_number(word: str) -> bool:
    return word.strip("()[]+-−–%$€£¥,.;").replace(",", "").replace(".", "").isdecimal()


def is_gibberish(text: str) -> bool:
    """Return True if a page's text is not in any language, as that of a font with a broken map to Unicode.

    Such a text has control or private characters in its words, consists of letters that are rare in every language, or
    of Latin letters of which those frequent in most languages are few.
    """
    characters = [character for character in text if not character.isspace()]
    if len(characters) < _FEWEST:
        return False
    if sum(map(_is_unusable, characters)) > _UNUSABLE * len(characters):
        return True
    letters = list(filter(str.isalpha, characters))
    if sum(map(_is_rare, letters)) > _RARE * len(characters):
        return True
    latin = list(filter(str.isascii, letters))
    return (len(latin) >= max(_FEWEST_LETTERS, len(characters) / 2) and len(set(latin)) >= _FEWEST_DIFFERENT
            and sum(letter in _FREQUENT for letter in latin) < _FEWEST_FREQUENT * len(latin))


def is_doubled(text: str) -> bool:
    """Return True if a page may draw letters twice, as a substitute for a bold font.

    Such a text has lines of one letter each, or lines of which a part or each letter occurs twice.
    """
    lines = [line.strip() for line in text.split("\n")]
    singles = max((sum(1 for _ in run) for is_single, run in groupby(lines, lambda line: len(line) <= 1) if is_single),
                  default=0)
    return singles >= _MOST_SINGLE or any(map(_is_repeated, lines))


def _is_unusable(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Co", "Cn", "Cs"} or character == "\ufffd"


def _is_rare(letter: str) -> bool:
    """Return True for letters of Latin Extended-A and -B, and of the rare Chinese of Extension A."""
    return "\u0100" <= letter <= "\u024f" or "\u3400" <= letter <= "\u4dbf"


def _is_repeated(line: str) -> bool:
    line = "".join(line.split())
    half = len(line) // 2
    is_even = 2 * half == len(line) >= 2 * _SHORTEST_REPEATED and len(set(line)) >= _SHORTEST_REPEATED
    return is_even and any(map(str.isalpha, line)) and (line[:half] == line[half:] or line[::2] == line[1::2])


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
