"""A quick check whether a PDF page may have a table, by the text and the drawing from pypdf."""

import re
from collections import Counter
from collections.abc import Iterator

_NUMBER = rb"([-+]?[\d.]++)\s++"
_LINE = re.compile(rb"(?<!\S)(?:re|l)(?!\S)")
"""The operators that draw a rectangle and a straight line."""
_PATH = re.compile(rb"(?<!\S)" + _NUMBER + _NUMBER + rb"(?:([ml])|" + _NUMBER + _NUMBER + rb"re)(?!\S)")
_THIN = 0.01
"""The largest ratio of the sides of a rectangle that is a line."""
_LONG = 10.0
"""The smallest length in points of a rectangle that is a line because it is at most one point thick."""
_FEWEST_EQUAL = 3
"""The rules above and below a header, and below the rows."""
_FEWEST_CROSSING = 2
_FEWEST_ROWS = 3
_FEWEST_NUMBERS = 2
_SHARE_OF_NUMBERS = 0.25


def count_lines(drawing: bytes) -> int:
    """Return how many straight lines and rectangles the content of a page draws, except in its pictures."""
    return len(_LINE.findall(drawing))


def may_enclose_rows(drawing: bytes) -> bool:
    """Return True if lines of a page's content may belong to a table.

    Lines in both directions may, and so may three lines of one length that begin at the same place. Underlined words
    and the lines of a page's header and footer do not count.
    """
    across, down = Counter[tuple[float, float]](), Counter[tuple[float, float]]()
    for x, y, width, height in _strokes(drawing):
        long, short = max(abs(width), abs(height)), min(abs(width), abs(height))
        is_line = short <= _THIN * long or (short <= 1 and long >= _LONG)
        if not is_line or abs(width) > abs(height):
            across[round(min(x, x + width)), round(abs(width))] += 1 if is_line else 2
        if not is_line or abs(width) < abs(height):
            down[round(min(y, y + height)), round(abs(height))] += 1 if is_line else 2
    return max([*across.values(), *down.values()], default=0) >= _FEWEST_EQUAL or (
        min(across.total(), down.total()) >= _FEWEST_CROSSING)


def _strokes(drawing: bytes) -> Iterator[tuple[float, float, float, float]]:
    """Yield the lines and rectangles: the start, width and height of each, before transformations."""
    last = 0.0, 0.0
    for match in _PATH.finditer(drawing):
        try:
            x, y = float(match[1]), float(match[2])
            if match[3] is None:
                yield x, y, float(match[4]), float(match[5])
            elif match[3] == b"l" and 0.0 in (x - last[0], y - last[1]):  # slanting lines belong to drawings
                yield *last, x - last[0], y - last[1]
        except ValueError:  # "1.2.3" is not a number
            continue
        last = x, y


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
