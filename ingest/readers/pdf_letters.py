"""Signs that the letters read from a PDF page are not those that it shows."""

import unicodedata
from itertools import groupby

_FEWEST = 20
"""The fewest characters that are judged."""
_UNUSABLE, _RARE = 0.05, 0.4
_FEWEST_LETTERS, _FEWEST_DIFFERENT, _FEWEST_FREQUENT = 200, 12, 0.25
_FREQUENT = frozenset("etaoinsrETAOINSR")
"""Letters that make up more than half of a text in most languages, and a third of random letters."""
_MOST_SINGLE, _SHORTEST_REPEATED = 6, 4


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
