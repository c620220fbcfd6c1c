"""Check whether a quote can support a claim, and whether a short answer follows from claims."""

import re
from collections.abc import Iterable

from ...schemas.naming import normalise
from ...text.content_words import content_words
from ...text.scripts import script_of

_THOUSANDS = re.compile(r"(?<=\d)[,.\u00a0\u202f'’ ](?=\d{3}(?!\d))")
_PARTS = re.compile(r"[\W_]+")
_ROOT, _MOST_COUNTED = 6, 20
_BARE = frozenset({"yes", "no", "none", "both", "neither", "true", "false", "one", "two", "three", "four", "five",
                   "six", "seven", "eight", "nine", "ten", "是", "是的", "不是", "不", "没有", "否", "对"})
"""Words that answer but occur in no source: a claim of only these and small numbers cannot be checked by words."""


def is_support(quote: str, claim: str, context: str = "") -> bool:
    """Return True if a quote, where it stands, has a content word of the claim, such as a name or a value.

    A quote without any content word supports nothing. A claim in another script than its source shares no word with it,
    nor does a claim that only affirms or counts: there any content word is enough.

    Args:
        quote: the source's own words.
        claim: what they are to support.
        context: the line of the graph that the words state, or what is above a list: its items rarely repeat it.
    """
    quoted, claimed = _words(quote), _words(claim)
    if not quoted:
        return False
    shared = not (quoted | _words(context)).isdisjoint(claimed)
    return shared or script_of(f"{context} {quote}") != script_of(claim) or all(
        _is_bare(part) for part in _parts(claim) if _words(part))


def follows(short: str, said: Iterable[str]) -> bool:
    """Return True if a short answer has no content word or number that some texts do not have.

    Args:
        short: the short answer. One that only affirms or counts follows from anything: no text need have its words.
        said: the claims that support it, and the words that they quote.
    """
    parts = _parts(short)
    known = set().union(*map(_words, [*said, *filter(_is_bare, parts)]))
    return bool(parts) and _words(short) <= known


def _parts(text: str) -> list[str]:
    return [part for part in _PARTS.split(_THOUSANDS.sub("", normalise(text))) if part]


def _is_bare(text: str) -> bool:
    """Return True if a text has no other words than those that affirm or count."""
    return all(part in _BARE or (part.isdecimal() and int(part[:_ROOT]) <= _MOST_COUNTED) for part in _parts(text))


def _words(text: str) -> set[str]:
    """Return the first letters of a text's content words, which most forms of a word share in most languages."""
    return {part[:_ROOT] for word in content_words(_THOUSANDS.sub("", text)) for part in _PARTS.split(word) if part}
