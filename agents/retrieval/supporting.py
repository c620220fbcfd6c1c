"""Check whether a quote can support a claim: a quote like "in" cannot."""

import re

from ...models.rules.content_words import content_words
from ...text.scripts import script_of

_THOUSANDS = re.compile(r"(?<=\d)[,.\u00a0\u202f'’ ](?=\d{3}(?!\d))")
_PARTS = re.compile(r"[\W_]+")
_ROOT, _MOST_COUNTED = 6, 20
_BARE = frozenset({"yes", "no", "none", "both", "neither", "true", "false", "one", "two", "three", "four", "five",
                   "six", "seven", "eight", "nine", "ten", "是", "是的", "不是", "不", "没有", "否", "对"})
"""Words that answer but occur in no source: a claim of only these and small numbers cannot be checked by words."""


def is_support(quote: str, claim: str) -> bool:
    """Return True if a quote has a content word of the claim, such as a name or a value.

    A quote without any content word supports nothing. A claim in another script than its source shares no word with it,
    nor does a claim that only affirms or counts: there any content word is enough.

    Args:
        quote: the source's own words.
        claim: what they are to support.
    """
    quoted, claimed = _words(quote), _words(claim)
    if not quoted:
        return False
    shared = not quoted.isdisjoint(claimed)
    return shared or script_of(quote) != script_of(claim) or all(map(_is_bare, claimed))


def _is_bare(word: str) -> bool:
    return word in _BARE or (word.isdecimal() and int(word[:_ROOT]) <= _MOST_COUNTED)


def _words(text: str) -> set[str]:
    """Return the first letters of a text's content words, which most forms of a word share in most languages."""
    return {part[:_ROOT] for word in content_words(_THOUSANDS.sub("", text)) for part in _PARTS.split(word) if part}
