"""How many tokens a text will cost, estimated without a tokenizer.

A tokenizer's vocabulary would have to be downloaded, and each model has its own. The rule follows
what byte-pair vocabularies do to text and errs upwards, because it serves as a limit: a word of
common length is one token and longer words fall apart, digits go in threes, a Han, Kana or Hangul
character is about one, other scripts are split finely, and punctuation counts.
"""

import re
from itertools import islice

from .scripts import CJK

TOKEN = ("[A-Za-z\u00c0-\u024f]{1,6}"  # Latin: English words average 1.3 tokens, as they do here
         "|[0-9]{1,3}"
         r"|[!-/:-@\[-`{-~]{1,3}"  # runs such as `...` or `---` are mostly one token
         f"|[^\\W_{CJK}]{{1,2}}"  # other alphabets: between one and three characters a token
         r"|\S")
"""A regular expression that matches one estimated token. Every character but white space is in one,
so that a part of a text never costs more than the whole, nor the whole more than its parts."""

_TOKEN = re.compile(TOKEN)


def estimate_tokens(text: str) -> int:
    """The estimated number of tokens of a text, in time linear in its length.

    Returns:
        The number of tokens, 0 for blank text. For a text cut anywhere it is at most the sum over
        the parts, so that parts which fit a limit together fit it when joined by white space.
    """
    return sum(1 for _ in _TOKEN.finditer(text))


def first_tokens(text: str, count: int) -> int:
    """Where the first `count` estimated tokens of a text end, in characters."""
    return max((match.end() for match in islice(_TOKEN.finditer(text), max(count, 0))), default=0)


def fits(text: str, max_tokens: int) -> bool:
    """Whether the estimate is at most `max_tokens`; stops counting as soon as it is not."""
    return sum(1 for _ in islice(_TOKEN.finditer(text), max_tokens + 1)) <= max_tokens
