"""Estimated token counts of texts, without a tokenizer.

A tokenizer's vocabulary would have to be downloaded, and each model has its own. The rule imitates
byte-pair vocabularies and overestimates, because it serves as a limit: a word of common length is one
token and longer words are split, digits are grouped in threes, a Han, Kana or Hangul character is
about one token, other scripts are split finely, and punctuation counts.
"""

import re
from itertools import islice

from .scripts import CJK

TOKEN = ("[A-Za-z\u00c0-\u024f]{1,6}"  # Latin: English words average 1.3 tokens, as they do here
         "|[0-9]{1,3}"
         r"|[!-/:-@\[-`{-~]{1,3}"  # runs such as `...` or `---` are mostly one token
         f"|[^\\W_{CJK}]{{1,2}}"  # other alphabets: between one and three characters a token
         r"|\S")
"""A regular expression that matches one estimated token. It covers every character except white space,
so a part of a text never costs more than the whole, nor the whole more than its parts."""

_TOKEN = re.compile(TOKEN)


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens of a text, in time linear in its length.

    It is at most the sum over the parts, so parts that fit a limit together still fit it when spaces join them.
    """
    return _TOKEN.subn("", text)[1]


def first_tokens(text: str, count: int) -> int:
    """Return the character offset at which the first `count` estimated tokens of a text end; 0 if it has none."""
    return max((match.end() for match in islice(_TOKEN.finditer(text), max(count, 0))), default=0)


def fits(text: str, max_tokens: int) -> bool:
    """Return True if the estimate is at most `max_tokens`, counting no further than needed."""
    return sum(1 for _ in islice(_TOKEN.finditer(text), max_tokens + 1)) <= max_tokens
